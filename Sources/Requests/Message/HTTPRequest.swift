// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An HTTP request as a value, which all parts of the library work with.
///
/// Every way to describe a request creates this type. It keeps information that Foundation's `URLRequest` loses:
/// repeated headers and their order, file bodies, the length of a stream, and whether the body can be sent again.
///
/// ```swift
/// HTTPRequest("https://api.example.com/todos/1")
/// HTTPRequest(URI: "/posts/{postId}{?page}", variables: ["postId": 1])
/// HTTPRequest { $0.path = "login"; $0.method = .post; $0.body = .json(credentials) }
/// ```
///
/// Settings that override the environment, such as retries, are in the request's ``options``:
/// `$0.options.retry = .default`. Once the request is sent, they belong to its operation, so the request that an
/// interceptor receives has only the ``RequestOptions/userInfo``.
///
/// Setters don't validate, because throwing would be awkward in setters and in chains of modifiers. Validation happens
/// when the request is built, and throws a typed error. An invalid request is never sent.
public struct HTTPRequest: Sendable {
    // An array with one element provides copy-on-write storage. Most code only passes a request on, and copying the
    // array is as cheap as copying a single field.
    private var storage: [Fields]

    /// The stored properties; the library accesses the non-public properties directly.
    struct Fields: Sendable {
        var address: Address
        var query: Query = []
        var method: HTTPMethod
        var headers: HTTPHeaders
        var body: HTTPBody
        var authentication = AuthenticationProvider.none
        var timeout: Duration?
        var cachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
        var allowsCellularAccess = true
        var decodesContent = true
        var usesHTTP2 = true
        var usesCookies = true
        /// A `URLRequest` with the properties that this type lacks; `nil` if they all have their default values.
        var template: URLRequest?
        /// The values to encode as query parameters once the encoder is known; see `query(_:)`.
        var encodableQueries: [EncodableQuery] = []
        var options = RequestOptions()
        var notes = Notes()
    }

    /// All stored properties.
    var fields: Fields {
        _read { yield storage[0] }
        _modify { yield &storage[0] }
    }

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - url: The URL. If it has no scheme, it is appended to the base URL of the service that runs the request.
    ///   - method: The method; GET by default.
    ///   - headers: The header fields.
    ///   - body: The content.
    ///   - timeout: The idle timeout, that is, the maximum time without data in either direction; `nil` uses the
    ///     environment's timeout.
    public init(
        url: URL,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [],
        body: HTTPBody = .none,
        timeout: Duration? = nil
    ) {
        self.init(Address(url), method: method, headers: headers, body: body, timeout: timeout)
    }

    init(
        _ address: Address,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [],
        body: HTTPBody = .none,
        timeout: Duration? = nil
    ) {
        storage = [Fields(address: address, method: method, headers: headers, body: body, timeout: timeout)]
    }
}

extension HTTPRequest {
    /// The query parameters to append to those of the URL, encoded only once; ``url`` includes both.
    public var query: Query {
        _read { yield fields.query }
        _modify { yield &fields.query }
    }

    /// The method.
    public var method: HTTPMethod {
        _read { yield fields.method }
        _modify { yield &fields.method }
    }

    /// The header fields, except those for message framing, which the transport derives from the body.
    public var headers: HTTPHeaders {
        _read { yield fields.headers }
        _modify { yield &fields.headers }
    }

    /// The content.
    public var body: HTTPBody {
        _read { yield fields.body }
        _modify { yield &fields.body }
    }

    /// The provider that adds the caller's credentials for every attempt.
    public var authentication: AuthenticationProvider {
        _read { yield fields.authentication }
        _modify { yield &fields.authentication }
    }

    /// The idle timeout, that is, the maximum time without data in either direction; `nil` uses the environment's
    /// timeout.
    public var timeout: Duration? {
        _read { yield fields.timeout }
        _modify { yield &fields.timeout }
    }

