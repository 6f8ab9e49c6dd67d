// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A date that only a test advances, for what reads the time of day: caches, cookies, monitors.
package final class ManualDate: Sendable {
    /// Sun, 06 Nov 1994 08:49:37 GMT, the time of the examples in RFC 9110.
    package static let ofExamples = Date(timeIntervalSince1970: 784_111_777)

    private let date: Locked<Date>

    package init(_ start: Date = ofExamples) {
        date = Locked(start)
    }

    package var now: Date { date.withLock { $0 } }

    package func advance(by seconds: TimeInterval) {
        date.withLock { $0 += seconds }
    }

    package func advance(milliseconds: Double) {
        advance(by: milliseconds / 1000)
    }
}
