// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Interceptor where Self == ClosureInterceptor {
    /// Compresses the bodies of requests with gzip, for servers that are known to accept that.
    ///
    /// ```swift
    /// environment.interceptors.append(.compressingBodies())
    /// ```
    ///
    /// A server can't say beforehand that it accepts `Content-Encoding: gzip`; one that doesn't responds with 415 (RFC
    /// 9110, 8.4). Put the interceptor before the one that signs the body.
    ///
    /// Not compressed are bodies that have a `Content-Encoding` or a `Content-Range`, small ones, those that don't
    /// become smaller, such as images, and files and streams, multipart forms with files included. On Linux,
    /// compression needs the zlib that Foundation brings, which statically linked programs don't have: see
    /// ``HTTPBody/isCompressionAvailable``. Without it, a request whose body would be compressed fails with the code
    /// `unsupported`, and nothing is sent.
    ///
    /// - Parameter minimumSize: The smallest byte count that is compressed, 1,024 by default; below that, little is
    ///   gained.
    /// - Returns: The interceptor.
    public static func compressingBodies(from minimumSize: Int = 1024) -> ClosureInterceptor {
        ClosureInterceptor(adapt: { request, context in
            try request.compressBody(from: max(1, minimumSize), context)
        })
    }
}

extension HTTPBody {
    /// Whether this process can compress the bodies of requests.
    ///
    /// It is false in statically linked programs on Linux, and true elsewhere. In a program that may be linked
    /// statically, add ``Interceptor/compressingBodies(from:)`` only if it is true.
    public static var isCompressionAvailable: Bool { Gzip.isAvailable }
}

extension HTTPRequest {
    /// Replaces the body by its compressed form, if that is smaller, and says so in the header.
    ///
    /// - Throws: ``RequestError`` of code `encoding` if the body can't be encoded, of code `unsupported` if this
    ///   process can't compress.
    fileprivate mutating func compressBody(from minimumSize: Int, _ context: InterceptorChain.Context) throws {
        guard !body.isEmpty, !headers.contains(.contentEncoding), !headers.contains(.contentRange) else { return }
        do { body = try body.resolved(using: context.makeEncoder) } catch {
            throw RequestError(encoding: error)
        }
        guard case .data(let data) = body.content, data.count >= minimumSize else { return }
        guard let compressed = Gzip.compress(data) else {
            let reason = "there is no zlib in this process to compress a body with"
            throw RequestError(.unsupported, phase: .building, reason: reason)
        }
        guard compressed.count < data.count else { return }
        body = HTTPBody(.data(compressed), headers: body.headers, mandatoryHeaders: body.mandatoryHeaders)
        headers[.contentEncoding] = "gzip"
        // The field had the length of the uncompressed body.
        headers.remove(.contentLength)
    }
}
