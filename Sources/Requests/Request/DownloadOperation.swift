// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The operation of a ``DownloadRequest``: writes the content to a file, goes on where a transfer broke, and is finished
/// when the file is at its destination.
// Sendable: Operation demands that it be restated; what is added here is one lock.
open class DownloadOperation<R: DownloadRequest>: NetworkOperation<R>, @unchecked Sendable {
    private struct State: Sendable {
        var download: PartialDownload?
        var isHandedOver = false
    }

    private let state = Locked(State())

    deinit {
        let (download, isHandedOver) = state.withLock { ($0.download, $0.isHandedOver) }
        download?.abandon(keeping: isHandedOver)
    }

    final override var keepsContentInMemory: Bool { false }

    /// Asks for what is missing; a subclass calls `super`.
    ///
    /// - Throws: What a subclass throws.
    open override func prepare(_ request: inout HTTPRequest) throws {
        try super.prepare(&request)
        // Who asks for a part knows what to do with it.
        guard let own = self.request, !request.headers.contains(.range) else { return }
        let url = request.url
        let download = state.withLock { $0.download } ?? PartialDownload(own, url: url, now: environment.now)
        state.withLock { $0.download = download }
        for field in download.fields() { request.headers.set(field) }
    }

    final override func claims(_ head: HTTPResponseHead) -> Bool {
        super.claims(head) || state.withLock { $0.download }?.concerns(head) ?? false
    }

    final override func makeReceiver(
        for head: HTTPResponseHead,
        to sent: HTTPRequest,
        flow: FlowControl
    ) throws -> (any ContentReceiver)? {
        guard let request else { return nil }
        let download = state.withLock { state in
            let download = state.download ?? PartialDownload(request, url: sent.url, now: environment.now)
            state.download = download
            return download
        }
        let limit = request.options.maximumBodySize ?? .max
        return try download.begin(head, from: sent.url, flow: flow, limit: limit)
    }

    final override func review(_ error: RequestError?) -> Review {
        guard run.withLock({ $0.receiver != nil }), let download = state.withLock({ $0.download }) else {
            return .usual
        }
        let (reason, failure) = download.review(error)
        if let reason { return .again(RequestError(.badResponse, phase: .receiving, reason: reason.rawValue)) }
        return failure.map { .failure($0) } ?? .usual
    }

    final override func conclude(_ response: HTTPResponse<Data>) {
        guard let request, let download = state.withLock({ $0.download }) else { return }
        // An answer without the content, such as 202 to a request for the rest, makes nothing whole.
        guard run.withLock({ $0.receiver != nil }) else {
            let reason = "the answer has nothing of the file"
            return fail(RequestError(.emptyResponse, phase: .receiving, reason: reason), in: .receiving)
        }
        do {
            let (url, length) = try download.complete(expecting: request.expectedSHA256)
            let file = DownloadedFile(url: url, length: length, response: response.head)
            finish(with: .success(try request.process(file)))
        } catch let error as DownloadError {
            fail(RequestError(error), in: .receiving)
        } catch {
            fail(error, in: .decoding)
        }
    }

    // MARK: Resuming

    /// What the download can be gone on with after a failure or a cancel; nil as long as it may end well, and where the
    /// server gives nothing to go on with.
    ///
    /// Who takes it has the partial file, and removes it with ``ResumeToken/discard()`` where it isn't wanted. Nobody
    /// has it, it goes with the operation.
    public final var resumeToken: ResumeToken? {
        guard case .failure? = result, let download = state.withLock({ $0.download }) else { return nil }
        let token = download.token
        if token != nil { state.withLock { $0.isHandedOver = true } }
        return token
    }

    /// Cancels the operation, and gives what it can be gone on with.
    public final override func cancel(producingResumeToken completion: @escaping @Sendable (ResumeToken?) -> Void) {
        cancel()
        let end = BlockOperation { completion(self.resumeToken) }
        end.addDependency(self)
        ResumeTokens.queue.addOperation(end)
    }
}

/// Where those wait who want a token: the transfer has to have ended, and a cancelled one ends soon.
private enum ResumeTokens {
    static let queue = OperationQueue()
}
