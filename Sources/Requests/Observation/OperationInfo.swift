// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// An operation, as an ``EventMonitor`` sees it.
///
/// Two are equal if their ``id`` is: they are the same operation, about which more may be known later.
public struct OperationInfo: Sendable, Identifiable {
    /// A unique number in this process; later operations have larger ones.
    public let id: UInt64
    /// The identifier of the request; empty before there is a request.
    ///
    /// It may contain parts of the address: redact it before you show it.
    ///
    /// It is computed at its first use: for a ready-made request it is a digest of all that is sent.
    public var identifier: String {
        get { lazyIdentifier?.value ?? text }
        set { (text, lazyIdentifier) = (newValue, nil) }
    }

    private var text: String
    private var lazyIdentifier: LazyText?
    /// The name of the request for display, if it has one.
    public var tag: String?
    /// The name of the request's type.
    public var requestType: String
    /// The application's data about the request.
    public var userInfo = HTTPRequest.UserInfo()

    /// Makes a description of an operation.
    ///
    /// - Parameters:
    ///   - id: The number of the operation; by default the next free one, and a given one for tests of monitors.
    ///   - identifier: The identifier of the request; empty, the default, if there is no request yet.
    ///   - tag: The name of the request for display.
    ///   - requestType: The name of the request's type.
    public init(id: UInt64? = nil, identifier: String = "", tag: String? = nil, requestType: String) {
        self.id = id ?? Self.nextID()
        text = identifier
        self.tag = tag
        self.requestType = requestType
    }

    private static let lastID = Locked<UInt64>(0)

    private static func nextID() -> UInt64 {
        lastID.withLock { last in
            last += 1
            return last
        }
    }

    /// Another operation, of the same request.
    func another() -> OperationInfo {
        var other = OperationInfo(tag: tag, requestType: requestType)
        (other.text, other.lazyIdentifier, other.userInfo) = (text, lazyIdentifier, userInfo)
        return other
    }

    /// Sets the identity of the request, once there is one.
    mutating func identify(
        by make: @escaping @Sendable () -> String,
        tag: String?,
        userInfo: HTTPRequest.UserInfo
    ) {
        lazyIdentifier = LazyText(make: make)
        (self.tag, self.userInfo) = (tag, userInfo)
    }
}

/// A text that is made at its first use; copies share it.
private struct LazyText: Sendable {
    let make: @Sendable () -> String
    let made = Locked<String?>(nil)

    var value: String {
        if let text = made.withLock({ $0 }) { return text }
        // Two threads at once may both make it; the results are equal.
        let text = make()
        made.withLock { $0 = text }
        return text
    }
}

extension OperationInfo: Hashable {
    /// Whether both are the same operation.
    public static func == (lhs: OperationInfo, rhs: OperationInfo) -> Bool {
        lhs.id == rhs.id
    }

    /// Hashes the number.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}

extension OperationInfo: CustomStringConvertible {
    /// The number, the type and the tag, such as `#3 GetUser “profile”`, in one line without secrets.
    public var description: String {
        let name = tag.map { " “\($0.shortened())”" } ?? ""
        return "#\(id) \(requestType.shortened())\(name)"
    }
}

/// An event of an operation, as an ``EventMonitor`` receives it.
public enum OperationEvent: Sendable {
    /// An operation was made; it may wait in its queue for long, or never start.
    case operationCreated
    /// The queue has started the operation.
    case operationStarted
    /// The operation waits for the result of this one, which does the work for all that share it.
    case operationJoined(OperationInfo)
    /// A request is about to be passed to the transport; it isn't if the operation is cancelled before the monitor
    /// returns.
    case transferStarted(OperationEvent.Transfer)
    /// The head of the final response was received, and its content follows.
    case responseStarted(HTTPResponseHead, OperationEvent.Transfer)
    /// A response before the final one was received, such as 103 (Early Hints) with links to resources that will be
    /// needed.
    ///
    /// Transports that don't see such responses, such as a `URLSession`, report none.
    case informationalResponseReceived(HTTPResponseHead, OperationEvent.Transfer)
    /// The content of the response is complete, and is followed by fields (RFC 9110, 6.5), such as a checksum.
    ///
    /// Transports that don't see these fields, such as a `URLSession`, report none.
    case trailersReceived(HTTPHeaders, OperationEvent.Transfer)
    /// The transfer has ended; the record has its response or error, and its metrics.
    case transferEnded(OperationEvent.Transfer, TransferRecord)
    /// The operation will retry after a delay, unless it is cancelled before.
    case retryScheduled(after: Duration, because: RequestError)
    /// The operation waits for a credential, which is refreshed, or which a server's challenge asks for.
    ///
    /// If many operations wait for one refresh, each is reported.
    case authenticationStarted(Authorization.Step)
    /// The operation has stopped waiting; if no credential is granted, it was refused, or the operation was cancelled.
    case authenticationEnded(Authorization.Step, isGranted: Bool)
    /// The operation has its result.
    case operationEnded(OperationEvent.Outcome)
}

extension OperationEvent {
    /// One request of an operation that goes to the transport, as an ``EventMonitor`` sees it.
    public struct Transfer: Sendable {
        /// The number of the transfer in the operation, from 1; followed redirects and retries count.
        public let number: Int
        /// The cause of the transfer.
        public let cause: TransferRecord.Cause
        /// The request as it is sent: complete, with its secrets.
        public let request: HTTPRequest

        /// Makes a description of a transfer.
        public init(number: Int, cause: TransferRecord.Cause, request: HTTPRequest) {
            self.number = number
            self.cause = cause
            self.request = request
        }
    }
}

extension OperationEvent.Transfer: DescribedMirror {
    /// The number, the cause and the request, without secrets.
    public var description: String { "transfer \(number) (\(cause)): \(request)" }
}

extension OperationEvent {
    /// The result of an operation, as an ``EventMonitor`` sees it.
    public enum Outcome: Sendable {
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
    }
}

extension OperationEvent.Outcome: CustomStringConvertible {
    /// The outcome in a line, without secrets.
    public var description: String {
        switch self {
        case .success: "success"
        case .failure(let error): "failure: \(error)"
        case .cancelled: "cancelled"
        }
    }
}
