// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestTimeline {
    /// A time of the timeline in ISO 8601, such as `2026-11-21T10:00:00.000Z`; of the years 1 to 9999.
    func timestamp(at time: Duration) -> String {
        let begin = (start.timeIntervalSince1970 * 1_000_000).rounded()
        let limits = -62_135_596_800_000_000.0...253_402_300_799_000_000.0
        let base = begin.isNaN ? 0 : Int64(min(max(begin, limits.lowerBound), limits.upperBound))
        let sum = min(max(base + time.wholeMicroseconds, Int64(limits.lowerBound)), Int64(limits.upperBound))
        // Rounded down, also before 1970.
        let second = sum >= 0 ? sum / 1_000_000 : (sum - 999_999) / 1_000_000
        let thousandths = Int((sum - second * 1_000_000) / 1000)
        let date = CivilTime(secondsSinceEpoch: second)
        return "\(date.year.padded(4))-\(date.month.padded(2))-\(date.day.padded(2))T\(date.hour.padded(2))"
            + ":\(date.minute.padded(2)):\(date.second.padded(2)).\(thousandths.padded(3))Z"
    }
}

extension Int {
    fileprivate func padded(_ digits: Int) -> String {
        let text = String(self)
        return String(repeating: "0", count: Swift.max(0, digits - text.utf8.count)) + text
    }
}
