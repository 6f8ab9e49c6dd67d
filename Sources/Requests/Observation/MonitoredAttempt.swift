// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// One request of an operation that goes to the transport, as an ``EventMonitor`` sees it.
public struct MonitoredAttempt: Sendable {
    /// Which one of the operation it is, from 1; redirects that were followed count, and so do retries.
    public let number: Int
    /// Why it is made.
    public let cause: Attempt.Cause
    /// What is sent: complete, with its secrets.
    public let request: HTTPRequest

    /// Describes an attempt.
    public init(number: Int, cause: Attempt.Cause, request: HTTPRequest) {
        self.number = number
        self.cause = cause
        self.request = request
    }
}