    /// The cache policy, for the environment's cache and for a transport with its own cache.
    public var cachePolicy: URLRequest.CachePolicy {
        _read { yield fields.cachePolicy }
        _modify { yield &fields.cachePolicy }
    }

    /// Whether the request may use a cellular network, if the platform has one.
    public var allowsCellularAccess: Bool {
        _read { yield fields.allowsCellularAccess }
        _modify { yield &fields.allowsCellularAccess }
    }

    /// Whether the content of a compressed response is decoded; true by default.
    ///
    /// If false, the content is delivered as received, and the transport doesn't request compression by itself. Set
    /// `Accept-Encoding` to request it, and read `Content-Encoding` to find out which coding was used. Use this to
    /// store or forward encoded content, or to decode it yourself. `URLSession` always decodes, so such a request fails
    /// there with the error code `unsupported`. A ``ResponseCache`` neither serves nor stores its response.
    public var decodesContent: Bool {
        _read { yield fields.decodesContent }
        _modify { yield &fields.decodesContent }
    }

    /// Whether the request may be sent over HTTP/2, if the transport and the server support it; true by default.
    ///
    /// If false, the request is sent over HTTP/1.1, on a connection that it doesn't share with concurrent requests. Use
    /// this for a server whose HTTP/2 implementation is faulty, or for a large transfer that shouldn't share a
    /// connection's flow-control limits. Only `CurlTransport`, on Linux, supports this; other transports decide
    /// themselves.
    public var usesHTTP2: Bool {
        _read { yield fields.usesHTTP2 }
        _modify { yield &fields.usesHTTP2 }
    }

    /// Whether the request sends the cookies of the client and session, and stores those of the response; true by
    /// default.
    ///
    /// A `Cookie` field in ``headers`` is always sent. This property corresponds to `httpShouldHandleCookies` of
    /// `URLRequest`.
    public var usesCookies: Bool {
        _read { yield fields.usesCookies }
        _modify { yield &fields.usesCookies }
    }
}

extension HTTPRequest {
    /// Encodes the pending values as query parameters, at the positions where they were added.
    ///
    /// - Throws: Any error that the encoding throws.
    mutating func encodeQueries(with encoder: QueryEncoder) throws {
        guard !fields.encodableQueries.isEmpty else { return }
        var items = Array(query)
        for encodable in fields.encodableQueries.reversed() {
            let encoded = try encodable.encode(encoder)
            items.insert(contentsOf: encoded, at: Swift.min(encodable.position, items.count))
            // Wherever queries are joined, the first non-empty query determines how spaces are encoded.
            if query.isEmpty, !encoded.isEmpty { query.spaces = encoded.spaces }
        }
        query.removeAll { _ in true }
        query.append(contentsOf: items)
        fields.encodableQueries = []
    }
}

/// A value to encode as query parameters when the request is built.
struct EncodableQuery: Sendable {
    /// The number of parameters before it.
    let position: Int
    let encode: @Sendable (QueryEncoder) throws -> Query
}

extension HTTPRequest: CustomStringConvertible {
    /// The method and the URL, without credentials or query, and therefore without secrets.
    public var description: String {
        "\(method.rawValue.shortened(to: 16)) \(url.redactedDescription)"
    }
}

extension HTTPRequest: CustomReflectable {
    /// A mirror without secrets: the redacted URL, the names of the query parameters, and the kind of the content.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": description, "query": query, "headers": headers, "body": body])
    }
}

extension URL {
    /// The URL for descriptions, without the parts that may contain secrets: user, password, query, fragment and path
    /// parameters.
    package var redactedDescription: String { absoluteString.bareAddress.shortened(to: 200) }
}

// MARK: - Body

extension HTTPRequest {
    /// Merges header fields: the request's own fields replace those of its body, and both replace those of the
    /// environment.
    ///
    /// The body's mandatory fields replace all others. Returns the fields that came from the body, because they change
    /// if the body is replaced.
    mutating func applyHeaders(of environment: HTTPHeaders) -> HTTPHeaders {
        let explicit = headers
        var implied = body.headers
        implied.removeAll { explicit.contains($0.name) }
        headers = environment
        headers.merge(implied, from: .body)
        headers.merge(explicit, from: .caller)
        headers.merge(body.mandatoryHeaders, from: .body)
        implied.merge(body.mandatoryHeaders)
        return implied
    }

