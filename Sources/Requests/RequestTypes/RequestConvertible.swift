// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request that consists of the HTTP request to send and the decoder of its response.
///
/// `TypedRequest` and ``HTTPRequest`` are ready-made requests of this kind. Declare a type of your own if a request
/// deserves one, and group such types with protocols that inherit from this protocol:
///
/// ```swift
/// protocol GitHubRequest: RequestConvertible {}
/// extension GitHubRequest {
///     func resource(_ path: String) -> HTTPRequest { HTTPRequest("https://api.github.com/\(raw: path)") }
/// }
///
/// struct RateLimitRequest: GitHubRequest {
///     typealias Success = RateLimit
///     var http: HTTPRequest { resource("rate_limit") }
/// }
/// ```
///
/// There is a default decoder if `Success` is `Decodable`, `String`, `Data` or `Void`.
public protocol RequestConvertible: DataRequest {
    /// The request to send.
    var http: HTTPRequest { get }
    /// The decoder of the response.
    var responseDecoder: ResponseDecoder<Success> { get }
}

extension RequestConvertible {
    /// Identifies requests that have the same response.
    ///
    /// The identifier includes everything that can change the response: the method, the URL, the header fields that
    /// servers depend on, the credentials and the content. It contains secrets only as a digest.
    public var identifier: String { changedHTTP.identity }

    /// The options, combined with the options of `http`.
    public var resolvedOptions: RequestOptions {
        options.over(http.options)
    }

    /// The request to send, with the changes made by modifiers.
    var changedHTTP: HTTPRequest {
        var request = http
        // `resolvedOptions` also includes the modifiers of the requests that this request is built from.
        resolvedOptions.change(&request)
        return request
    }

    /// Passes `http` to the completion, and sets `Accept` to the media types of the decoder unless the field is
    /// present.
    public func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) {
        var request = http
        request.setAccept(responseDecoder.accepted, unless: environment.headers)
        completion(.success(request))
    }

    /// Passes `http` to the completion as a `URLRequest`.
    public func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
        completion(Result { try toURLRequest() })
    }

    /// Creates the value with the decoder.
    public func process(_ response: HTTPResponse<Data>) throws -> Success {
        try responseDecoder.decode(response)
    }

    /// Creates the value from content only, as if it came from a response with status 200 and no headers.
    public func processData(_ data: Data) throws -> Success {
        try process(HTTPResponse(head: HTTPResponseHead(status: .ok), body: data))
    }

    /// Returns the request as a `URLRequest`, for use with any other library.
    ///
    /// Files, streams and forms with files become `httpBodyStream`. A stream that can be sent only once is passed on,
    /// and the request itself can no longer be sent. A known length becomes a `Content-Length` field. Foundation
    /// doesn't preserve the order of headers, and repeated headers are joined.
    ///
    /// - Parameter baseURL: The URL that a relative URL is appended to; `nil`, the default, requires an absolute URL.
    /// - Returns: The `URLRequest`.
    /// - Throws: ``InvalidValue`` for a request that can't be sent, and for a file that can't be read; any error that
    ///   the body or the authentication throws.
    public func toURLRequest(baseURL: URL? = nil) throws -> URLRequest {
        try URLRequest(prepared(baseURL: baseURL))
    }
}

extension RequestConvertible where Success == Void {
    /// Ignores the content.
    public var responseDecoder: ResponseDecoder<Void> { .none }
}

extension RequestConvertible where Success == Data {
    /// Leaves the content unchanged.
    public var responseDecoder: ResponseDecoder<Data> { .data }
}

extension RequestConvertible where Success == String {
    /// Decodes text.
    public var responseDecoder: ResponseDecoder<String> { .text }
}

extension RequestConvertible where Success: Decodable {
    /// Decodes JSON.
    public var responseDecoder: ResponseDecoder<Success> { .json }
}

extension RequestConvertible where Success: HTTPDecodableResponse {
    /// Uses the decoding that the type defines itself.
    public var responseDecoder: ResponseDecoder<Success> { .custom }
}

extension RequestConvertible where Success: Decodable & HTTPDecodableResponse {
    /// Uses the decoding that the type defines itself, which takes precedence over `Decodable`.
    public var responseDecoder: ResponseDecoder<Success> { .custom }
}

// MARK: - Request convertible

extension HTTPRequest: RequestConvertible, ModifiableRequest {
    /// The type of the value: the content of the response.
    public typealias Success = Data
    /// The library's error type.
    public typealias Failure = RequestError

    /// The request itself.
    public var http: HTTPRequest {
        get { self }
        set { self = newValue }
    }

    /// The options of the request.
    public var resolvedOptions: RequestOptions { options }

