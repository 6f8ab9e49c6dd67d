// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The operation of a ``StreamRequest``: hands the content on as it comes, and is finished when the request has made its
/// value of it.
// Sendable: Operation demands that it be restated; what is added here is one lock.
open class StreamOperation<R: StreamRequest>: NetworkOperation<R>, @unchecked Sendable {
    private let consumption = Locked<Task<Void, Never>?>(nil)

    final override var keepsContentInMemory: Bool { false }

    final override func makeReceiver(
        for head: HTTPResponseHead,
        to sent: HTTPRequest,
        flow: FlowControl
    ) -> (any ContentReceiver)? {
        guard let request else { return nil }
        let core = StreamCore(limit: request.bufferSize) { flow.set(.buffer, $0) }
        consume(ResponseStream(head, core), by: request)
        return StreamReceiver(core)
    }

    final override func conclude(_ response: HTTPResponse<Data>) {
        // A response that had no content to hand on: from a cache, or changed by a validator.
        guard consumption.withLock({ $0 == nil }), let request else { return }
        consume(ResponseStream([response.body], head: response.head), by: request)
    }

    private func consume(_ stream: ResponseStream, by request: R) {
        let task = Task.detached { [self] in
            do {
                let value = try await request.process(stream)
                finish(with: .success(value))
            } catch {
                fail(error, in: .receiving)
            }
        }
        consumption.withLock { $0 = task }
        if result != nil { task.cancel() }
    }

    override func deliver() {
        super.deliver()
        consumption.withLock { $0 }?.cancel()
    }

    // What was consumed can't be taken back.
    final override var mayTryAgain: Bool { consumption.withLock { $0 == nil } }
}

/// Hands content to a stream, and fails the stream with the transfer.
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
