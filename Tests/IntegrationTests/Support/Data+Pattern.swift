// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Data {
    /// Returns bytes with a period of 251, which divides no usual buffer size, so that a misplaced piece is noticed.
    static func pattern(_ count: Int) -> Data {
        let period = Data((0..<251).map { UInt8($0) })
        var data = Data(capacity: count + period.count)
        while data.count < count { data.append(period) }
        return Data(data.prefix(count))
    }
}
