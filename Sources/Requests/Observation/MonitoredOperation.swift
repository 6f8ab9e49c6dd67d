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
    ///
    /// It is computed when it is first asked for: for a ready-made request it is a digest of all that is sent.
    public var identifier: String {
        get { lazyIdentifier.value }
        set { lazyIdentifier = LazyText(newValue) }
    }

    private var lazyIdentifier: LazyText
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
        lazyIdentifier = LazyText(identifier)
        self.tag = tag
        self.requestType = requestType
    }

    private static let lastID = Locked<UInt64>(0)

    /// Another operation, of the same request.
    func another() -> MonitoredOperation {
        var other = MonitoredOperation(tag: tag, requestType: requestType)
        other.lazyIdentifier = lazyIdentifier
        return other
    }

    /// Says what makes the identifier, once there is a request.
    mutating func identify(by make: @escaping @Sendable () -> String) {
        lazyIdentifier = LazyText(make)
    }
}

/// A text that is made when it is first asked for, at most once.
private final class LazyText: Sendable {
    private enum State: Sendable {
        case made(String)
        case toMake(@Sendable () -> String)
    }

    private let state: Locked<State>

    init(_ text: String) {
        state = Locked(.made(text))
    }

    init(_ make: @escaping @Sendable () -> String) {
        state = Locked(.toMake(make))
    }

    var value: String {
        switch state.withLock({ $0 }) {
        case .made(let text): return text
        case .toMake(let make):
            // Two that ask at once may both make it; it is the same.
            let text = make()
            let former = state.withLock { state in
                defer { state = .made(text) }
                return state
            }
            return withExtendedLifetime(former) { text }
        }
    }
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
