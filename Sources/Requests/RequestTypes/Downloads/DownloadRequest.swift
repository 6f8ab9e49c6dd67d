// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request whose content is written directly to a file, using constant memory whatever its size.
///
/// ```swift
/// struct Film: DownloadRequest {
///     typealias Success = URL
///     var destination: Download.Destination { .directory(movies) }
///     …
/// }
/// let file = try await queue.fetch(Film())
/// ```
///
/// The bytes are written to a hidden file next to the destination. When the file is complete, it is renamed in one
/// step. A retry resumes the transfer if the server supports ranges and confirms that the file is unchanged. A later
/// request with a ``resumeToken`` does the same, even in another process.
public protocol DownloadRequest: NetworkRequest {
    /// The type of the operation: ``DownloadOperation``, unless the request specifies a subclass.
    associatedtype OperationType = DownloadOperation<Self>

    /// The type of ``resumeToken``: ``Download/ResumeToken``, or an optional of it.
    associatedtype Resumption: OptionalConvertible<Download.ResumeToken> = Download.ResumeToken?
    /// The type of ``expectedSHA256``: `String` or `String?`.
    associatedtype ExpectedDigest: OptionalConvertible<String> = String?

    /// The type of ``destination``: ``Download/Destination`` or `URL`.
    associatedtype FileDestination = Download.Destination

    /// The destination of the file; ``Download/Destination/temporary`` by default.
    ///
    /// A `URL` names the file or, if it ends with a slash, the folder for it. A property of any other type doesn't
    /// compile.
    var destination: FileDestination { get }

    /// The destination in its canonical type; declare ``destination`` instead of implementing this property.
    var downloadDestination: Download.Destination { get }

    /// A token of an earlier download to resume; `nil`, the default, starts from the beginning.
    var resumeToken: Resumption { get }

    /// Whether the next download to the same file resumes an interrupted download without a token; `false` by default.
    ///
    /// If so, a failure, a cancellation or the end of the process leaves the partial file next to the destination. The
    /// destination must be a ``Download/Destination`` of the kind `file`; otherwise, the request fails with the code
    /// `invalidRequest`.
    var resumesAutomatically: Bool { get }

    /// The expected SHA-256 digest of the file, as 64 hexadecimal digits; `nil`, the default, accepts any digest.
    var expectedSHA256: ExpectedDigest { get }

    /// Creates the value from the file, which is already at its destination.
    ///
    /// The operation calls this method once, on a thread that is allowed to block.
    ///
    /// - Throws: The failure of the request; the file stays at its destination.
    func process(_ file: Download.File) throws -> Success
}

extension DownloadRequest where FileDestination == Download.Destination {
    /// A temporary file.
    public var destination: Download.Destination { .temporary }
    /// The destination.
    public var downloadDestination: Download.Destination { destination }
}

extension DownloadRequest where FileDestination == URL {
    /// The file or the folder at the URL.
    public var downloadDestination: Download.Destination {
        destination.hasDirectoryPath ? .directory(destination) : .file(destination)
    }
}

extension DownloadRequest {
    /// `false`.
    public var resumesAutomatically: Bool { false }
}

extension DownloadRequest where Resumption == Download.ResumeToken? {
    /// No token.
    public var resumeToken: Download.ResumeToken? { nil }
}

extension DownloadRequest where ExpectedDigest == String? {
    /// `nil`, which accepts any digest.
    public var expectedSHA256: String? { nil }
}

extension Download.ResumeToken: OptionalConvertible {
    /// The token.
    public var asOptional: Download.ResumeToken? { self }
}

extension DownloadRequest where Success == URL {
    /// Returns the URL of the file.
    public func process(_ file: Download.File) throws -> URL { file.url }
}

extension DownloadRequest where Success == Download.File {
    /// Returns the file.
    public func process(_ file: Download.File) throws -> Download.File { file }
}

/// The operation of a ``DownloadRequest``.
///
/// The operation writes the content to a file, resumes interrupted transfers, and finishes when the file is at its
/// destination.
// Sendable: a subclass of `Operation` must restate the conformance. This class adds only one lock.
open class DownloadOperation<R: DownloadRequest>: NetworkOperation<R>, @unchecked Sendable {
    fileprivate let download = Locked<PartialDownload?>(nil)

    /// Creates an operation.
    public required init(_ configuration: OperationConfiguration<R>) {
        var configuration = configuration
        configuration.kind = FileHandling<R>.self
        super.init(configuration)
    }

    deinit {
        download.withLock { $0 }?.abandon()
    }

    /// Adds the header fields that request the missing part; an override must call `super`.
    ///
    /// - Throws: Any error that a subclass throws.
    open override func prepare(_ request: inout HTTPRequest) throws {
        try super.prepare(&request)
        // Add nothing if the request is only prepared for other code, because this operation then receives no response
        // that could continue the partial file.
        guard let own = self.request, isExecuting else { return }
        let fields = try download(for: own, sending: request).fields(addedTo: request.headers)
        for field in fields { request.headers.set(field) }
    }

