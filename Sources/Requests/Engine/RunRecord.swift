// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What has happened in a run so far, for its response and its errors.
struct RunRecord: Sendable {
    /// The maximum number of recorded transfers.
    ///
    /// If there are more, the record contains the first transfer, the latest transfers, and all running transfers.
    static let maximumCount = 100

    /// A transfer after the first one.
    struct LaterTransfer: Sendable {
        let transfer: Transfer
        /// The number of the transfer among all transfers.
        let number: Int
        /// The number of the transfer, counting only transfers that aren't shared.
        let unsharedNumber: Int
        var isOver = false
    }

    // A separate property for the first transfer avoids an array for most runs, which have only one transfer.
    private var first: Transfer?
    private var others: [LaterTransfer] = []
    /// The number of all transfers, including those that are no longer recorded.
    private(set) var count = 0
    /// The number of transfers that aren't shared with other runs, as reported to monitors.
    private(set) var unsharedCount = 0
    /// The number of transfers before the current attempt.
    private var countBeforeAttempt = 0
    /// The head of the response after validation; `nil` if none was validated since the last transfer began.
    private(set) var validatedHead: HTTPResponseHead?
    /// The request that was answered from a cache; `nil` if a transfer followed.
    private(set) var requestServedByCache: Box<HTTPRequest>?

    /// The number of attempts that the retry policy counts, including those of shared transfers.
    private(set) var countedAttempts = 0

    /// Raises the number of counted attempts to at least the given number.
    mutating func countAttempts(_ number: Int) {
        countedAttempts = max(countedAttempts, number)
    }

    /// Adds a transfer, and returns the replaced values, so that the caller can release them outside of the lock.
    mutating func add(_ transfer: Transfer) -> ([LaterTransfer], HTTPResponseHead?, Box<HTTPRequest>?) {
        count += 1
        if !transfer.isShared { unsharedCount += 1 }
        let previous = others.count < Self.maximumCount - 1 ? [] : others
        if !previous.isEmpty { removeOldest() }
        if first == nil {
            first = transfer
        } else {
            others.append(LaterTransfer(transfer: transfer, number: count, unsharedNumber: unsharedCount))
        }
        defer { (validatedHead, requestServedByCache) = (nil, nil) }
        return (previous, validatedHead, requestServedByCache)
    }

    /// Removes ended transfers to make room for a new one.
    ///
    /// Running transfers stay, so that the run can pause and cancel them.
    private mutating func removeOldest() {
        var surplus = others.count + 2 - Self.maximumCount
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

    /// The recorded transfers, in order.
    var transfers: [Transfer] { first.map { [$0] + others.map(\.transfer) } ?? [] }

    /// The transfer that began last.
    var last: Transfer? { others.last?.transfer ?? first }

    /// The recorded transfers that aren't shared, with their numbers.
    var unsharedTransfers: [(transfer: Transfer, number: Int)] {
        ((first.map { [($0, 1)] } ?? []) + others.map { ($0.transfer, $0.unsharedNumber) }).filter { !$0.0.isShared }
    }

    /// Records that an attempt has begun.
    mutating func beginAttempt() {
        countBeforeAttempt = count
    }

    /// Whether no transfer of the current attempt has reached a server.
    var wasNotSent: Bool {
        var currentRecords = others.drop { $0.number <= countBeforeAttempt }.map(\.transfer.record)
        if countBeforeAttempt == 0, let first { currentRecords.append(first.record) }
        return !currentRecords.isEmpty && currentRecords.count == count - countBeforeAttempt
            && currentRecords.allSatisfy { record in
                record.response == nil && [.cannotConnect, .proxyRefused, .offline].contains(record.error?.code)
            }
    }

    /// Records that a request was answered from a cache, without a transfer.
    mutating func recordCachedResponse(_ request: HTTPRequest) {
        requestServedByCache = Box(request)
    }

    /// Records the head of a validated response, which may differ from the head of the last transfer.
    mutating func recordValidated(_ head: HTTPResponseHead) {
        validatedHead = head
    }

    /// The last request that was sent or answered from a cache.
    var request: HTTPRequest? { requestServedByCache?.value ?? last?.request }

    /// The URL of the first request, even if it was answered from a cache.
    var firstURL: URL? { first?.request.url ?? requestServedByCache?.value.url }

    /// The head of the last response.
    var head: HTTPResponseHead? { validatedHead ?? last?.head }

    /// The last content, if it is in memory.
    var content: Data { last?.content ?? Data() }

    /// Adds the request, the response and the transfers to an error.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - phase: The phase of the failure.
    ///   - validatedResponse: The response that was validated; `nil` uses the last response.
    ///   - contentLimit: The maximum byte count of content in the error.
    /// - Returns: The error with these details.
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

    /// The history of the transfers, converted to values lazily.
    var history: TransferHistory {
        // A single transfer is the usual case, and needs no array.
        guard let single = first, others.isEmpty else { return TransferHistory(transferRecords) }
        return TransferHistory(single)
    }
}
