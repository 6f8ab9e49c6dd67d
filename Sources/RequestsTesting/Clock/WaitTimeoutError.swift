// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// The error of a wait whose condition wasn't met in time, or can no longer be met.
///
/// Waits of this module end after 30 seconds, unless the test passes another limit. The limit is measured in real time,
/// even if the test uses a ``ManualClock``.
public struct WaitTimeoutError: ExplainedError, DescribedError, Sendable, Hashable {
    /// The maximum time of the wait.
    public let limit: Duration
    /// A description of what the test awaited, such as “2 requests”.
    public let awaited: String
    /// A description of what had happened until then, such as “the server has 1 request and 1 open connection”.
    public let state: String
    private let callSite: CallSite

    package init(limit: Duration, awaited: String, state: String, callSite: CallSite) {
        (self.limit, self.awaited, self.state, self.callSite) = (limit, awaited, state, callSite)
    }

    /// The source location of the wait in the test, and the error in a sentence.
    public var description: String { "\(callSite): waited for \(limit) for \(awaited); \(state)" }
}