    /// Returns the operation's only download, which is created with the first request.
    fileprivate final func download(for request: R, sending sent: HTTPRequest) throws -> PartialDownload {
        if let download = download.withLock({ $0 }) { return download }
        guard result == nil else { throw RequestError(.cancelled, phase: .building) }
        guard !request.resumesAutomatically || request.downloadDestination.fixedFile != nil else {
            let reason = "only a download to a `file` destination can resume automatically"
            throw RequestError(.invalidRequest, phase: .building, reason: reason)
        }
        let kind: PartialDownload.Kind =
            sent.headers.contains(.range) ? .callerRange : sent.method == .get ? .resumable : .full
        let new = PartialDownload(request, kind, url: sent.url, now: environment.now)
        download.withLock { $0 = new }
        // A cancellation in the meantime couldn't close the new download, so close it here.
        if result != nil { new.close() }
        return new
    }

    // MARK: Resuming

    /// A token that resumes the download after a failure or a cancellation.
    ///
    /// The token is `nil` while the download may still succeed, and if the server doesn't support resuming. The partial
    /// file is deleted together with the operation and its last token, unless a token was stored, a download was
    /// started with a token, or the request resumes automatically.
    public final var resumeToken: Download.ResumeToken? {
        guard case .failure? = result else { return nil }
        // A download that never began keeps the token of its request.
        guard let download = download.withLock({ $0 }) else { return request?.resumeToken.asOptional }
        return download.token
    }

    /// Cancels the operation, and passes its resume token to the completion.
    public final override func cancel(
        producingResumeToken completion: @escaping @Sendable (Download.ResumeToken?) -> Void
    ) {
        cancel()
        addCompletion(on: .global()) { _ in completion(self.resumeToken) }
    }
}

/// Writes the content to a file, and requests the missing parts.
private struct FileHandling<Request: DownloadRequest>: NetworkHandling {
    let operation: DownloadOperation<Request>

    static var content: ContentDelivery { .streamed }

    private var download: PartialDownload? { operation.download.withLock { $0 } }

    func acceptsHead(_ head: HTTPResponseHead) -> Bool {
        acceptsStatus(of: head) || download?.handlesResponse(head) ?? false
    }

    func makeReceiver(
        for head: HTTPResponseHead,
        to sent: HTTPRequest,
        flow: FlowControl
    ) throws -> (any ContentReceiver)? {
        guard let request = operation.request else { return nil }
        let limit = operation.configuration.options.maximumBodySize ?? .max
        do {
            return try operation.download(for: request, sending: sent).makeReceiver(head, flow: flow, limit: limit)
        } catch let error as FileError {
            throw RequestError(error)
        }
    }

    /// Sends the request repeatedly until the file is complete, either for the entire file or for the rest of it.
    func send(_ request: HTTPRequest, through next: InterceptorChain) async throws -> RawResponse {
        var (request, next) = (request, next)
        while true {
            let result: Result<RawResponse, any Error>
            do { result = .success(try await next(request)) } catch { result = .failure(error) }
            guard let download, operation.record.last?.isDelivered == true,
                let reason = try download.transferEnded(isComplete: (try? result.get()) != nil)
            else { return try result.get() }
            guard request.body.isReplayable, !Task.isCancelled else { throw reason.error }
            let error = operation.addContext(to: reason.error, in: .receiving)
            operation.report(.retryScheduled(after: .zero, because: error))
            for name in [HTTPField.Name.range, .ifRange] { request.headers.remove(name) }
            for field in download.fields(addedTo: request.headers) { request.headers.set(field) }
            next = next.withCause(.retry)
        }
    }

    func conclude(_ response: RawResponse, of sent: HTTPRequest) async throws(RunFailure) {
        guard let request = operation.request else { return }
        do {
            try deliver(response, of: sent)
            guard let download else { throw RequestError(.emptyResponse, phase: .receiving) }
            let digest = request.expectedSHA256.asOptional
            let (url, length) = try download.complete(expecting: digest) { operation.result == nil }
            // If the operation was cancelled in the meantime, it already has a result, so remove the file.
            guard operation.result == nil else { return download.removeCompletedFile(url) }
            let file = Download.File(url: url, length: length, response: response.head)
            if !operation.finish(with: .success(try request.process(file))) { download.removeCompletedFile(url) }
        } catch let error as FileError {
            throw RunFailure(RequestError(error), in: .receiving)
        } catch let error as RequestError {
            throw RunFailure(error, in: error.phase)
        } catch {
            throw RunFailure(error, in: .decoding)
        }
    }

    /// Writes the content of a response that needed no transfer, such as a cached response, as if it had been received.
    private func deliver(_ response: RawResponse, of sent: HTTPRequest) throws {
        guard case .data(let content) = response.body else { return }
        // A response that contains no part of the file, such as a 202 to a range request, doesn't complete it.
        guard let receiver = try makeReceiver(for: response.head, to: sent, flow: FlowControl()) else {
            let reason = "the response doesn't contain any content of the file"
            throw RequestError(.emptyResponse, phase: .receiving, reason: reason)
        }
        try receiver.receive(content)
        receiver.end(nil)
    }

    func willDeliver(_ result: OperationCore.AnyResult?) {
        guard let result, case .success = Owner.unboxed(result) else { return download?.close() ?? () }
    }
}

extension Download {
    /// A downloaded file, complete and at its destination.
    public struct File: Sendable {
        /// The location of the file.
        public let url: URL
        /// The byte count of the file.
        public let length: Int64
        /// The status and the headers of the response that completed the file.
        public let response: HTTPResponseHead

        /// Creates a description of a downloaded file.
        public init(url: URL, length: Int64, response: HTTPResponseHead) {
            self.url = url
            self.length = length
            self.response = response
        }
    }
}
