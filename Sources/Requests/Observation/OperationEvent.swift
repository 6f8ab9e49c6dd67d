// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// An event of an operation, as an ``EventMonitor`` receives it.
public enum OperationEvent: Sendable {
    /// An operation was made; it may wait in its queue for long, or never start.
    case operationCreated
    /// The queue has started the operation.
    case operationStarted
    /// The operation waits for the result of this one, which does the work for all that share it.
    case operationJoined(OperationEvent.Info)
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
