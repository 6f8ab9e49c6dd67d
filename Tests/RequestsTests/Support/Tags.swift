// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Testing

extension Tag {
    /// Runs under the thread sanitizer as well.
    @Tag static var race: Self
    /// Runs at a small scale here and at the whole one in `Scripts/soak`.
    @Tag static var soak: Self
}
