// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension URLRequest {
    /// Makes a Foundation request of a request, for another library.
    ///
    /// The content is encoded here. A file and a stream become `httpBodyStream`, opened, with a `Content-Length` if
    /// their length is known; otherwise they would be sent in chunks. Such a result can be sent once. A stream that can
    /// be sent once only is handed over, and can't be sent by the request any more. The order of the headers is lost,
    /// since Foundation has none, and repeated fields are joined.
    ///
    /// - Throws: Any error that the encoding of the body throws, and ``InvalidValue`` for a file that can't be read.
    public init(_ request: HTTPRequest) throws {
        var request = request
        let implied = request.applyHeaders(of: [])
        if request.body.isDeferred { try request.resolveBody(implied: implied) }
        try self.init(resolved: request)
    }

    /// Creates a Foundation request from a request with encoded content and complete fields.
    ///
    /// - Throws: Any error of a stream that can't be opened, and ``InvalidValue`` for a file that can't be read. On
    ///   Linux, a ``RequestError`` of code `unsupported` for an asynchronous sequence.
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
            // A session there reads content on the one queue of all sessions, which it would block.
            guard !stream.isAsynchronous else {
                let reason = "a URLRequest can't have the content of an asynchronous sequence: write it to a file"
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
