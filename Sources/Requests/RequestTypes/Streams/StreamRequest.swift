// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request that creates its value while the content arrives, such as a feed, a log, or a response too large for
/// memory.
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
/// As with every request, a response with an unacceptable status makes the request fail with an error that contains the
/// content. `process` gets only successful responses. Once `process` is called, there is no retry. If the transfer
/// fails, the stream throws the error after the content that has arrived. The outcome of `process` is the outcome of
/// the operation.
public protocol StreamRequest: NetworkRequest {
    /// The type of the operation: ``StreamOperation``, unless the request specifies a subclass.
    associatedtype OperationType = StreamOperation<Self>

    /// The number of unconsumed bytes above which the transfer pauses; 256 KiB by default.
    var bufferSize: Int { get }

    /// Creates the value while the content arrives.
    ///
    /// Cancelling the operation cancels the task that runs this method. Returning before the end of the stream cancels
    /// the transfer.
    ///
    /// - Throws: The failure of the request. An error thrown by the stream includes the request, the response and the
    ///   transfers.
    func process(_ stream: ResponseStream) async throws -> Success
}

extension StreamRequest {
    /// 256 KiB.
    public var bufferSize: Int { 256 * 1024 }
}

/// The operation of a ``StreamRequest``.
///
/// The operation passes on the content as it arrives, and finishes when the request has created its value.
// Sendable: a subclass of `Operation` must restate the conformance. This class adds a task, and values that are set
// once.
open class StreamOperation<R: StreamRequest>: NetworkOperation<R>, @unchecked Sendable {
    /// The stream for the consumer; `nil` if there is none.
    fileprivate let stream = OneShot<Consumption?>()
    fileprivate let consumer: Locked<(hasBegun: Bool, core: StreamCore?, task: Task<Void, Never>)>

    fileprivate struct Consumption: Sendable {
        let operation: StreamOperation
        let request: R
        let stream: ResponseStream
    }

    /// Creates an operation.
    public required init(_ configuration: OperationConfiguration<R>) {
        // Create the task here, so that it inherits the caller's task-local values. It waits for the head of the
        // response.
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

/// Passes the content to the request's `process` as it arrives.
private struct StreamHandling<Request: StreamRequest>: NetworkHandling {
    let operation: StreamOperation<Request>

    static var content: ContentDelivery { .openEnded }

    // Once the request consumes the content, a retry couldn't take it back.
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
        // Handle a response that needed no transfer, or that a validator has changed.
        guard case .data(let content) = response.body, isRetryable, let request = operation.request else { return }
        do {
            let core = StreamCore(of: [content], in: ReceivingContext(of: operation))
            try begin(ResponseStream(response.head, core), nil, request)
        } catch {
            throw RunFailure(error, in: .receiving)
        }
    }

    /// Starts the request's `process` with a stream.
    ///
    /// - Throws: An error if `process` has already started, because an interceptor has sent the request more than once.
    private func begin(_ stream: ResponseStream, _ core: StreamCore?, _ request: Request) throws(RequestError) {
        let isFirstCall = operation.consumer.withLock { consumer in
            guard !consumer.hasBegun else { return false }
            (consumer.hasBegun, consumer.core) = (true, core)
            return true
        }
        guard isFirstCall else {
            let reason = "the request was sent again while its stream was being consumed"
            throw RequestError(.unsupported, phase: .receiving, reason: reason)
        }
        // If the operation got its result in the meantime, the consumer's task is already cancelled. End the stream
        // with the operation's error, so that the consumer gets this error rather than its own cancellation.
        if operation.result != nil { endConsumption() }
        operation.stream.fill(Owner.Consumption(operation: operation, request: request, stream: stream))
    }

    /// Ends the consumer's work, which is no longer needed, and cancels its task.
    ///
    /// The consumer gets the operation's error unless the operation was cancelled.
    private func endConsumption() {
        let (_, core, task) = operation.consumer.withLock { $0 }
        if let failure = operation.failure, failure.code != .cancelled { core?.end(failure) }
        task.cancel()
    }

    func willDeliver(_ result: OperationCore.AnyResult?) {
        // End the stream before the transfer is cancelled, or the consumer would get the transfer's error first.
        endConsumption()
    }

    // If the transfer failed, the consumer gets the error after the received content, and determines the operation's
    // outcome.
    func fail(_ failure: RunFailure) {
        if operation.consumer.withLock({ $0.core })?.hasFailed != true { operation.fail(failure) }
    }
}
