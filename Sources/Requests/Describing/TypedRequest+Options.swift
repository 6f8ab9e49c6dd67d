// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension TypedRequest {
    /// A copy with other options, as a closure changes them.
    public func options(_ change: (inout RequestOptions) -> Void) -> Self {
        modified { change(&$0.options) }
    }

    /// A copy that may take so long in all, retries included.
    public func deadline(_ deadline: Duration) -> Self {
        options { $0.deadline = deadline }
    }

    /// A copy whose redirects are treated otherwise.
    public func redirect(_ policy: RedirectPolicy) -> Self {
        options { $0.redirect = policy }
    }

    /// A copy whose connection trusts others.
    public func trust(_ policy: TrustPolicy) -> Self {
        options { $0.trust = policy }
    }

    /// A copy of which no more content is read into memory, after decoding.
    public func maximumBodySize(_ bytes: Int) -> Self {
        options { $0.maximumBodySize = bytes }
    }

    /// A copy for which every status is an answer.
    public func acceptingAnyStatus() -> Self {
        options { $0.validatesStatus = false }
    }

    /// A copy that joins the unfinished transfer of an equal request.
    public func coalescing(_ coalesces: Bool = true) -> Self {
        options { $0.coalesce = coalesces }
    }

    /// A copy that starts sooner or later, among those that could.
    public func priority(_ priority: Operation.QueuePriority) -> Self {
        options { $0.priority = priority }
    }

    /// A copy with a name for people, which monitors and pictures of a queue show.
    public func tag(_ tag: String) -> Self {
        options { $0.tag = tag }
    }
}
