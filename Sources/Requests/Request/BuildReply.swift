// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The way back from a request that is being made: calls `receive` with what was made, or, when it is let go of, with
/// an error that says so.
///
/// A completion that is never called is an operation that never ends. One that can't be called any more, because nobody
/// has it, is noticed here.
final class BuildReply: Sendable {
    private let receive: @Sendable (() throws -> HTTPRequest) -> Void

    /// - Parameter receive: Gets a closure that gives what was made, or throws; one that comes too late isn't called.
    init(_ receive: @escaping @Sendable (() throws -> HTTPRequest) -> Void) {
        self.receive = receive
    }

    deinit {
        let reason = "the request was never made: its completion was let go of without a call"
        receive { throw RequestError(.invalidRequest, phase: .building, reason: reason) }
    }

    func callAsFunction(_ result: Result<HTTPRequest, any Error>) {
        receive { try result.get() }
    }
}
