// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request that makes its value while the content arrives: a feed, a log, an answer too large for memory.
///
/// ```swift
/// struct CountLines: StreamRequest {
///     typealias Success = Int
///     …
///     func process(_ stream: ResponseStream) async throws -> Int {
///         try await stream.lines.reduce(0) { count, _ in count + 1 }
///     }
/// }
/// ```
///
/// A response with a status that isn't accepted is a failure with its content, as with every request; `process` gets
/// only good ones. From then on there is no retry: an error of the transfer comes out of the stream, after the content
/// that had arrived, and the outcome of `process` is that of the operation.
public protocol StreamRequest: NetworkRequest {
    /// ``StreamOperation``, unless the request brings a subclass.
    associatedtype OperationType = StreamOperation<Self>

    /// The number of unconsumed bytes above which the transfer pauses; 256 KiB by default.
    var bufferSize: Int { get }

    /// Makes the value while the content arrives.
    ///
    /// The task that it runs in is cancelled with the operation. Returning before the end cancels the transfer.
    ///
    /// - Throws: The failure of the request. An error of the stream has the request, the response and the transfers.
    func process(_ stream: ResponseStream) async throws -> Success
}

extension StreamRequest {
    /// 256 KiB.
    public var bufferSize: Int { 256 * 1024 }
}

/// The operation of a ``StreamRequest``: passes the content on as it arrives, and is finished when the request has made
/// its value.
// Sendable: Operation requires restating it; the only additions here are a task, and values that come once.
open class StreamOperation<R: StreamRequest>: NetworkOperation<R>, @unchecked Sendable {
    /// The stream, for the consumer; `nil` if there is none.
    fileprivate let stream = OneShot<Consumption?>()
    fileprivate let consumer: Locked<(hasBegun: Bool, core: StreamCore?, task: Task<Void, Never>)>

    fileprivate struct Consumption: Sendable {
        let operation: StreamOperation
        let request: R
        let stream: ResponseStream
    }

    /// Creates an operation.
    public required init(_ configuration: OperationConfiguration<R>) {
        // Made here, for the task-locals of the caller; it waits for the head of the response.
        let task = Task { [stream] in
            guard let consumption = await stream.value() else { return }
            await consumption.operation.finish { try await consumption.request.process(consumption.stream) }
        }
        consumer = Locked((false, nil, task))
        var configuration = configuration
        configuration.kind = StreamHandling<R>.self
        super.init(configuration)
    }

    deinit { stream.fill(nil) }
}

/// Passes the content on to the request's `process` as it arrives.
private struct StreamHandling<Request: StreamRequest>: NetworkHandling {
    let operation: StreamOperation<Request>

    static var content: ContentDelivery { .openEnded }

    // Consumed content can't be taken back.
    var isRetryable: Bool { !operation.consumer.withLock { $0.hasBegun } }

    func makeReceiver(
        for head: HTTPResponseHead,
        to sent: HTTPRequest,
        flow: FlowControl
    ) throws -> (any ContentReceiver)? {
        guard let request = operation.request else { return nil }
        if let error = head.unrequestedPartError(of: sent) { throw error }
        let maximum = operation.configuration.options.maximumBodySize ?? .max
        let context = ReceivingContext(of: operation)
        let core = StreamCore(limit: request.bufferSize, maximum: maximum, in: context) { flow.set(.buffer, $0) }
        try begin(ResponseStream(head, core), core, request)
        return core
    }

    func conclude(_ response: RawResponse, of sent: HTTPRequest) async throws(RunFailure) {
        // A response that was answered without a transfer, or changed by a validator.
        guard case .data(let content) = response.body, isRetryable, let request = operation.request else { return }
        do {
            let core = StreamCore(of: [content], in: ReceivingContext(of: operation))
            try begin(ResponseStream(response.head, core), nil, request)
        } catch {
            throw RunFailure(error, in: .receiving)
        }
    }

    /// Lets the request consume a stream.
    ///
    /// - Throws: An error if it already consumes one: an interceptor has sent the request more than once.
    private func begin(_ stream: ResponseStream, _ core: StreamCore?, _ request: Request) throws(RequestError) {
        let isFirst = operation.consumer.withLock { consumer in
            guard !consumer.hasBegun else { return false }
            (consumer.hasBegun, consumer.core) = (true, core)
            return true
        }
        guard isFirst else {
            let reason = "the request was sent again while its stream was being consumed"
            throw RequestError(.unsupported, phase: .receiving, reason: reason)
        }
        // A result that came meanwhile found no stream to end, and the consumer's task is cancelled: its error comes
        // first.
        if operation.result != nil { endConsumption() }
        operation.stream.fill(Owner.Consumption(operation: operation, request: request, stream: stream))
    }

    /// Ends the consumer's work, which isn't needed any more.
    ///
    /// The consumer gets the error of the operation. If the operation was cancelled, the consumer's task is cancelled
    /// too.
    private func endConsumption() {
        let (_, core, task) = operation.consumer.withLock { $0 }
        if let failure = operation.failure, failure.code != .cancelled { core?.end(failure) }
        task.cancel()
    }

    func willDeliver(_ result: OperationCore.AnyResult?) {
        // Before the transfer is cancelled, whose error would reach the consumer first.
        endConsumption()
    }

    // The consumer gets an error of the transfer after the content that had arrived, and its outcome is the operation's.
    func fail(_ failure: RunFailure) {
        if operation.consumer.withLock({ $0.core })?.hasFailed != true { operation.fail(failure) }
    }
}
