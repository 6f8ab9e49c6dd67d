// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// An event of an operation, as an ``EventMonitor`` receives it.
public enum OperationEvent: Sendable {
    /// An operation was created; it may wait in its queue for a long time, or never start.
    case operationCreated
    /// The queue has started the operation.
    case operationStarted
    /// The operation waits for the result of the associated operation, whose transfer several operations share.
    case operationJoined(OperationEvent.Info)
    /// A request is about to be passed to the transport, unless the operation is cancelled before the monitor returns.
    case transferStarted(OperationEvent.Transfer)
    /// The head of the final response was received, and its content follows.
    case responseStarted(HTTPResponseHead, OperationEvent.Transfer)
    /// An informational response was received before the final response, such as 103 (Early Hints) with links to
    /// resources.
    ///
    /// Transports that don't see informational responses, such as a `URLSession`, report none.
    case informationalResponseReceived(HTTPResponseHead, OperationEvent.Transfer)
    /// The content of the response is complete, and is followed by trailer fields (RFC 9110, 6.5), such as a checksum.
    ///
    /// Transports that don't see trailer fields, such as a `URLSession`, report none.
    case trailersReceived(HTTPHeaders, OperationEvent.Transfer)
    /// The transfer has ended; its record contains the response or the error, and the metrics.
    case transferEnded(OperationEvent.Transfer, TransferRecord)
    /// The operation will retry after a delay, unless it is cancelled first.
    case retryScheduled(after: Duration, because: RequestError)
    /// The operation waits for a credential, because a refresh or a server's challenge requires it.
    ///
    /// If many operations wait for the same refresh, each of them reports this event.
    case authenticationStarted(Authorization.Step)
    /// The operation has stopped waiting. If no credential is granted, it was refused, or the operation was cancelled.
    case authenticationEnded(Authorization.Step, isGranted: Bool)
    /// The operation has its result.
    case operationEnded(OperationEvent.Outcome)
}

extension OperationEvent {
    /// A request that an operation passes to the transport, as an ``EventMonitor`` sees it.
    public struct Transfer: Sendable {
        /// The number of the transfer in the operation, starting at 1; followed redirects and retries count.
        public let number: Int
        /// The cause of the transfer.
        public let cause: TransferRecord.Cause
        /// The request as it is sent, complete and with its secrets.
        public let request: HTTPRequest

        /// Creates a description of a transfer.
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
        /// The operation has a value.
        case success
        /// The operation failed. An error that isn't a ``RequestError`` is wrapped in one, as its underlying error.
        case failure(RequestError)
        /// The operation was cancelled, which isn't an error.
        case cancelled

        /// Creates the outcome for an error: a cancellation or a failure.
        public init(_ error: any Error) {
            let error = RequestError(error)
            self = error.code == .cancelled ? .cancelled : .failure(error)
        }
    }
}

extension OperationEvent.Outcome: CustomStringConvertible {
    /// The outcome on one line, without secrets.
    public var description: String {
        switch self {
        case .success: "success"
        case .failure(let error): "failure: \(error)"
        case .cancelled: "cancelled"
        }
    }
}
