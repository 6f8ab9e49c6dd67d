// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// An operation, as an ``EventMonitor`` sees it.
///
/// Two are equal if their ``id`` is: they are the same operation, about which more may be known later.
public struct MonitoredOperation: Sendable, Identifiable {
    /// A unique number in this process; later operations have larger ones.
    public let id: UInt64
    /// The identifier of the request; empty before there is a request.
    ///
    /// It may contain parts of the address: redact it before you show it.
    ///
    /// It is computed at its first use: for a ready-made request it is a digest of all that is sent.
    public var identifier: String {
        get { lazyIdentifier.value }
        set { lazyIdentifier = LazyText(newValue) }
    }

    private var lazyIdentifier: LazyText
    /// The name of the request for display, if it has one.
    public var tag: String?
    /// The name of the request's type.
    public var requestType: String
    /// The application's data about the request.
    public var userInfo = UserInfo()

    /// Makes a description of an operation, with the next free number.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the request; empty, the default, if there is no request yet.
    ///   - tag: The name of the request for display.
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

    /// Makes a description of an operation with a given number, for tests of monitors.
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
        (other.lazyIdentifier, other.userInfo) = (lazyIdentifier, userInfo)
        return other
    }

    /// Sets the closure that makes the identifier, once there is a request.
    mutating func identify(by make: @escaping @Sendable () -> String) {
        lazyIdentifier = LazyText(make)
    }
}

/// A text that is made at its first use, at most once.
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
            // Two threads at once may both make it; the results are equal.
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

/// An event of an ``EventMonitor``, as a value: for monitors that handle all events alike, or pass them on.
public enum MonitoredEvent: Sendable {
    /// An operation was made.
    case operationCreated
    /// The queue has started the operation.
    case operationStarted
    /// The operation waits for the result of this one.
    case operationJoined(MonitoredOperation)
    /// A request is passed to the transport.
    case attemptStarted(MonitoredAttempt)
    /// The head of the final response was received.
    case responseStarted(HTTPResponseHead, MonitoredAttempt)
    /// A response before the final one was received, such as 103.
    case informationalResponseReceived(HTTPResponseHead, MonitoredAttempt)
    /// The content of the response is followed by fields.
    case trailersReceived(HTTPHeaders, MonitoredAttempt)
    /// The attempt has ended.
    case attemptEnded(MonitoredAttempt, Attempt)
    /// The operation will retry.
    case retryScheduled(after: Duration, because: RequestError)
    /// The operation waits for a credential.
    case authenticationStarted(AuthenticationStep)
    /// It has stopped waiting, with or without a credential.
    case authenticationEnded(AuthenticationStep, isGranted: Bool)
    /// The operation has its result.
    case operationEnded(MonitoredOutcome)

    /// Calls the method of the monitor for the event.
    public func report(to monitor: some EventMonitor, of operation: MonitoredOperation) {
        switch self {
        case .operationCreated: monitor.operationCreated(operation)
        case .operationStarted: monitor.operationStarted(operation)
        case .operationJoined(let leader): monitor.operationJoined(operation, transferOf: leader)
        case .attemptStarted(let attempt): monitor.attemptStarted(attempt, of: operation)
        case .responseStarted(let head, let attempt): monitor.responseStarted(head, to: attempt, of: operation)
        case .informationalResponseReceived(let head, let attempt):
            monitor.informationalResponseReceived(head, to: attempt, of: operation)
        case .trailersReceived(let fields, let attempt):
            monitor.trailersReceived(fields, to: attempt, of: operation)
        case .attemptEnded(let attempt, let record): monitor.attemptEnded(attempt, with: record, of: operation)
        case .retryScheduled(let delay, let error): monitor.retryScheduled(after: delay, because: error, of: operation)
        case .authenticationStarted(let step): monitor.authenticationStarted(step, of: operation)
        case .authenticationEnded(let step, let isGranted):
            monitor.authenticationEnded(step, isGranted: isGranted, of: operation)
        case .operationEnded(let outcome): monitor.operationEnded(operation, with: outcome)
        }
    }
}

/// One request of an operation that goes to the transport, as an ``EventMonitor`` sees it.
public struct MonitoredAttempt: Sendable {
    /// The number of the attempt in the operation, from 1; followed redirects and retries count.
    public let number: Int
    /// The cause of the attempt.
    public let cause: Attempt.Cause
    /// The request as it is sent: complete, with its secrets.
    public let request: HTTPRequest

    /// Makes a description of an attempt.
    public init(number: Int, cause: Attempt.Cause, request: HTTPRequest) {
        self.number = number
        self.cause = cause
        self.request = request
    }
}

extension MonitoredAttempt: CustomStringConvertible, CustomReflectable {
    /// The number, the cause and the request, without secrets.
    public var description: String { "attempt \(number) (\(cause)): \(request)" }

    /// A mirror of the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// The result of an operation, as an ``EventMonitor`` sees it.
public enum MonitoredOutcome: Sendable {
    /// It has a value.
    case success
    /// It failed; an error of another type than the library's is the underlying one.
    case failure(RequestError)
    /// It was cancelled, which isn't an error.
    case cancelled

    /// Makes the outcome of an error: a cancellation or a failure.
    public init(_ error: any Error) {
        let error = RequestError(error)
        self = error.code == .cancelled ? .cancelled : .failure(error)
    }

    /// Makes the outcome of an operation's result.
    public init(_ result: Result<some Any, some Error>) {
        switch result {
        case .success: self = .success
        case .failure(let error): self.init(error)
        }
    }
}

extension MonitoredOutcome: CustomStringConvertible {
    /// The outcome in a line, without secrets.
    public var description: String {
        switch self {
        case .success: "success"
        case .failure(let error): "failure: \(error)"
        case .cancelled: "cancelled"
        }
    }
}
