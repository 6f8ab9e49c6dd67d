// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request that is described by two values: what to send, and what to make of the answer.
///
/// TypedRequest and ``HTTPRequest`` are such requests, ready-made. Declare your own where a request deserves a type,
/// and group them by protocols of your own that inherit this one:
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
/// The decoder comes by itself where `Success` is `Decodable`, `String`, `Data` or `Void`.
public protocol RequestConvertible: DataRequest {
    /// What to send.
    var http: HTTPRequest { get }
    /// What to make of the answer.
    var responseDecoder: ResponseDecoder<Success> { get }
}

extension RequestConvertible {
    /// Tells the request from others that could have another answer.
    ///
    /// That is by all that changes it: the method, the address, the fields that a server
    /// goes by, the credentials and the content. Secrets are in it as a digest only.
    public var identifier: String { changedHTTP.identity }

    /// The options, and those of http where they say nothing.
    public var resolvedOptions: RequestOptions {
        let base = http
        return base.attachment == nil ? options : options.over(base.options)
    }

    /// What to send, with what modifiers have changed of it.
    var changedHTTP: HTTPRequest {
        var request = http
        // Those of the requests that it is made of, too.
        resolvedOptions.change(&request)
        return request
    }

    /// Hands over http, with an `Accept` for what the decoder reads unless there is one.
    public func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) {
        var request = http
        request.accept(responseDecoder.accepted, unless: environment.headers)
        completion(.success(request))
    }

    /// Hands over http as Foundation's request.
    public func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
        completion(Result { try toURLRequest() })
    }

    /// Has the decoder make the value.
    public func process(_ response: HTTPResponse<Data>) throws -> Success {
        try responseDecoder.decode(response)
    }

    /// Has the decoder make the value of content alone, as of a response with status 200 and no headers.
    public func processData(_ data: Data) throws -> Success {
        try process(HTTPResponse(head: HTTPResponseHead(status: .ok), body: data))
    }

    /// The request as Foundation's, for use with any other library.
    ///
    /// Files, streams and forms with files become `httpBodyStream`. A stream that can be sent once is handed over: the
    /// request itself can't be sent any more. A known length becomes a `Content-Length`. What Foundation can't carry is left
    /// out: the order of headers. Repeated ones are joined.
    ///
    /// - Parameter baseURL: What a relative address is appended to; nil, the default, needs an absolute one.
    /// - Returns: The result.
    /// - Throws: ``InvalidRequest`` for what can't go on the wire and for a file that can't be read; what the body or the
    ///   authentication throws.
    public func toURLRequest(baseURL: URL? = nil) throws -> URLRequest {
        try URLRequest(prepared(baseURL: baseURL))
    }
}

extension RequestConvertible where Success == Void {
    /// Ignores the content.
    public var responseDecoder: ResponseDecoder<Void> { .none }
}

extension RequestConvertible where Success == Data {
    /// Leaves the content as it is.
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
    /// The way that the value decodes itself.
    public var responseDecoder: ResponseDecoder<Success> { .custom }
}

extension RequestConvertible where Success: Decodable & HTTPDecodableResponse {
    /// The way that the value decodes itself, which is why it has one besides `Decodable`.
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

    /// The same request, with a way to make a value of the answer.
    public func decoding<Value>(_ decoder: ResponseDecoder<Value>) -> TypedRequest<HTTPRequest, Value> {
        TypedRequest(self, decoding: decoder)
    }
}

extension RequestConvertible {
    /// The request as it would be sent now: address, fields, credentials and content.
    ///
    /// - Throws: ``InvalidRequest``, and what the body or the authentication throws.
    func prepared(baseURL: URL?) throws -> HTTPRequest {
        var environment = RequestEnvironment()
        environment.baseURL = baseURL
        var request = changedHTTP
        request.accept(responseDecoder.accepted, unless: [])
        let implied = try request.inherit(environment)
        resolvedOptions.apply(to: &request)
        try request.authentication.authenticate(&request)
        try request.resolve(baseURL: baseURL, inheriting: [])
        try request.resolveBody(implied: implied)
        try request.validate()
        return request
    }
}

extension RequestConvertible {
    /// Makes recorded changes of a request that may already accept what the decoder reads, as if they came before that.
    func makeChanges(_ options: RequestOptions, of request: inout HTTPRequest, in environment: RequestEnvironment) {
        var plain = http
        plain.accept(responseDecoder.accepted, unless: environment.headers)
        let isImplied = !http.headers.contains(.accept) && request.headers[.accept] == plain.headers[.accept]
        if isImplied { request.headers.remove(.accept) }
        options.change(&request)
        if isImplied { request.accept(responseDecoder.accepted, unless: environment.headers) }
    }
}

extension HTTPRequest {
    /// Asks for what the caller can read, unless somebody has asked already.
    mutating func accept(_ types: [MediaType], unless inherited: HTTPHeaders) {
        guard !types.isEmpty, !headers.contains(.accept), !inherited.contains(.accept) else { return }
        headers.add(.accept(types))
    }
}

// MARK: - cURL

extension RequestConvertible {
    /// The request as a command for a POSIX shell, which sends with `curl` what the library would send.
    ///
    /// It can be pasted as it is: everything stands in single quotes, and binary content goes through `printf`.
    /// Redirects aren't followed, so that the first answer is what one sees.
    ///
    /// ```swift
    /// print(try Post<User>("users").body { user }.cURL(baseURL: server))
    /// ```
    ///
    /// - Parameters:
    ///   - baseURL: What a relative address is appended to; nil, the default, needs an absolute one.
    ///   - revealsSecrets: Whether credentials, cookies and the like are shown; by default they are replaced by
    ///     `<redacted>`, and so are query parameters, and members of forms and JSON, that are secrets by their name.
    ///     Other content that names one is replaced as a whole.
    /// - Returns: The command, of several lines.
    /// - Throws: ``InvalidRequest`` for what can't go on the wire and for a body that is a stream; what the body or
    ///   the authentication throws.
    public func cURL(baseURL: URL? = nil, revealingSecrets revealsSecrets: Bool = false) throws -> String {
        try CURLCommand(prepared(baseURL: baseURL), redacts: !revealsSecrets).text
    }
}

extension HTTPResponse {
    /// The request that brought the response, as a command for a shell; nil for a response that no request brought.
    ///
    /// - Parameter revealsSecrets: Whether credentials, cookies and the like are shown.
    /// - Returns: The command, of several lines.
    /// - Throws: As ``RequestConvertible/cURL(baseURL:revealingSecrets:)``.
    public func cURL(revealingSecrets revealsSecrets: Bool = false) throws -> String? {
        try attempts.last.map { try CURLCommand($0.request, redacts: !revealsSecrets).text }
    }
}