    /// Changes the request.
    public mutating func change(_ change: @escaping @Sendable (inout HTTPRequest) -> Void) {
        change(&self)
    }

    /// Returns the same request with a decoder for the response.
    public func decoding<Value>(_ decoder: ResponseDecoder<Value>) -> TypedRequest<HTTPRequest, Value> {
        TypedRequest(self, decoding: decoder)
    }
}

extension RequestConvertible {
    /// Returns the request as it would be sent now, with its URL, header fields, credentials and content.
    ///
    /// - Throws: ``InvalidValue``, and any error that the body or the authentication throws.
    func prepared(baseURL: URL?) throws -> HTTPRequest {
        var environment = RequestEnvironment()
        environment.baseURL = baseURL
        return try prepared(in: environment)
    }

    /// Returns the request as it would be sent in an environment, without cookies and the changes made by interceptors.
    ///
    /// - Throws: ``InvalidValue``, and any error that the body or the authentication throws.
    func prepared(in environment: RequestEnvironment) throws -> HTTPRequest {
        let options = resolvedOptions
        var request = changedHTTP
        request.setAccept(responseDecoder.accepted, unless: environment.headers)
        let implied = try request.inherit(environment, options, environment.marks(options))
        options.apply(to: &request)
        try request.authentication.authenticate(&request)
        try request.resolve(base: environment.base)
        try request.resolveBody(implied: implied, using: environment.makeEncoder)
        try request.validate()
        return request
    }
}

extension RequestConvertible {
    /// Applies recorded changes to a request as if they had been made before the decoder's `Accept` field was added.
    func applyChanges(_ options: RequestOptions, of request: inout HTTPRequest, in environment: RequestEnvironment) {
        var plain = http
        plain.setAccept(responseDecoder.accepted, unless: environment.headers)
        let isImplied = !http.headers.contains(.accept) && request.headers[.accept] == plain.headers[.accept]
        if isImplied { request.headers.remove(.accept) }
        options.change(&request)
        if isImplied { request.setAccept(responseDecoder.accepted, unless: environment.headers) }
    }
}

extension HTTPRequest {
    /// Sets `Accept` to the given types, unless the request or the inherited headers have the field.
    mutating func setAccept(_ types: [MediaType], unless inherited: HTTPHeaders) {
        guard !types.isEmpty, !headers.contains(.accept), !inherited.contains(.accept) else { return }
        headers.add(.accept(types))
    }
}

// MARK: - cURL

extension RequestConvertible {
    /// Returns a `curl` command for a POSIX shell that sends the same request as the library.
    ///
    /// You can paste the command unchanged: all arguments are in single quotes, and binary content is passed with
    /// `printf`. `curl` doesn't follow redirects, so the output is the first response.
    ///
    /// ```swift
    /// print(try Post<User>("users").body { user }.cURL(baseURL: server))
    /// ```
    ///
    /// - Parameters:
    ///   - baseURL: The URL that a relative URL is appended to; `nil`, the default, requires an absolute URL.
    ///   - revealsSecrets: Whether credentials, cookies and other secrets are shown. By default, the values of fields,
    ///     parameters and content members are replaced if their names mark them as secrets. Content that names a secret
    ///     but can't be parsed is replaced completely.
    /// - Returns: The command, which has several lines.
    /// - Throws: ``InvalidValue`` for a request that can't be sent, and for a stream body; any error that the body or
    ///   the authentication throws.
    public func cURL(baseURL: URL? = nil, revealingSecrets revealsSecrets: Bool = false) throws -> String {
        try CURLCommand(prepared(baseURL: baseURL), redacts: !revealsSecrets).text
    }
}

extension HTTPResponse {
    /// Returns the request of this response as a shell command; `nil` for a response without a request.
    ///
    /// - Parameter revealsSecrets: Whether credentials, cookies and other secrets are shown.
    /// - Returns: The command, which has several lines.
    /// - Throws: The same errors as ``RequestConvertible/cURL(baseURL:revealingSecrets:)``.
    public func cURL(revealingSecrets revealsSecrets: Bool = false) throws -> String? {
        try transfers.last.map { try CURLCommand($0.request, redacts: !revealsSecrets).text }
    }
}

extension RefreshClient {
    /// Sends a request, and returns the value that it creates from the response.
    ///
    /// The request's own options, such as a timeout, don't apply; the environment's options do.
    ///
    /// - Parameter request: The request; a relative URL is appended to the base URL.
    /// - Returns: The value.
    /// - Throws: ``RequestError`` if there is no accepted response; any error that the decoder throws.
    public func fetch<R: RequestConvertible>(_ request: R) async throws -> R.Success {
        try request.process(await send(request.changedHTTP))
    }
}
