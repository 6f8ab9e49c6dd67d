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
/// only good ones. After it has begun to consume the stream, there is no retry.
public protocol StreamRequest: NetworkRequest {
    /// ``StreamOperation``, unless the request brings a subclass.
    associatedtype OperationType = StreamOperation<Self>

    /// The number of unconsumed bytes above which the transfer pauses; 256 KiB by default.
    var bufferSize: Int { get }

    /// Makes the value while the content arrives.
    ///
    /// The task that it runs in is cancelled with the operation. Returning before the end cancels the transfer.
    ///
    /// - Throws: The failure of the request. An error of the stream that it rethrows is the failure of the transfer.
    func process(_ stream: ResponseStream) async throws -> Success
}

extension StreamRequest {
    /// 256 KiB.
    public var bufferSize: Int { 256 * 1024 }
}

/// The operation of a ``StreamRequest``: passes the content on as it arrives, and is finished when the request has made
/// its value.
// Sendable: Operation requires restating it; the only addition here is one lock.
open class StreamOperation<R: StreamRequest>: NetworkOperation<R>, @unchecked Sendable {
    private struct Consumption: Sendable {
        let core: StreamCore?
        var task: Task<Void, Never>?
    }

    private let consumption = Locked<Consumption?>(nil)

    final override var keepsContentInMemory: Bool { false }
    final override var isOpenEnded: Bool { true }

    final override func makeReceiver(
        for head: HTTPResponseHead,
        to sent: HTTPRequest,
        flow: FlowControl
    ) throws -> (any ContentReceiver)? {
        guard let request else { return nil }
        let core = StreamCore(limit: request.bufferSize) { flow.setBuffer($0) }
        try consume(ResponseStream(head, core, makeDecoder: environment.makeDecoder), core, by: request)
        return StreamReceiver(core)
    }

    final override func conclude(
        _ response: HTTPResponse<ResponseContent>,
        of sent: HTTPRequest,
        in attempt: CallAttempt
    ) async throws(CallFailure) {
        // A response that was answered without a transfer, or changed by a validator.
        guard case .data(let content) = response.body, consumption.withLock({ $0 == nil }), let request else { return }
        do {
            let core = StreamCore(of: [content])
            let stream = ResponseStream(response.head, core, makeDecoder: environment.makeDecoder)
            try consume(stream, nil, by: request)
        } catch {
            throw CallFailure(error, in: .receiving)
        }
    }

    /// Lets the request consume a stream.
    ///
    /// - Throws: An error if it already consumes one: an interceptor has sent the request more than once.
    private func consume(_ stream: ResponseStream, _ core: StreamCore?, by request: R) throws(RequestError) {
        let isFirst = consumption.withLock { consumption in
            guard consumption == nil else { return false }
            consumption = Consumption(core: core)
            return true
        }
        guard isFirst else {
            let reason = "the request was sent again while its stream was being consumed"
            throw RequestError(.unsupported, phase: .receiving, reason: reason)
        }
        let task = CallExecutor.task { [self] in
            do {
                let value = try await request.process(stream)
                finish(with: .success(value))
            } catch let error as RequestError where error.code == .cancelled {
                // A task of the consumer's own was cancelled; if it were this operation, there would be a result.
                fail(CallFailure(error.underlying ?? error, in: .receiving))
            } catch {
                fail(CallFailure(error, in: .receiving))
            }
        }
        consumption.withLock { $0?.task = task }
        if result != nil { endConsumption() }
    }

    /// Ends the consumer's work, which isn't needed any more.
    ///
    /// The consumer gets the error of the operation. If the operation was cancelled, the consumer's task is cancelled
    /// too.
    private func endConsumption() {
        guard let consumption = consumption.withLock({ $0 }) else { return }
        if let failure = call.failure as? RequestError, failure.code != .cancelled { consumption.core?.end(failure) }
        consumption.task?.cancel()
    }

    override func didTell(_ settled: SettledOperation) {
        // Before the transfer is cancelled, whose error would reach the consumer first.
        endConsumption()
        super.didTell(settled)
    }

    // Consumed content can't be taken back.
    final override var mayTryAgain: Bool { consumption.withLock { $0 == nil } }
}

/// Passes content to a stream, and fails the stream with the transfer.
private final class StreamReceiver: ContentReceiver {
    private let core: StreamCore
    private let received = Locked<Int64>(0)

    init(_ core: StreamCore) {
        self.core = core
    }

    var count: Int64? { received.withLock { $0 } }

    func receive(_ data: Data) throws {
        received.withLock { $0 += Int64(data.count) }
        try core.put(data)
    }

    func end(_ error: RequestError?) { core.end(error) }
}
