// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Outbox {
    /// The settings of an outbox, and the types of its requests.
    public struct Settings: Sendable {
        /// The account of the entries that are added, and of those that are sent; `nil`, the default, stands for no
        /// account.
        public var account: String?
        /// The maximum number of entries that are sent at a time, of different categories; 4 by default.
        public var maxConcurrentEntries = 4
        /// The waits after failed attempts; by default from up to a second to up to five minutes.
        ///
        /// A `Retry-After` of the server counts if it is longer, up to a day.
        public var backoff = RetryPolicy.Backoff.exponential(from: .seconds(1)).capped(at: .seconds(300))
        /// The network that entries wait for; by default the system's.
        public var connectivity = Connectivity.system
        /// Whether nothing is sent until ``Outbox/resume()``; false by default.
        public var isPaused = false
        /// Decides about an entry whose attempt has failed; by default with ``Decision/init(about:)``.
        ///
        /// Called on no particular thread, which it must not block.
        public var decide: @Sendable (RequestError, Entry) -> Decision = { error, _ in Decision(about: error) }

        /// Makes the operation of an entry; throws if its content can't be decoded.
        typealias MakeOperation = @Sendable (Outbox, OutboxState.Item) throws -> AnyRequestOperation

        private(set) var kinds: [String: MakeOperation] = [:]
        private(set) var names: [ObjectIdentifier: String] = [:]

        /// Registers a type of requests.
        ///
        /// - Parameters:
        ///   - type: The type.
        ///   - name: The name of the type in the journal, which must never change; by default the name in the code. A
        ///     type may have several names: entries are added under the first one, and entries with any of them are
        ///     sent.
        ///   - handle: Handles a response, before the entry is removed. It is called at least once for an entry: if the
        ///     process ends before it returns, the entry is sent again. If it throws, the entry is parked. Does nothing
        ///     by default.
        ///   - migrate: Converts content that was added under this name to the current form of the type; by default
        ///     unchanged. If it throws, the entry is parked as unreadable.
        public mutating func register<R: NetworkRequest & Codable>(
            _ type: R.Type,
            as name: String? = nil,
            handling handle: @escaping Handler<R> = { _ in },
            migrating migrate: (@Sendable (JSONValue) throws -> JSONValue)? = nil
        ) {
            let name = name ?? String(describing: type)
            names[ObjectIdentifier(type)] = names[ObjectIdentifier(type)] ?? name
            kinds[name] = { outbox, item in
                var content = Data(item.content.utf8)
                if let migrate {
                    content = try JSONEncoder().encode(migrate(JSONDecoder().decode(JSONValue.self, from: content)))
                }
                let request = try JSONDecoder().decode(R.self, from: content)
                return outbox.operation(request, item.entry, handle)
            }
        }
    }
}
