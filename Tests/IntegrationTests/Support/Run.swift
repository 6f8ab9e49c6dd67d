// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport

/// The outcome of one call: every completion, and the durations.
struct Run: Sendable {
    /// The arguments of the completion, for each time that it was called.
    let outcomes: [Result<Data, RequestError>]
    /// From the call to its first completion.
    let duration: Duration
    /// From the call to the end of its transfer.
    let durationOfTransfer: Duration

    /// The outcome, if there was exactly one.
    var outcome: Result<Data, RequestError>? { outcomes.count == 1 ? outcomes[0] : nil }

    /// The error, if there was exactly one outcome and it failed.
    var error: RequestError? {
        if case .failure(let error)? = outcome { error } else { nil }
    }

    /// The content, if there was exactly one outcome and it succeeded.
    var value: Data? { try? outcome?.get() }
}

extension TransportUnderTest {
    /// Runs a call until its operation has finished, which is after its transfer, and all of its completions were
    /// called.
    ///
    /// - Parameter session: The transport of the call; by default a new one of the kind under test.
    func run(_ call: Call, over session: (any HTTPTransport)? = nil) async -> Run {
        let queue = OperationQueue()
        let completions = DispatchQueue(label: "completions")
        let outcomes = Locked<[(Result<Data, RequestError>, ContinuousClock.Instant)]>([])
        let start = ContinuousClock.now

        queue.addRequest(call, session: session ?? makeSession(), completionQueue: completions) { outcome in
            outcomes.withLock { $0.append((outcome, .now)) }
        }
        await queue.drain()
        let end = ContinuousClock.now
        await completions.drain()

        let all = outcomes.withLock { $0 }
        return Run(
            outcomes: all.map(\.0),
            duration: (all.first?.1 ?? end) - start,
            durationOfTransfer: end - start
        )
    }
}

extension OperationQueue {
    /// Waits for every operation that is on the queue now.
    func drain() async {
        await withCheckedContinuation { continuation in
            addBarrierBlock { continuation.resume() }
        }
    }
}
