// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A ready-made download: what to send, and where the content goes.
///
/// ```swift
/// let film = Download("films/\(id)", to: .directory(movies))
/// let file = try await client.fetch(film)
/// ```
///
/// A value: every modifier makes a changed copy. Where a download deserves a type of its own, such as one whose value
/// isn't the URL of the file, declare a ``DownloadRequest``.
public struct Download: DownloadRequest, ModifiableRequest {
    /// Where the file is.
    public typealias Success = URL
    /// The library's own error.
    public typealias Failure = RequestError

    /// What to send.
    public var http: HTTPRequest
    /// Where the content goes.
    public var destination: DownloadDestination
    /// What an earlier download left, to go on with; nil starts from the beginning.
    public var resumeToken: ResumeToken?
    /// Whether what is interrupted is gone on with by the next download to the same file, without a token.
    public var resumesAutomatically = false
    /// The SHA-256 digest that the file must have, as 64 hexadecimal digits; nil for any.
    public var expectedSHA256: String?
    /// What to override of the environment.
    public var options: RequestOptions
    /// The statuses that are answers; 200 to 299 by default.
    public var validHTTPStatusCodes: [Int] {
        get { options.validStatusCodes ?? successfulStatusCodes }
        set { options.validStatusCodes = newValue }
    }

    /// Makes a download.
    ///
    /// - Parameters:
    ///   - http: What to send.
    ///   - destination: Where the content goes; a temporary file by default.
    public init(_ http: HTTPRequest, to destination: DownloadDestination = .temporary) {
        self.http = http
        self.destination = destination
        options = self.http.detachOptions()
    }

    /// Changes what is sent.
    public mutating func change(_ change: @escaping @Sendable (inout HTTPRequest) -> Void) {
        change(&http)
    }

    /// The options, and those of http where they say nothing.
    public var resolvedOptions: RequestOptions {
        http.attachment == nil ? options : options.over(http.options)
    }

    /// Makes a download of the resource at a path, in which each value is one piece, or at an absolute address.
    ///
    /// - Parameters:
    ///   - path: The path; ``RequestPath`` has the rules for values in it.
    ///   - destination: Where the content goes; a temporary file by default.
    public init(_ path: RequestPath, to destination: DownloadDestination = .temporary) {
        self.init(HTTPRequest(Address(path)), to: destination)
    }

    /// Makes a download of the resource at a `URL`, at a list of segments, or wherever a type of yours says.
    @_disfavoredOverload
    public init(_ path: some RequestPathConvertible, to destination: DownloadDestination = .temporary) {
        self.init(path.requestPath, to: destination)
    }

    /// Tells the download from others that could have another answer; the same for every destination.
    public var identifier: String { http.identity }

    /// Hands over http.
    public func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) {
        completion(.success(http))
    }

    /// Hands over http as Foundation's request.
    public func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
        completion(Result { try URLRequest(http.prepared(baseURL: nil)) })
    }
}

extension Download {
    /// A copy that goes on with what an earlier download left; nil starts from the beginning.
    public func resuming(from token: ResumeToken?) -> Self {
        modified { $0.resumeToken = token }
    }

    /// A copy that goes on, without a token, with what an interrupted download to the same file left, also that of a
    /// process that is gone.
    public func resumingAutomatically(_ resumes: Bool = true) -> Self {
        modified { $0.resumesAutomatically = resumes }
    }

    /// A copy that fails unless the file has this digest.
    ///
    /// - Parameter digest: 64 hexadecimal digits.
    /// - Returns: The copy.
    public func expecting(sha256 digest: String) -> Self {
        modified { $0.expectedSHA256 = digest }
    }
}

extension TypedRequest {
    /// A download of what the request asks for, with its options; what it would have decoded doesn't matter.
    ///
    /// - Parameter destination: Where the content goes; a temporary file by default.
    /// - Returns: The download.
    public func download(to destination: DownloadDestination = .temporary) -> Download {
        var download = Download(http, to: destination)
        download.options = options
        return download
    }
}

extension HTTPRequest {
    /// A download of what the request asks for.
    ///
    /// - Parameter destination: Where the content goes; a temporary file by default.
    /// - Returns: The download.
    public func download(to destination: DownloadDestination = .temporary) -> Download {
        Download(self, to: destination)
    }
}
