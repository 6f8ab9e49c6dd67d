// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension Outbox {
    /// The settings of an outbox, and the types of its requests.
    public struct Settings: Sendable {
        /// The current account: new entries belong to it, and only its entries are sent.
        ///
        /// `nil`, the default, means no account.
        public var account: String?
        /// The maximum number of entries, of different categories, that are sent concurrently; 4 by default.
        public var maxConcurrentEntries = 4
        /// The waits after failed attempts; by default, random waits whose maximum grows from a second to five minutes.
        ///
        /// If the server sends a longer `Retry-After`, that wait applies instead, up to a day.
        public var backoff = RetryPolicy.Backoff.exponential(from: .seconds(1)).capped(at: .seconds(300))
        /// The connectivity that entries wait for; the system's by default.
        public var connectivity = Connectivity.system
        /// Whether nothing is sent until ``Outbox/resume()``; false by default.
        public var isPaused = false
        /// Decides what happens to an entry whose attempt has failed; by default with ``Decision/init(about:)``.
        ///
        /// The closure may be called on any thread, which it must not block.
        public var decide: @Sendable (RequestError, Entry) -> Decision = { error, _ in Decision(about: error) }

        private(set) var registry = Registry()

        /// Registers a type of requests.
        ///
        /// - Parameters:
        ///   - type: The type.
        ///   - name: The name of the type in the journal, which must never change, even if the type is renamed. A type
        ///     may have several names: entries are added under the first name, and entries with any of the names are
        ///     sent. Two types can't have the same name.
        ///   - handle: Handles a response before the entry is removed; does nothing by default. It is called at least
        ///     once for an entry: if the process ends before it returns, the entry is sent again. If it throws, the
        ///     entry is parked.
        public mutating func register<R: NetworkRequest & Codable>(
            _ type: R.Type,
            as name: String,
            handling handle: @escaping Handler<R> = { _ in }
        ) {
            registry.add(type, as: name, isCurrent: true, handle) { $0 }
        }

        /// Registers an earlier name of a type, under which entries were added in another format.
        ///
        /// The type also needs a current name; see ``register(_:as:handling:)``.
        ///
        /// - Parameters:
        ///   - type: The type.
        ///   - name: The earlier name, under which entries are no longer added.
        ///   - migrate: Converts content that was added under this name to the current format of the type. If it
        ///     throws, the entry is parked as unreadable.
        ///   - handle: Handles a response, as in ``register(_:as:handling:)``.
        public mutating func register<R: NetworkRequest & Codable>(
            _ type: R.Type,
            from name: String,
            migrating migrate: @escaping @Sendable (JSONValue) throws -> JSONValue,
            handling handle: @escaping Handler<R> = { _ in }
        ) {
            registry.add(type, as: name, isCurrent: false, handle) { content in
                try JSONEncoder().encode(migrate(JSONDecoder().decode(JSONValue.self, from: content)))
            }
        }

        /// Unavailable, because a Swift type name isn't unique, and changes when the type is renamed.
        @available(*, unavailable, message: "use register(_:as:) with a name that never changes")
        public mutating func register<R: NetworkRequest & Codable>(
            _ type: R.Type,
            handling handle: @escaping Handler<R> = { _ in }
        ) {}
    }

    /// The registered types, by name.
    struct Registry: Sendable {
        /// A closure that creates the operation for an entry, and throws if the entry's content can't be decoded.
        typealias MakeOperation = @Sendable (Outbox, OutboxState.Item) throws -> AnyRequestOperation

        private var factories: [String: MakeOperation] = [:]
        private var names: [ObjectIdentifier: String] = [:]
        /// The types by their Swift type names, without the names of enclosing types.
        private var typesBySwiftName: [String: Set<ObjectIdentifier>] = [:]
        private var repeatedName: String?

        fileprivate mutating func add<R: NetworkRequest & Codable>(
            _ type: R.Type,
            as name: String,
            isCurrent: Bool,
            _ handle: @escaping Handler<R>,
            _ migrate: @escaping @Sendable (Data) throws -> Data
        ) {
            if factories[name] != nil { repeatedName = repeatedName ?? name }
            if isCurrent { names[ObjectIdentifier(type)] = names[ObjectIdentifier(type)] ?? name }
            typesBySwiftName[String(describing: type), default: []].insert(ObjectIdentifier(type))
            factories[name] = { outbox, item in
                let request = try JSONDecoder().decode(R.self, from: migrate(Data(item.content.utf8)))
                return outbox.operation(request, item.entry, handle)
            }
        }

        /// Checks that each name stands for one type and one handler.
        ///
        /// - Throws: ``Outbox/Error``.
        func validate() throws(Outbox.Error) {
            if let repeatedName { throw .repeatedName(repeatedName) }
        }

        /// Returns the name under which the requests of a type are added.
        ///
        /// - Throws: ``Outbox/Error`` for a type that isn't registered.
        func name<R>(of type: R.Type) throws(Outbox.Error) -> String {
            guard let name = names[ObjectIdentifier(type)] else { throw .unregistered(String(describing: type)) }
            return name
        }

        /// Creates the operation for an entry.
        ///
        /// - Throws: ``Outbox/Error`` if the entry's name isn't registered, or doesn't determine the type, or any error
        ///   from decoding the entry's content.
        func operation(for item: OutboxState.Item, of outbox: Outbox) throws -> AnyRequestOperation {
            let name = item.entry.type
            // The name of an entry from the first version of the journal may be a Swift type name, which several types
            // can share.
            if item.version == nil, typesBySwiftName[name]?.count ?? 0 > 1 { throw Outbox.Error.ambiguousName(name) }
            guard let makeOperation = factories[name] else { throw Outbox.Error.unregistered(name) }
            return try makeOperation(outbox, item)
        }
    }
}
