// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A group of requests of one type, with one completion.
///
/// ```swift
/// let group = queue.addGroup([GetUser(id: 1), GetUser(id: 2)]) { results in … }
/// let users = try await group.values()
/// ```
///
/// The group is an operation: others can depend on it, and cancelling it cancels every member.
// Sendable: Operation demands that it be restated; what is added here is a constant.
open class RequestGroup<R: NetworkRequest>: OperationGroup, @unchecked Sendable {
    /// The members, in the order of their requests.
    public final let operations: [R.OperationType]

    init(
        _ operations: [R.OperationType],
        completionQueue: DispatchQueue,
        completion: (@Sendable ([Result<R.Success, R.Failure>]) -> Void)?
    ) {
        self.operations = operations
        let report = completion.map { completion in
            { @Sendable in completion(operations.map(\.resultInGroup)) }
        }
        super.init(of: operations, completionQueue: completionQueue, completion: report)
    }

    /// The results, in the order of the requests; nil as long as one is missing.
    ///
    /// They are there before the group is finished, and never change.
    ///
    /// - Complexity: O(n)
    public final var results: [Result<R.Success, R.Failure>]? {
        let results = operations.compactMap(\.result)
        return results.count == operations.count ? results : nil
    }

    /// Waits for the values, in the order of the requests.
    ///
    /// Cancelling the waiting task doesn't cancel the group.
    ///
    /// - Throws: The failure of the first request, in their order, that failed. The others go on: cancel the group if
    ///   nothing is to be had from them.
    public final func values() async throws(R.Failure) -> [R.Success] {
        var values: [R.Success] = []
        for operation in operations { values.append(try await operation.value()) }
        return values
    }
}
