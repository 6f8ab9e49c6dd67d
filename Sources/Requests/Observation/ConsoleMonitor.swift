// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A monitor that prints what happens: a line an event, without secrets.
///
/// ```swift
/// environment.monitors.append(.console)
/// environment.monitors.append(ConsoleMonitor(.headers, showsCURL: true) { logger.debug("\($0)") })
/// ```
/// ```
/// #7 GetUser made
/// #7 started
/// #7.1 -> GET https://api.example.com/users/1?token=REDACTED
/// #7.1 <- 503 Service Unavailable
/// #7.1 ended: 503 Service Unavailable, 12.3 ms
/// #7 tries again in 500.0 ms: unacceptableStatus
/// #7.2 -> GET https://api.example.com/users/1?token=REDACTED (retry)
/// #7.2 <- 200 OK
/// #7.2 ended: 200 OK, 10.9 ms
/// #7 succeeded
/// ```
///
/// The number is ``MonitoredOperation/id``, that behind the point the attempt's. Header values, address parameters and
/// members of forms and JSON that are secrets by their name are redacted. Whatever a server or a user chose is shown in
/// one line, with control characters escaped: it can neither forge a line nor drive a terminal.
public struct ConsoleMonitor: EventMonitor {
    /// How much is printed.
    public enum Level: Int, Sendable, Hashable, CaseIterable, Comparable {
        /// A line an event.
        case summary
        /// Also the header fields that are sent and received, a line each.
        case headers
        /// Also the content that is sent, where it is text in memory, and that of failures, up to 4 KiB of each.
        ///
        /// What of it is a secret can't be told but by the names in forms and JSON.
        case bodies
        /// Also the content of successful responses, where it is text in memory, up to 4 KiB of each.
        case responses

        /// Orders levels by how much is printed.
        public static func < (lhs: Level, rhs: Level) -> Bool {
            lhs.rawValue < rhs.rawValue
        }
    }

    private let level: Level
    private let showsCURL: Bool
    private let now: (@Sendable () -> Date)?
    private let write: @Sendable (String) -> Void

    /// Makes a monitor.
    ///
    /// - Parameters:
    ///   - level: How much is printed; by default a line an event.
    ///   - showsCURL: Whether each attempt is also printed as a command of one line that sends the same with `curl`,
    ///     secrets left out as everywhere, content included; false by default.
    ///   - showsTime: Whether each line begins with the time, such as `2026-11-23T08:00:00.000Z`; false by default.
    ///   - write: Takes one line, without a break at its end, on a thread of the pipeline; by default it is printed to
    ///     the standard output.
    ///   - now: What tells the time.
    public init(
        _ level: Level = .summary,
        showsCURL: Bool = false,
        showsTime: Bool = false,
        write: @escaping @Sendable (_ line: String) -> Void = { print($0) },
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.level = level
        self.showsCURL = showsCURL
        self.now = showsTime ? now : nil
        self.write = write
    }

    /// Prints the event.
    public func eventOccurred(_ event: MonitoredEvent, of operation: MonitoredOperation) {
        let time = now.map { $0().timestamp() + " " } ?? ""
        for line in EventLines(event, of: operation, level: level, showsCURL: showsCURL).lines { write(time + line) }
    }
}

extension EventMonitor where Self == ConsoleMonitor {
    /// A monitor that prints a line an event, without secrets.
    public static var console: ConsoleMonitor { ConsoleMonitor() }

    /// A monitor that prints what happens, without secrets.
    public static func console(_ level: ConsoleMonitor.Level) -> ConsoleMonitor { ConsoleMonitor(level) }
}
