// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// An operation, as an ``EventMonitor`` sees it.
///
/// Two are equal where their ``id`` is: they are the same operation, of which more may be known later.
public struct MonitoredOperation: Sendable, Identifiable {
    /// A number that no other operation of this process has; a later operation has a larger one.
    public let id: UInt64
    /// The identifier of the request; empty as long as there is none yet.
    ///
    /// It may hold what the address holds: what shows it to people, redacts it.
    public var identifier: String
    /// The name that the request has for people, if it has one.
    public var tag: String?
    /// The name of the request's type.
    public var requestType: String

    /// Describes an operation, under the next free number.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the request; empty, the default, where it is to be made yet.
    ///   - tag: The name that the request has for people.
    ///   - requestType: The name of the request's type.
    public init(identifier: String = "", tag: String? = nil, requestType: String) {
        self.init(
            id: Self.lastID.withLock {
                $0 += 1
                return $0
            },
            identifier: identifier,
            tag: tag,
            requestType: requestType
        )
    }

    /// Describes an operation under a number of the caller's choice, for tests of monitors.
    public init(id: UInt64, identifier: String = "", tag: String? = nil, requestType: String) {
        self.id = id
        self.identifier = identifier
        self.tag = tag
        self.requestType = requestType
    }

    private static let lastID = Locked<UInt64>(0)
}

extension MonitoredOperation: Hashable {
    /// Whether both are the same operation.
    public static func == (lhs: MonitoredOperation, rhs: MonitoredOperation) -> Bool {
        lhs.id == rhs.id
    }

    /// Hashes the number.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}

extension MonitoredOperation: CustomStringConvertible {
    /// The number, the type and the tag, such as `#3 GetUser “profile”`, in one line without secrets.
    public var description: String {
        let name = tag.map { " “\($0.printable(upTo: 64))”" } ?? ""
        return "#\(id) \(requestType.printable(upTo: 64))\(name)"
    }
}