    /// Encodes the body and updates the header fields that come from it.
    ///
    /// Fields of the new body replace fields of the previous body. Fields that were set or removed explicitly don't
    /// change. Mandatory fields replace all others.
    ///
    /// - Parameters:
    ///   - implied: The fields that ``applyHeaders(of:)`` returned.
    ///   - makeEncoder: Creates the JSON encoder, if the body has none; `nil` uses a default `JSONEncoder`.
    /// - Throws: Any error that the encoding throws.
    mutating func resolveBody(implied: HTTPHeaders, using makeEncoder: (@Sendable () -> JSONEncoder)? = nil) throws {
        if body.isDeferred { body = try body.resolved(using: makeEncoder) }
        func isUntouched(_ name: HTTPField.Name) -> Bool { headers[values: name] == implied[values: name] }
        // An empty body has no content type, so remove the fields of the previous body.
        var names: Set<HTTPField.Name> = []
        for field in body.isEmpty ? implied : body.headers where isUntouched(field.name) { names.insert(field.name) }
        guard !names.isEmpty || !body.mandatoryHeaders.isEmpty else { return }
        headers.removeAll { names.contains($0.name) }
        var replacements = body.headers
        replacements.removeAll { !names.contains($0.name) }
        headers.merge(replacements, from: .body)
        headers.merge(body.mandatoryHeaders, from: .body)
    }
}

// MARK: - Identity

extension HTTPRequest {
    /// A string that is equal for requests that get the same response, and that contains no secret.
    ///
    /// The string contains a digest of the method, the complete URL, the header fields, the credentials and the
    /// content. A file or stream body may change each time it is sent, so a request with such a body is never equal to
    /// another request, or even to itself.
    ///
    /// - Complexity: O(n) in the size of the request, including an in-memory body.
    var identity: String {
        var parts = [method.rawValue, fields.address.url.absoluteString, queryIdentity, decodesContent ? "" : "raw"]
        func add(_ headers: HTTPHeaders) {
            for field in headers { parts += [field.name.rawValue.lowercased(), field.value] }
        }
        add(authenticated.headers)
        if !body.isEmpty {
            // Content that isn't in memory gets a unique value, so it is never equal to anything.
            let content = (try? body.data()).map { SHA256.digest(of: $0).hexadecimal }
            parts += ["", content ?? UUID().uuidString]
            add(body.headers)
        }
        // Each part is preceded by its length, so that different lists of parts can't have the same encoding.
        let bytes = parts.flatMap { Array("\($0.utf8.count):\($0)".utf8) }
        return "\(self) \(SHA256.digest(of: bytes).hexadecimal)"
    }

    // If the encoding fails, use the error instead, because the request will fail anyway when it is built.
    private var queryIdentity: String {
        guard !fields.encodableQueries.isEmpty else { return query.percentEncoded }
        var copy = self
        do {
            try copy.encodeQueries(with: QueryEncoder())
            return copy.query.percentEncoded
        } catch {
            return "\(error)"
        }
    }

    // If the authentication fails, use the error instead, because the request will fail anyway when it is built.
    private var authenticated: HTTPRequest {
        var copy = self
        do {
            try authentication.authenticate(&copy)
        } catch {
            copy.headers.add("\(error)", for: .authorization)
        }
        return copy
    }
}

extension String {
    /// The identity of a request without its digest, for display; any other string is returned unchanged.
    var withoutDigest: String {
        let digest = utf8.suffix(64)
        guard utf8.count > 65, utf8.dropLast(64).last == UInt8(ascii: " "),
            digest.allSatisfy({ "0123456789abcdef".utf8.contains($0) })
        else { return self }
        return String(decoding: utf8.dropLast(65), as: UTF8.self)
    }
}
