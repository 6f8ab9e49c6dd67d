// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

public import Testing

extension Tag {
    /// Runs while no other test does, since it measures the whole process.
    @Tag public static var alone: Self
    /// Tests the public API only, so it holds for any implementation.
    @Tag public static var behaviour: Self
    /// Runs under the thread sanitizer as well.
    @Tag public static var race: Self
    /// Runs at a small scale here, and at full scale in `Scripts/soak`.
    @Tag public static var soak: Self
}
