// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A monitor that prints events, one line each, without secrets.
///
/// ```swift
/// environment.monitors.append(.console)
/// environment.monitors.append(ConsoleMonitor(.headers, showsCURL: true) { logger.debug("\($0)") })
/// ```
/// ```
/// #7 GetUser created
/// #7 started
/// #7.1 -> GET https://api.example.com/users/1?token=REDACTED
/// #7.1 <- 503 Service Unavailable
/// #7.1 ended: 503 Service Unavailable, 12.3 ms
/// #7 retries in 500.0 ms: unacceptableStatus
/// #7.2 -> GET https://api.example.com/users/1?token=REDACTED (retry)
/// #7.2 <- 200 OK
/// #7.2 ended: 200 OK, 10.9 ms
/// #7 succeeded
/// ```
///
/// The number on each line is ``OperationEvent/Info/id``, followed by a period and the number of the transfer. Values
/// whose names mark them as secrets are redacted; the article *Observing requests* explains how. Strings from a server
/// or a user are printed on one line, with control characters escaped, so that they can't forge a line or control a
/// terminal.
public struct ConsoleMonitor: EventMonitor {
    /// The amount of printed detail.
    public enum Level: Sendable, Hashable, CaseIterable, Comparable {
        /// One line per event.
        case summary
        /// Adds the header fields that are sent and received, one per line.
        case headers
        /// Adds the content of requests and failures, if it is text in memory, up to 4 KiB of each.
        ///
        /// Secrets in it are recognized only by their names.
        case bodies
        /// Adds the content of successful responses, if it is text in memory, up to 4 KiB of each.
        case responses
    }

    let level: Level
    let showsCURL: Bool
    private let now: (@Sendable () -> Date)?
    private let write: @Sendable (String) -> Void

    /// Creates a monitor.
    ///
    /// - Parameters:
    ///   - level: The amount of detail; one line per event by default.
    ///   - showsCURL: Whether each transfer is also printed as a one-line `curl` command that sends the same request,
    ///     with its content but without secrets; false by default.
    ///   - showsTime: Whether each line begins with the time, such as `2026-11-23T08:00:00.000Z`; false by default.
    ///   - write: Writes a line, without its line ending, on a thread of the library; prints to the standard output by
    ///     default.
    ///   - now: Returns the current time.
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
    public func eventOccurred(_ event: OperationEvent, of operation: OperationEvent.Info) {
        let time = now.map { $0().timestamp + " " } ?? ""
        for line in lines(of: event, of: operation) { write(time + line) }
    }
}

extension EventMonitor where Self == ConsoleMonitor {
    /// A monitor that prints one line per event, without secrets.
    public static var console: ConsoleMonitor { ConsoleMonitor() }

    /// Returns a monitor that prints events with this amount of detail, without secrets.
    public static func console(_ level: ConsoleMonitor.Level) -> ConsoleMonitor { ConsoleMonitor(level) }
}
