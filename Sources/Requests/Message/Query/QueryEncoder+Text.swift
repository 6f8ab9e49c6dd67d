// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension QueryEncoder {
    /// The value as a text, where it is one in a query; nil where it has to say itself what it is made of.
    func text(of value: Any, at path: [any CodingKey]) throws -> String? {
        switch value {
        case let value as String: value
        case let value as Bool: bools.text(of: value)
        case let value as Int: String(value)
        case let value as Double: try text(ofNumber: value, at: path)
        case let value as Float: try text(ofNumber: value, at: path)
        case let value as any BinaryInteger: "\(value)"
        case let value as Date: try text(ofDate: value, at: path)
        case let value as Data: try text(ofData: value)
        case let value as URL: value.absoluteString
        case let value as Decimal where value.isFinite: value.description
        case let value as UUID: value.uuidString
        default: nil
        }
    }

    private func text(
        ofNumber value: some BinaryFloatingPoint & CustomStringConvertible,
        at path: [any CodingKey]
    ) throws -> String {
        guard !value.isFinite else { return value.description }
        guard case .words(let infinity, let negativeInfinity, let nan) = nonFiniteNumbers else {
            throw Session.failure("isn't a finite number", at: path)
        }
        return value.isNaN ? nan : value < 0 ? negativeInfinity : infinity
    }

    private func text(ofData data: Data) throws -> String? {
        switch self.data {
        case .base64: data.base64EncodedString()
        case .deferred: nil
        case .custom(let closure): try closure(data)
        }
    }

    private func text(ofDate date: Date, at path: [any CodingKey]) throws -> String? {
        let seconds = date.timeIntervalSince1970
        switch dates {
        case .deferred: return nil
        case .custom(let closure): return try closure(date)
        case .secondsSince1970: return try wholeNumber(seconds) ?? text(ofNumber: seconds, at: path)
        case .millisecondsSince1970:
            let milliseconds = (seconds * 1000).rounded()
            return try wholeNumber(milliseconds) ?? text(ofNumber: milliseconds, at: path)
        case .iso8601:
            guard let text = Self.iso8601(seconds.rounded(.down)) else {
                throw Session.failure("is a date outside the years 0 to 9999", at: path)
            }
            return text
        }
    }

    /// The number without a fraction, where it has none.
    private func wholeNumber(_ value: Double) -> String? {
        Int64(exactly: value).map(String.init)
    }

    /// A time in UTC, as RFC 3339 profiles ISO 8601; written out, because a formatter costs more than the whole query.
    private static func iso8601(_ time: Double) -> String? {
        // From 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
        guard (-62_167_219_200...253_402_300_799).contains(time) else { return nil }
        let seconds = Int64(time) + 62_167_219_200
        let (second, minute, hour) = (seconds % 60, seconds / 60 % 60, seconds / 3600 % 24)
        // Years begin in March here, so that the leap day is the last of a year; 60 days lie between 0000-01-01 and
        // 0000-03-01, and a cycle of 400 years before makes all days positive.
        let days = seconds / 86_400 - 60 + 146_097
        let (cycle, dayOfCycle) = (days / 146_097, days % 146_097)
        let yearOfCycle = (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = (cycle - 1) * 400 + yearOfCycle + (month <= 2 ? 1 : 0)
        func digits(_ number: Int64, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
            + "T\(digits(hour, 2)):\(digits(minute, 2)):\(digits(second, 2))Z"
    }
}
