// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The facts about a run so far, for its response and its errors.
struct RunRecord: Sendable {
    /// The number of transfers that are remembered: of more, the first one, the last ones, and those that are running.
    static let limit = 100

    /// A transfer behind the first one.
    struct LaterTransfer: Sendable {
        let transfer: Transfer
        /// Its number among all transfers.
        let number: Int
        /// Its number among those that aren't shared.
        let unsharedNumber: Int
        var isOver = false
    }

    // There is nearly always one, for which a list would be wasteful.
    private var first: Transfer?
    private var others: [LaterTransfer] = []
    /// The number of transfers, those that are forgotten included.
    private(set) var count = 0
    /// The number of those that weren't shared with other runs, as monitors count.
    private(set) var unsharedCount = 0
    /// The number of transfers before the current attempt.
    private var countBeforeAttempt = 0
    /// The head of the response as it was validatedResponse.
    private(set) var validatedHead: HTTPResponseHead?
    /// The request that a cache has requestServedByCache, if that came last.
    private(set) var requestServedByCache: Box<HTTPRequest>?

    /// The number of attempts that the retry policy counts, including those that others made for this run.
    private(set) var countedAttempts = 0

    /// Records that an attempt of this number was made for several runs.
    mutating func countAttempts(_ number: Int) {
        countedAttempts = max(countedAttempts, number)
    }

    /// Adds a transfer, and returns the values that it replaces, to be released outside of the lock.
    mutating func add(_ transfer: Transfer) -> ([LaterTransfer], HTTPResponseHead?, Box<HTTPRequest>?) {
        count += 1
        if !transfer.isShared { unsharedCount += 1 }
        let previous = others.count < Self.limit - 1 ? [] : others
        if !previous.isEmpty { forget() }
        if first == nil {
            first = transfer
        } else {
            others.append(LaterTransfer(transfer: transfer, number: count, unsharedNumber: unsharedCount))
        }
        defer { (validatedHead, requestServedByCache) = (nil, nil) }
        return (previous, validatedHead, requestServedByCache)
    }

    /// Makes room for a transfer.
    ///
    /// Those that are running stay: the run pauses and cancels them.
    private mutating func forget() {
        var surplus = others.count + 2 - Self.limit
        others.removeAll { later in
            guard surplus > 0, later.isOver else { return false }
            surplus -= 1
            return true
        }
    }

    /// Records that a transfer has ended.
    mutating func didEnd(_ transfer: Transfer) {
        guard let index = others.lastIndex(where: { $0.transfer === transfer }) else { return }
        others[index].isOver = true
    }

    /// The transfers that are remembered, in their order.
    var transfers: [Transfer] { first.map { [$0] + others.map(\.transfer) } ?? [] }

    /// The transfer that began last.
    var last: Transfer? { others.last?.transfer ?? first }

    /// The transfers that are remembered and weren't shared, with their numbers.
    var unsharedTransfers: [(transfer: Transfer, number: Int)] {
        ((first.map { [($0, 1)] } ?? []) + others.map { ($0.transfer, $0.unsharedNumber) }).filter { !$0.0.isShared }
    }

    /// Records that an attempt begins.
    mutating func beginAttempt() {
        countBeforeAttempt = count
    }

    /// Whether no transfer of the current attempt has reached a server.
    var wasNotSent: Bool {
        var present = others.drop { $0.number <= countBeforeAttempt }.map(\.transfer.record)
        if countBeforeAttempt == 0, let first { present.append(first.record) }
        return !present.isEmpty && present.count == count - countBeforeAttempt
            && present.allSatisfy { record in
                record.response == nil && [.cannotConnect, .proxyRefused, .offline].contains(record.error?.code)
            }
    }

    /// Records that a request was requestServedByCache without a transfer.
    mutating func recordCachedResponse(_ request: HTTPRequest) {
        requestServedByCache = Box(request)
    }

    /// Records the head of the response as it was validatedResponse, which need not be the one of the last transfer.
    mutating func recordValidated(_ head: HTTPResponseHead) {
        validatedHead = head
    }

    /// The request that was sent last, or requestServedByCache by a cache.
    var request: HTTPRequest? { requestServedByCache?.value ?? last?.request }

    /// The address that was requested first, even if a cache has requestServedByCache for it.
    var firstURL: URL? { first?.request.url ?? requestServedByCache?.value.url }

    /// The head of the response that came last.
    var head: HTTPResponseHead? { validatedHead ?? last?.head }

    /// The content that came last, as far as it is in memory.
    var content: Data { last?.content ?? Data() }

    /// Adds the request, the response and the transfers to an error.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - phase: The phase of the failure.
    ///   - validatedResponse: The response that was validatedResponse; `nil` for the last one.
    ///   - contentLimit: The maximum byte count of content in the error.
    /// - Returns: The same error with the facts.
    func addContext(
        to error: RequestError,
        in phase: RequestError.Phase,
        validatedResponse: HTTPResponse<Data>? = nil,
        contentLimit: Int
    ) -> RequestError {
        error.withContext(
            phase: phase,
            request: request,
            response: validatedResponse?.head ?? head,
            body: Data((validatedResponse?.body ?? content).prefix(max(0, contentLimit))),
            transfers: transferRecords,
            wasNotSent: wasNotSent
        )
    }

    /// The transfers, as values.
    var transferRecords: [TransferRecord] { transfers.map(\.record) }

    /// The transfers, which become values when they are asked for.
    var history: TransferHistory {
        // A single one, as nearly all are, needs no list.
        guard let only = first, others.isEmpty else { return TransferHistory(transferRecords) }
        return TransferHistory(only)
    }
}
