// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Date {
    /// The time so much later in ISO 8601, such as `2026-11-21T10:00:00.000Z`; of the years 1 to 9999.
    package func timestamp(after time: Duration = .zero) -> String {
        let begin = (timeIntervalSince1970 * 1_000_000).rounded()
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

    /// Reads a time in ISO 8601 as it stands in files: with or without a fraction of a second, in Greenwich or with an
    /// offset, such as `2026-11-21T11:00:00.000+01:00`; nil for anything else.
    package init?(timestamp: String) {
        var rest = Substring(timestamp).utf8
        guard let year = rest.number(of: 4), rest.skip("-"), let month = rest.number(of: 2), rest.skip("-"),
            let day = rest.number(of: 2), rest.skip("T") || rest.skip("t") || rest.skip(" "),
            let hour = rest.number(of: 2), rest.skip(":"), let minute = rest.number(of: 2)
        else { return nil }
        var second = 0
        if rest.skip(":") {
            guard let number = rest.number(of: 2) else { return nil }
            second = number
        }
        var fraction = 0.0
        if rest.skip(".") || rest.skip(",") {
            let digits = rest.prefix(while: ASCII.isDigit)
            rest = rest[digits.endIndex...]
            for digit in digits.prefix(9).reversed() { fraction = (fraction + Double(digit - UInt8(ascii: "0"))) / 10 }
        }
        let time = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        guard time.isValid, let offset = rest.offset(), rest.isEmpty else { return nil }
        self.init(timeIntervalSince1970: Double(time.secondsSinceEpoch - offset) + fraction)
    }
}

extension Substring.UTF8View {
    fileprivate mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard first == UInt8(ascii: character) else { return false }
        removeFirst()
        return true
    }

    /// A number of just so many digits.
    fileprivate mutating func number(of count: Int) -> Int? {
        let digits = prefix(count)
        guard digits.count == count, digits.allSatisfy(ASCII.isDigit) else { return nil }
        self = self[digits.endIndex...]
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// Seconds east of Greenwich; none where nothing is said.
    fileprivate mutating func offset() -> Int64? {
        if isEmpty || skip("Z") || skip("z") { return 0 }
        let sign: Int64 = skip("-") ? -1 : 1
        guard sign < 0 || skip("+"), let hours = number(of: 2) else { return nil }
        _ = skip(":")
        guard let minutes = number(of: 2), hours < 24, minutes < 60 else { return nil }
        return sign * Int64(hours * 3600 + minutes * 60)
    }
}

extension Int {
    fileprivate func padded(_ digits: Int) -> String {
        let text = String(self)
        return String(repeating: "0", count: Swift.max(0, digits - text.utf8.count)) + text
    }
}
