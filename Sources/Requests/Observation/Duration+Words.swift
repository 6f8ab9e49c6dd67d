// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension Duration {
    /// The duration for people: milliseconds below ten seconds, seconds above, with one digit behind the point.
    var inWords: String {
        let microseconds = wholeMicroseconds
        let isLong = microseconds.magnitude >= 10_000_000
        let tenths = (microseconds.magnitude + (isLong ? 50_000 : 50)) / (isLong ? 100_000 : 100)
        return "\(microseconds < 0 && tenths > 0 ? "-" : "")\(tenths / 10).\(tenths % 10) \(isLong ? "s" : "ms")"
    }

    /// The duration in microseconds, of at most thirty thousand years: a duration may be a server's, and arithmetic traps.
    var wholeMicroseconds: Int64 {
        let limit = Duration.seconds(1_000_000_000_000)
        let components = Swift.min(Swift.max(self, .zero - limit), limit).components
        return components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
