// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Knows which transfers are shared, and by how many operations.
///
/// Joining, leaving and closing are one step each under one lock, so nobody joins a transfer that the last one has just
/// left, and two that come at once share one.
final class Coalescer: Sendable {
    /// The queue that operations share on.
    typealias Queue = any AnyObject & Sendable

    /// What has to be equal for two operations to share: the queue, the transport, whose request it is and where it
    /// goes, the request, and what it says about how its answer is judged.
    struct Key: Sendable, Hashable {
        private let queue: ObjectIdentifier
        private let transport: ObjectIdentifier
        private let type: ObjectIdentifier
        private let identifier: String
        private let options: RequestOptions
        // The state of a client's environment. A queue of somebody else's has none, or hands out a changed copy; what of
        // it tells users apart is compared as well, as far as it can be.
        private let revision: EnvironmentRevision?
        private let baseURL: URL?
        private let query: Query
        private let headers: HTTPHeaders
        private let cookies: ObjectIdentifier?
        private let credentials: [CredentialMark]
        // Who shares with an operation that waits for a refresh waits for it as well, and a part of the refresh can't.
        private let refreshing: Set<ObjectIdentifier>

        init<R: NetworkRequest>(queue: Queue, operation: NetworkOperation<R>, request: R) {
            self.queue = ObjectIdentifier(queue)
            transport = ObjectIdentifier(operation.transport)
            type = ObjectIdentifier(R.self)
            identifier = request.identifier
            refreshing = operation.call.refreshing
            let environment = operation.environment
            revision = environment.revision
            baseURL = environment.baseURL
            query = environment.query
            headers = environment.headers
            cookies = environment.cookies.map { ObjectIdentifier($0) }
            let plan = operation.plan
            credentials = (plan?.interceptors ?? []).compactMap {
                ($0 as? any CredentialBearer)?.credentialMark
            }
            var options = plan?.options ?? RequestOptions()
            // Every operation has its own deadline, place in its queue and name, whoever does the work.
            options.deadline = nil
            options.priority = nil
            options.tag = nil
            options.coalesce = true
            self.options = options
        }
    }

    private struct Entry: Sendable {
        let transfer: any AnyObject & Sendable
        var members: Int

        mutating func join() -> any AnyObject & Sendable {
            members += 1
            return transfer
        }
    }

    /// The one of the process: an `OperationQueue` has no room for one of its own.
    static let shared = Coalescer()
    private let entries = Locked<[Key: Entry]>([:])

    /// Counts one operation in, where there is a transfer of this key already.
    func join<R: NetworkRequest>(_ key: Key) -> SharedTransfer<R>? {
        entries.withLock { $0[key]?.join() as? SharedTransfer<R> }
    }

    /// Counts one operation in; where there is no transfer of this key yet, `fresh` becomes it.
    func join<R: NetworkRequest>(_ key: Key, or fresh: SharedTransfer<R>) -> SharedTransfer<R> {
        entries.withLock { entries in
            if let transfer = entries[key]?.join() as? SharedTransfer<R> { return transfer }
            entries[key] = Entry(transfer: fresh, members: 1)
            return fresh
        }
    }

    /// Counts one operation out, and says whether it was the last of a transfer that is still open.
    func leave(_ key: Key, _ transfer: some AnyObject) -> Bool {
        entries.withLock { entries in
            guard let entry = entries[key], entry.transfer === transfer else { return false }
            guard entry.members == 1 else {
                entries[key]?.members -= 1
                return false
            }
            entries[key] = nil
            return true
        }
    }

    /// Lets no more operations join.
    func close(_ key: Key, _ transfer: some AnyObject) {
        entries.withLock { entries in
            if entries[key]?.transfer === transfer { entries[key] = nil }
        }
    }
}
