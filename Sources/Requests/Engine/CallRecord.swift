// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What has happened to a call so far: the story that its response and its errors tell.
struct CallRecord: Sendable {
    /// The number of transfers that are remembered: of more, the first one and the last ones.
    static let limit = 100

    /// The transfers, in their order.
    private(set) var transmissions: [Transmission] = []
    /// The number of transfers, those that are forgotten included.
    private(set) var count = 0
    /// The response as it was judged, if that isn't the one of the last transfer.
    private(set) var judged: HTTPResponse<Data>?
    /// The request that a cache has answered, if that came last.
    private(set) var answered: Box<HTTPRequest>?

    /// Adds a transfer.
    mutating func add(_ transmission: Transmission) {
        count += 1
        if transmissions.count == Self.limit { transmissions.remove(at: 1) }
        transmissions.append(transmission)
        (judged, answered) = (nil, nil)
    }

    /// Records that a request was answered without a transfer.
    mutating func answer(_ request: HTTPRequest) {
        answered = Box(request)
    }

    /// Records a response that isn't, or is no longer, the one of the last transfer.
    mutating func judge(_ response: HTTPResponse<Data>) {
        judged = response
    }

    /// Forgets the content, which is a value or in an error by now.
    mutating func forgetContent() {
        judged?.body = Data()
    }

    /// The request that was sent last, or answered by a cache.
    var request: HTTPRequest? { answered?.value ?? transmissions.last?.attempt.request }

    /// The head of the response that came last.
    var head: HTTPResponseHead? { judged?.head ?? transmissions.last?.attempt.response }

    /// The content that came last, as far as it is in memory.
    var content: Data { judged?.body ?? transmissions.last?.content ?? Data() }

    /// The transfers, as values.
    var attempts: [Attempt] { transmissions.map(\.attempt) }
}

extension RequestError {
    /// Adds what is known about the request and its response; `judged` is that response if the error is about it.
    func completed(
        with record: CallRecord,
        judged: HTTPResponse<Data>? = nil,
        limit: Int,
        phase: Phase
    ) -> RequestError {
        completed(
            phase: phase,
            request: record.request,
            response: judged?.head ?? record.head,
            body: Data((judged?.body ?? record.content).prefix(max(0, limit))),
            attempts: record.attempts
        )
    }
}
