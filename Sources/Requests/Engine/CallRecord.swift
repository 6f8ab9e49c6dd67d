// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The facts about a call so far, for its response and its errors.
struct CallRecord: Sendable {
    /// The number of transfers that are remembered: of more, the first one and the last ones.
    static let limit = 100

    /// The transfers, in their order.
    private(set) var transmissions: [Transmission] = []
    /// The number of transfers, those that are forgotten included.
    private(set) var count = 0
    /// The number of those that weren't shared with other calls, as monitors count.
    private(set) var ownCount = 0
    /// The number of transfers before the present attempt.
    private var countBefore = 0
    /// The head of the response as it was judged.
    private(set) var judged: HTTPResponseHead?
    /// The request that a cache has answered, if that came last.
    private(set) var answered: Box<HTTPRequest>?

    /// The number of attempts by others that were made for this call as well.
    private(set) var spent = 0

    /// Records that an attempt of this number was made for several calls.
    mutating func spend(_ attempt: Int) {
        spent = max(spent, attempt)
    }

    /// Adds a transfer, and gives what goes for it.
    mutating func add(_ transmission: Transmission) -> (Transmission?, HTTPResponseHead?, Box<HTTPRequest>?) {
        count += 1
        if !transmission.isShared { ownCount += 1 }
        let forgotten = transmissions.count == Self.limit ? transmissions.remove(at: 1) : nil
        transmissions.append(transmission)
        defer { (judged, answered) = (nil, nil) }
        return (forgotten, judged, answered)
    }

    /// The transfers that are remembered and weren't shared, with their numbers.
    var ownTransmissions: [(transmission: Transmission, number: Int)] {
        let own = transmissions.filter { !$0.isShared }
        // Of those behind the first one, the last ones are remembered.
        return own.enumerated().map { index, transmission in
            (transmission, transmission === transmissions.first ? 1 : index + 1 + ownCount - own.count)
        }
    }

    /// Records that an attempt begins.
    mutating func beginAttempt() {
        countBefore = count
    }

    /// Whether no transfer of the present attempt has reached a server.
    var wasNotSent: Bool {
        let present = transmissions.suffix(count - countBefore).map(\.attempt)
        return !present.isEmpty && present.count == count - countBefore
            && present.allSatisfy { attempt in
                attempt.response == nil && [.cannotConnect, .proxyRefused, .offline].contains(attempt.error?.code)
            }
    }

    /// Records that a request was answered without a transfer.
    mutating func answer(_ request: HTTPRequest) {
        answered = Box(request)
    }

    /// Records the head of the response as it was judged, which need not be the one of the last transfer.
    mutating func judge(_ head: HTTPResponseHead) {
        judged = head
    }

    /// The request that was sent last, or answered by a cache.
    var request: HTTPRequest? { answered?.value ?? transmissions.last?.request }

    /// The address that was asked first, also if a cache has answered for it.
    var asked: URL? { transmissions.first?.request.url ?? answered?.value.url }

    /// The head of the response that came last.
    var head: HTTPResponseHead? { judged ?? transmissions.last?.head }

    /// The content that came last, as far as it is in memory.
    var content: Data { transmissions.last?.content ?? Data() }

    /// The transfers, as values.
    var attempts: [Attempt] { transmissions.map(\.attempt) }

    /// The transfers, which become values when they are asked for.
    var history: AttemptHistory {
        // A single one, as nearly all are, needs no list.
        guard let only = transmissions.first, transmissions.count == 1 else { return AttemptHistory(attempts) }
        return AttemptHistory(only)
    }
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
            attempts: record.attempts,
            wasNotSent: record.wasNotSent
        )
    }
}
