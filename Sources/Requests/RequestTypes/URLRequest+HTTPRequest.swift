// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension URLRequest {
    /// Creates a Foundation request from an ``HTTPRequest``, for another library.
    ///
    /// The content is encoded immediately. A file or stream becomes an open `httpBodyStream`, with a `Content-Length`
    /// if its length is known; otherwise it would be sent in chunks. Such a request can be sent only once. A stream
    /// that can be sent only once is passed on, and the original request can no longer send it. Foundation doesn't
    /// preserve the order of headers, and repeated header fields are joined.
    ///
    /// - Throws: Any error that the encoding of the body throws, and ``InvalidValue`` for a file that can't be read.
    public init(_ request: HTTPRequest) throws {
        var request = request
        let implied = request.applyHeaders(of: [])
        if request.body.isDeferred { try request.resolveBody(implied: implied) }
        try self.init(resolved: request)
    }

    /// Creates a Foundation request from a request whose content is encoded and whose header fields are complete.
    ///
    /// - Throws: Any error thrown while opening a stream, and ``InvalidValue`` for a file that can't be read. On Linux,
    ///   a ``RequestError`` with the code `unsupported` for an asynchronous sequence.
    init(resolved request: HTTPRequest) throws {
        self.init(withoutStreamsOf: request)
        switch request.body.content {
        case .none, .data: break
        case .file(let url):
            let size = try url.fileSize()
            httpBodyStream = try request.body.content.open()
            declare(length: size)
        case .stream(let stream):
            #if canImport(FoundationNetworking)
            // On Linux, all sessions read content on the same queue, and an asynchronous sequence would block that
            // queue.
            guard !stream.isAsynchronous else {
                let reason = "a URLRequest can't contain an asynchronous sequence: write the content to a file first"
                throw RequestError(.unsupported, phase: .building, reason: reason, request: request)
            }
            #endif
            httpBodyStream = try stream.open()
            declare(length: stream.length)
        }
    }

    private mutating func declare(length: Int64?) {
        guard let length, value(forHTTPHeaderField: "Content-Length") == nil else { return }
        setValue("\(length)", forHTTPHeaderField: "Content-Length")
    }
}
