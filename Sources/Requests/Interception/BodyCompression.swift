// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Compresses the bodies of requests, for servers that are known to take that.
///
/// ```swift
/// environment.interceptors.append(.compressingBodies())
/// environment.interceptors.append(.compressingBodies(from: 256).scoped { $0.url.path.hasPrefix("/events") })
/// ```
///
/// A server has no way to say beforehand that it takes `Content-Encoding: gzip`; one that doesn't answers 415 (RFC 9110,
/// 8.4). So it is for an API of which it is known. Put it before whatever signs the body.
///
/// Left as they are: bodies that have a `Content-Encoding`, or are a part of something by their `Content-Range`; small
/// ones, and those that don't become smaller, as images don't; files and streams, of which multipart forms with files
/// are some. Compression is that of the platform: on Linux, of the zlib that is there wherever Foundation is, though not
/// in statically linked programs. See ``isAvailable``.
public struct BodyCompression: Interceptor {
    /// How many bytes a body has at least that is compressed.
    public let minimumSize: Int

    /// Whether there is anything to compress with, in this process.
    ///
    /// Where there isn't, a request whose body would have been compressed fails with the code `unsupported`, and nothing
    /// is sent. Ask this first where bodies as they are will do, too.
    public static var isAvailable: Bool { Deflate.isAvailable }

    /// Makes an interceptor.
    ///
    /// - Parameter minimumSize: How many bytes a body has at least that is compressed; 1,024 by default, since of fewer
    ///   little is gained.
    public init(minimumSize: Int = 1024) {
        self.minimumSize = max(1, minimumSize)
    }

    /// Compresses the body, and says so in the header.
    ///
    /// - Throws: ``RequestError`` of code `encoding` for what the encoding of the body throws, and of code `unsupported`
    ///   where there is nothing to compress with.
    public func adapt(_ request: inout HTTPRequest, context: InterceptorContext) async throws {
        guard !request.body.isEmpty, !request.headers.contains(.contentEncoding),
            !request.headers.contains(.contentRange)
        else { return }
        let body: HTTPBody
        do { body = try request.body.resolved(using: context.makeEncoder) } catch {
            throw RequestError(encoding: error)
        }
        request.body = body
        guard case .data(let data) = body.content, data.count >= minimumSize else { return }
        guard let compressed = Gzip.compress(data) else {
            let reason = "there is nothing on this system to compress a body with"
            throw RequestError(.unsupported, phase: .building, reason: reason)
        }
        guard compressed.count < data.count else { return }
        request.body = HTTPBody(.data(compressed), headers: body.headers, mandatoryHeaders: body.mandatoryHeaders)
        request.headers.set(.contentEncoding("gzip"))
    }
}

extension Interceptor where Self == BodyCompression {
    /// Compresses the bodies of requests from a size on; 1,024 bytes by default.
    public static func compressingBodies(from minimumSize: Int = 1024) -> BodyCompression {
        BodyCompression(minimumSize: minimumSize)
    }
}
