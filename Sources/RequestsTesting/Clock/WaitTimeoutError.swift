// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// What a test awaited didn't happen in time, or can't happen any more.
///
/// A wait of this module ends after 30 seconds, unless the test passes another limit. The limit is real time, whatever
/// a ``ManualClock`` shows.
public struct WaitTimeoutError: ExplainedError, DescribedError, Sendable, Hashable {
    /// The maximum time of the wait.
    public let limit: Duration
    /// What was awaited: "2 requests".
    public let awaited: String
    /// What had happened until then: "the server has 1 request and 1 open connection".
    public let state: String
    private let callSite: CallSite

    package init(limit: Duration, awaited: String, state: String, callSite: CallSite) {
        (self.limit, self.awaited, self.state, self.callSite) = (limit, awaited, state, callSite)
    }

    /// The callSite of the wait in the test, and the error in a sentence.
    public var description: String { "\(callSite): waited for \(limit) for \(awaited); \(state)" }
}
