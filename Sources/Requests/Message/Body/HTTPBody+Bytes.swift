// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPBody {
    /// Bytes in memory.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - type: What they are: any bytes by default. With nil the body says nothing about it: for an interceptor that
    ///     replaces a body by another form of it, such as a compressed one. Where nobody else says it either, some
    ///     transports call it a form.
    /// - Returns: The body.
    public static func data(_ data: Data, type: MediaType? = .octetStream) -> HTTPBody {
        HTTPBody(.data(data), type: type)
    }

    /// The bytes of a file, read while they are sent.
    ///
    /// That it is there is checked when the request is sent.
    ///
    /// - Parameters:
    ///   - url: Where the file is.
    ///   - type: What is in it; by default what its extension says, and any bytes where that says nothing.
    /// - Returns: The body.
    public static func file(_ url: URL, type: MediaType? = nil) -> HTTPBody {
        HTTPBody(.file(url), type: type ?? MediaType(fileExtension: url.pathExtension) ?? .octetStream)
    }

    /// The bytes of a stream, read while they are sent.
    ///
    /// - Parameters:
    ///   - stream: The stream, or what opens a new one for each attempt.
    ///   - type: What it gives: any bytes by default. With nil the body says nothing about it.
    /// - Returns: The body.
    public static func stream(_ stream: BodyStream, type: MediaType? = .octetStream) -> HTTPBody {
        HTTPBody(.stream(stream), type: type)
    }

    private init(_ content: Content, type: MediaType?) {
        do {
            self.init(content, headers: try type.map { [.contentType: try $0.validated().rawValue] } ?? [])
        } catch {
            self.init { throw error }
        }
    }
}
