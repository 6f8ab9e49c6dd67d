// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request that is described by two values: the request to send, and the decoder of the response.
///
/// TypedRequest and ``HTTPRequest`` are such requests, ready-made. Declare your own if a request deserves a type, and
/// group them with protocols of your own that inherit this one:
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
    /// Identifies requests that have the same answer.
    ///
    /// It includes all that can change the answer: the method, the address, the fields that servers depend on, the
    /// credentials and the content. Secrets are in it as a digest only.
    public var identifier: String { changedHTTP.identity }

    /// The options, completed with those of http.
    public var resolvedOptions: RequestOptions {
        options.over(http.options)
    }

    /// The request to send, with the changes of modifiers.
    var changedHTTP: HTTPRequest {
        var request = http
        // Also the changes of the requests that it is made of.
        resolvedOptions.change(&request)
        return request
    }

    /// Passes on http, with an `Accept` for the types that the decoder reads unless there is one.
    public func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) {
        var request = http
        request.accept(responseDecoder.accepted, unless: environment.headers)
        completion(.success(request))
    }

    /// Passes on http as Foundation's request.
    public func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
        completion(Result { try toURLRequest() })
    }

    /// Makes the value with the decoder.
    public func process(_ response: HTTPResponse<Data>) throws -> Success {
        try responseDecoder.decode(response)
    }

    /// Makes the value of content alone, as of a response with status 200 and no headers.
    public func processData(_ data: Data) throws -> Success {
        try process(HTTPResponse(head: HTTPResponseHead(status: .ok), body: data))
    }

    /// Returns the request as Foundation's, for use with any other library.
    ///
    /// Files, streams and forms with files become `httpBodyStream`. A stream that can be sent once is handed over: the
    /// request itself can't be sent any more. A known length becomes a `Content-Length`. The order of headers is lost,
    /// since Foundation has none, and repeated headers are joined.
    ///
    /// - Parameter baseURL: The URL that a relative address is appended to; `nil`, the default, requires an absolute
    ///   one.
    /// - Returns: The result.
    /// - Throws: ``InvalidValue`` for a request that can't be sent and for a file that can't be read; any error that
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
    /// Text.
    public var responseDecoder: ResponseDecoder<String> { .text }
}

extension RequestConvertible where Success: Decodable {
    /// JSON.
    public var responseDecoder: ResponseDecoder<Success> { .json }
}

extension RequestConvertible where Success: HTTPDecodableResponse {
    /// The type's own decoding.
    public var responseDecoder: ResponseDecoder<Success> { .custom }
}

extension RequestConvertible where Success: Decodable & HTTPDecodableResponse {
    /// The type's own decoding, which takes precedence over `Decodable`.
    public var responseDecoder: ResponseDecoder<Success> { .custom }
}

// MARK: - Request convertible

extension HTTPRequest: RequestConvertible, ModifiableRequest {
    /// The content of the response.
    public typealias Success = Data
    /// The library's own error.
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

    /// Returns the same request, with a decoder for the answer.
    public func decoding<Value>(_ decoder: ResponseDecoder<Value>) -> TypedRequest<HTTPRequest, Value> {
        TypedRequest(self, decoding: decoder)
    }
}

extension RequestConvertible {
    /// The request as it would be sent now: address, fields, credentials and content.
    ///
    /// - Throws: ``InvalidValue``, and any error that the body or the authentication throws.
    func prepared(baseURL: URL?) throws -> HTTPRequest {
        var environment = RequestEnvironment()
        environment.baseURL = baseURL
        return try prepared(in: environment)
    }

    /// The request as it would be sent in an environment, but for what interceptors and cookies add.
    ///
    /// - Throws: ``InvalidValue``, and any error that the body or the authentication throws.
    func prepared(in environment: RequestEnvironment) throws -> HTTPRequest {
        let options = resolvedOptions
        var request = changedHTTP
        request.accept(responseDecoder.accepted, unless: environment.headers)
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
    /// Makes recorded changes of a request that may already accept what the decoder reads, as if they came before that.
    func applyChanges(_ options: RequestOptions, of request: inout HTTPRequest, in environment: RequestEnvironment) {
        var plain = http
        plain.accept(responseDecoder.accepted, unless: environment.headers)
        let isImplied = !http.headers.contains(.accept) && request.headers[.accept] == plain.headers[.accept]
        if isImplied { request.headers.remove(.accept) }
        options.change(&request)
        if isImplied { request.accept(responseDecoder.accepted, unless: environment.headers) }
    }
}

extension HTTPRequest {
    /// Sets `Accept` to the given types, unless it is already set.
    mutating func accept(_ types: [MediaType], unless inherited: HTTPHeaders) {
        guard !types.isEmpty, !headers.contains(.accept), !inherited.contains(.accept) else { return }
        headers.add(.accept(types))
    }
}

// MARK: - cURL

extension RequestConvertible {
    /// Returns the request as a command for a POSIX shell, which sends with `curl` what the library would send.
    ///
    /// It can be pasted unchanged: all arguments are in single quotes, and binary content goes through `printf`.
    /// Redirects aren't followed, so the output is the first answer.
    ///
    /// ```swift
    /// print(try Post<User>("users").body { user }.cURL(baseURL: server))
    /// ```
    ///
    /// - Parameters:
    ///   - baseURL: The URL that a relative address is appended to; `nil`, the default, requires an absolute one.
    ///   - revealsSecrets: Whether credentials, cookies and the like are shown. By default, the values of fields,
    ///     parameters, and members of content whose names mark them as secrets are replaced. Content that names a secret
    ///     and can't be parsed is replaced as a whole.
    /// - Returns: The command, of several lines.
    /// - Throws: ``InvalidValue`` for a request that can't be sent and for a body that is a stream; any error that
    ///   the body or the authentication throws.
    public func cURL(baseURL: URL? = nil, revealingSecrets revealsSecrets: Bool = false) throws -> String {
        try CURLCommand(prepared(baseURL: baseURL), redacts: !revealsSecrets).text
    }
}

extension HTTPResponse {
    /// Returns the request of the response as a command for a shell; `nil` for a response without a request.
    ///
    /// - Parameter revealsSecrets: Whether credentials, cookies and the like are shown.
    /// - Returns: The command, of several lines.
    /// - Throws: As ``RequestConvertible/cURL(baseURL:revealingSecrets:)``.
    public func cURL(revealingSecrets revealsSecrets: Bool = false) throws -> String? {
        try transfers.last.map { try CURLCommand($0.request, redacts: !revealsSecrets).text }
    }
}

extension RefreshClient {
    /// Sends a request, and makes its value of the response.
    ///
    /// Its options, such as a timeout, don't apply: those of the environment do.
    ///
    /// - Parameter request: The request; a relative address is appended to the base URL.
    /// - Returns: The value.
    /// - Throws: ``RequestError`` if there is no good response; any error that the decoder throws.
    public func fetch<R: RequestConvertible>(_ request: R) async throws -> R.Success {
        try request.process(await send(request.changedHTTP))
    }
}
