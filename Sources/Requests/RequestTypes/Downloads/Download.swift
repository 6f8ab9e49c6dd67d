// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A ready-made download: a request, and the destination of its content.
///
/// ```swift
/// let film = Download("films/\(id)", to: .directory(movies))
/// let file = try await client.fetch(film)
/// ```
///
/// A download is a value: every modifier returns a changed copy. If a download deserves its own type, for example
/// because its value isn't the URL of the file, declare a ``DownloadRequest``.
public struct Download: DownloadRequest, ModifiableRequest {
    /// The URL of the file.
    public typealias Success = URL
    /// The library's error type.
    public typealias Failure = RequestError

    /// The request to send.
    public var http: HTTPRequest
    /// The destination of the content.
    public var destination: Download.Destination
    /// A token of an earlier download to resume; `nil` starts from the beginning.
    public var resumeToken: Download.ResumeToken?
    /// Whether the next download to the same file resumes an interrupted download, even without a token.
    public var resumesAutomatically = false
    /// The expected SHA-256 digest of the file, as 64 hexadecimal digits; `nil` accepts any digest.
    public var expectedSHA256: String?
    /// The options, which override the environment's options.
    public var options: RequestOptions
    /// The accepted status codes; 200 to 299 by default.
    public var validHTTPStatusCodes: [Int] {
        get { options.validStatusCodes ?? successfulStatusCodes }
        set { options.validStatusCodes = newValue }
    }

    /// Creates a download.
    ///
    /// - Parameters:
    ///   - http: The request to send.
    ///   - destination: The destination of the content; a temporary file by default.
    public init(_ http: HTTPRequest, to destination: Download.Destination = .temporary) {
        self.http = http
        self.destination = destination
        options = self.http.detachOptions()
    }

    /// Applies a change to the request.
    public mutating func change(_ change: @escaping @Sendable (inout HTTPRequest) -> Void) {
        change(&http)
    }

    /// The options, with defaults from ``http``.
    public var resolvedOptions: RequestOptions {
        options.over(http.options)
    }

    /// Creates a download of the resource at an absolute URL, or at a path whose interpolated values are escaped.
    ///
    /// - Parameters:
    ///   - path: The path; ``HTTPRequest/Path`` describes how interpolated values are escaped.
    ///   - destination: The destination of the content; a temporary file by default.
    public init(_ path: HTTPRequest.Path, to destination: Download.Destination = .temporary) {
        self.init(HTTPRequest(Address(path)), to: destination)
    }

    /// Creates a download of the resource at a `URL`, a list of path segments, or the path of a custom type.
    @_disfavoredOverload
    public init(_ path: some HTTPRequest.Path.Convertible, to destination: Download.Destination = .temporary) {
        self.init(path.requestPath, to: destination)
    }

    /// Identifies requests that have the same response, no matter what their destination is.
    public var identifier: String { http.identity }

    /// Passes ``http`` to the completion.
    public func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) {
        completion(.success(http))
    }

    /// Passes ``http`` to the completion, converted to Foundation's `URLRequest`.
    public func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
        completion(Result { try URLRequest(http.prepared(baseURL: nil)) })
    }
}

extension Download {
    /// Returns a copy that resumes an earlier download; `nil` starts from the beginning.
    public func resuming(from token: Download.ResumeToken?) -> Self {
        modified { $0.resumeToken = token }
    }

    /// Returns a copy that resumes an interrupted download to the same file without a token, even from an earlier
    /// process.
    ///
    /// The destination must be of the kind `file`; otherwise, the request fails with the code `invalidRequest`.
    public func resumingAutomatically(_ resumes: Bool = true) -> Self {
        modified { $0.resumesAutomatically = resumes }
    }

    /// Returns a copy that fails unless the file has this SHA-256 digest.
    ///
    /// - Parameter digest: 64 hexadecimal digits.
    /// - Returns: The copy.
    public func expecting(sha256 digest: String) -> Self {
        modified { $0.expectedSHA256 = digest }
    }
}

extension TypedRequest {
    /// Returns a download of the request's resource that has the request's options, but ignores its decoder.
    ///
    /// - Parameter destination: The destination of the content; a temporary file by default.
    /// - Returns: The download.
    public func download(to destination: Download.Destination = .temporary) -> Download {
        var download = Download(http, to: destination)
        download.options = options
        return download
    }
}

extension HTTPRequest {
    /// Returns a download of the request's resource.
    ///
    /// - Parameter destination: The destination of the content; a temporary file by default.
    /// - Returns: The download.
    public func download(to destination: Download.Destination = .temporary) -> Download {
        Download(self, to: destination)
    }
}
