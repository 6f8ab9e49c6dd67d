// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestError {
    /// Says why a connection isn't trusted.
    init(_ distrust: Distrust, phase: Phase) {
        self.init(.untrusted, phase: phase, reason: distrust.reason, underlying: URLError(distrust.urlCode))
    }
}
