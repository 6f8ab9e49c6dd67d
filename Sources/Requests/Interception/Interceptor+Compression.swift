// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Interceptor where Self == ClosureInterceptor {
    /// Returns an interceptor that compresses request bodies with gzip, for servers that are known to support it.
    ///
    /// ```swift
    /// environment.interceptors.append(.compressingBodies())
    /// ```
    ///
    /// A server can't announce in advance whether it accepts `Content-Encoding: gzip`. If it doesn't accept it, it
    /// responds with 415 (RFC 9110, 8.4). Put this interceptor before one that signs the body.
    ///
    /// Bodies with a `Content-Encoding` or a `Content-Range` aren't compressed. Nor are small bodies, bodies that don't
    /// become smaller (such as images), files, streams, and multipart forms with files. On Linux, compression requires
    /// the zlib that comes with Foundation, which isn't available in statically linked programs: see
    /// ``HTTPBody/isCompressionAvailable``. Without zlib, a request whose body would be compressed fails with the code
    /// `unsupported`, and isn't sent.
    ///
    /// - Parameter minimumSize: The minimum size of a body in bytes, 1,024 by default. Compressing smaller bodies gains
    ///   little.
    /// - Returns: The interceptor.
    public static func compressingBodies(from minimumSize: Int = 1024) -> ClosureInterceptor {
        ClosureInterceptor(adapt: { request, context in
            try request.compressBody(from: max(1, minimumSize), context)
        })
    }
}

extension HTTPBody {
    /// Whether this process can compress request bodies.
    ///
    /// The value is `false` in statically linked programs on Linux, and `true` elsewhere. If your program may be linked
    /// statically, add ``Interceptor/compressingBodies(from:)`` only if the value is `true`.
    public static var isCompressionAvailable: Bool { Gzip.isAvailable }
}

extension HTTPRequest {
    /// Replaces the body with its compressed form if that is smaller, and sets `Content-Encoding`.
    ///
    /// - Throws: A ``RequestError`` with the code `encoding` if the body can't be encoded, or with the code
    ///   `unsupported` if this process can't compress.
    fileprivate mutating func compressBody(from minimumSize: Int, _ context: InterceptorChain.Context) throws {
        guard !body.isEmpty, !headers.contains(.contentEncoding), !headers.contains(.contentRange) else { return }
        do { body = try body.resolved(using: context.makeEncoder) } catch {
            throw RequestError(encoding: error)
        }
        guard case .data(let data) = body.content, data.count >= minimumSize else { return }
        guard let compressed = Gzip.compress(data) else {
            let reason = "zlib isn't available, so the body can't be compressed"
            throw RequestError(.unsupported, phase: .building, reason: reason)
        }
        guard compressed.count < data.count else { return }
        body = HTTPBody(.data(compressed), headers: body.headers, mandatoryHeaders: body.mandatoryHeaders)
        headers[.contentEncoding] = "gzip"
        // Remove the length of the uncompressed body.
        headers.remove(.contentLength)
    }
}
