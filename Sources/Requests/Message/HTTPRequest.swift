// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request as it is sent: the value that all parts of the library work on.
///
/// Every way of describing a request makes one of these. It contains parts that Foundation's `URLRequest` loses:
/// repeated and ordered headers, a body that is a file, a stream of known length, whether the body can be sent again.
///
/// ```swift
/// HTTPRequest("https://api.example.com/todos/1")
/// HTTPRequest(URI: "/posts/{postId}{?page}", variables: ["postId": 1])
/// HTTPRequest { $0.path = "login"; $0.method = .post; $0.body = .json(credentials) }
/// ```
///
/// Settings of the request that override its environment, such as retries, are in its ``options``, and can be set
/// together: `$0.options.retry = .default`. When the request is sent, they belong to its operation: the request that an
/// interceptor gets has only its ``RequestOptions/userInfo``.
///
/// Its pieces aren't checked when they are set, since neither a setter nor a chain of modifiers can throw well. They
/// are checked when the request is built: an invalid one is then a typed error. Nothing invalid is sent.
public struct HTTPRequest: Sendable {
    // An array of one, since it is copied on write: most code only passes a request on, and a copy takes as long as one
    // of its fields.
    private var storage: [Fields]

    /// The stored properties; those that aren't public are used as they are here.
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
        /// A `URLRequest` with the properties that aren't in this type; `nil` if they all have their defaults.
        var template: URLRequest?
        /// The values that become query parameters when the encoder is known; see `query(_:)`.
        var encodableQueries: [EncodableQuery] = []
        var options = RequestOptions()
        var notes = Notes()
    }

    /// All stored properties.
    var fields: Fields {
        _read { yield storage[0] }
        _modify { yield &storage[0] }
    }

    /// Makes a request; by default one that gets the resource.
    ///
    /// - Parameters:
    ///   - url: The address; one without a scheme is appended to the base URL of the service that runs the request.
    ///   - method: The method.
    ///   - headers: The header fields.
    ///   - body: The content.
    ///   - timeout: The maximum time without data; `nil` uses that of the environment.
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
    /// The query parameters that are appended to those of the address, and encoded once; the ``url`` has both.
    public var query: Query {
        _read { yield fields.query }
        _modify { yield &fields.query }
    }

    /// The method.
    public var method: HTTPMethod {
        _read { yield fields.method }
        _modify { yield &fields.method }
    }

    /// The header fields, without those that frame the message: the transport makes these from the body.
    public var headers: HTTPHeaders {
        _read { yield fields.headers }
        _modify { yield &fields.headers }
    }

    /// The content.
    public var body: HTTPBody {
        _read { yield fields.body }
        _modify { yield &fields.body }
    }

    /// Adds the caller's credentials for every attempt.
    public var authentication: AuthenticationProvider {
        _read { yield fields.authentication }
        _modify { yield &fields.authentication }
    }

    /// The maximum time without data; `nil` uses that of the environment.
    public var timeout: Duration? {
        _read { yield fields.timeout }
        _modify { yield &fields.timeout }
    }

    /// The cache policy, for the environment's cache and for a transport with a cache of its own.
    public var cachePolicy: URLRequest.CachePolicy {
        _read { yield fields.cachePolicy }
        _modify { yield &fields.cachePolicy }
    }

    /// Whether a cellular network may carry the request, if the platform has one.
    public var allowsCellularAccess: Bool {
        _read { yield fields.allowsCellularAccess }
        _modify { yield &fields.allowsCellularAccess }
    }

    /// Whether compressed content of the response is decoded; true by default.
    ///
    /// If false, the content is what was received, and the transport requests no coding itself: set `Accept-Encoding`
    /// to request one, and read `Content-Encoding` to see the actual one. Use it to store or to pass on encoded
    /// content, or to decode it yourself. A `URLSession` always decodes, and ends such a request with an error of code
    /// `unsupported`. A ``ResponseCache`` neither answers nor stores it.
    public var decodesContent: Bool {
        _read { yield fields.decodesContent }
        _modify { yield &fields.decodesContent }
    }

    /// Whether the request may be sent over HTTP/2, if the transport and the server support it; true by default.
    ///
    /// If false, it is sent over HTTP/1.1, on a connection that no other request uses meanwhile: for a server whose
    /// HTTP/2 has a fault, or for a large transfer that mustn't share the limits of a connection with others. Only
    /// `CurlTransport` can choose, on Linux; other transports decide themselves.
    public var usesHTTP2: Bool {
        _read { yield fields.usesHTTP2 }
        _modify { yield &fields.usesHTTP2 }
    }

    /// Whether the cookies of the client and of a session are sent, and those of the response stored; true by default.
    ///
    /// A `Cookie` field among the ``headers`` is sent in any case. It is `httpShouldHandleCookies` of a `URLRequest`.
    public var usesCookies: Bool {
        _read { yield fields.usesCookies }
        _modify { yield &fields.usesCookies }
    }
}

extension HTTPRequest {
    /// Encodes values as query parameters, in their places.
    ///
    /// - Throws: Any error that the encoding throws.
    mutating func encodeQueries(with encoder: QueryEncoder) throws {
        guard !fields.encodableQueries.isEmpty else { return }
        var items = Array(query)
        for encodable in fields.encodableQueries.reversed() {
            let encoded = try encodable.encode(encoder)
            items.insert(contentsOf: encoded, at: Swift.min(encodable.position, items.count))
            // As wherever queries are joined, the first one that isn't empty decides.
            if query.isEmpty, !encoded.isEmpty { query.spaces = encoded.spaces }
        }
        query.removeAll { _ in true }
        query.append(contentsOf: items)
        fields.encodableQueries = []
    }
}

/// A value that becomes query parameters when the request is built.
struct EncodableQuery: Sendable {
    /// The number of parameters before it.
    let position: Int
    let encode: @Sendable (QueryEncoder) throws -> Query
}

extension HTTPRequest: CustomStringConvertible {
    /// The method and the address, without credentials and query: it has no secrets.
    public var description: String {
        "\(method.rawValue.shortened(to: 16)) \(url.redactedDescription)"
    }
}

extension HTTPRequest: CustomReflectable {
    /// A mirror without secrets: the redacted address, the names of the query, the kind of the content.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": description, "query": query, "headers": headers, "body": body])
    }
}

extension URL {
    /// The address without user, password, query, fragment and parameters of the path, which may have secrets; for
    /// descriptions.
    package var redactedDescription: String { absoluteString.bareAddress.shortened(to: 200) }
}

// MARK: - Body

extension HTTPRequest {
    /// Merges header fields: those of the request replace those of its body, and both replace those of the environment.
    ///
    /// The mandatory fields of the body replace all others. It returns the fields that came from the body, which may
    /// change if the body is replaced.
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

    /// Encodes the body, and updates the header for it.
    ///
    /// A field of the new body replaces one of the former body; fields that were set or removed explicitly stay that
    /// way. The mandatory fields replace all others.
    ///
    /// - Parameters:
    ///   - implied: The fields that ``applyHeaders(of:)`` returned.
    ///   - makeEncoder: Makes the JSON encoder, if the body has none; `nil` takes a plain one.
    /// - Throws: Any error that the encoding throws.
    mutating func resolveBody(implied: HTTPHeaders, using makeEncoder: (@Sendable () -> JSONEncoder)? = nil) throws {
        if body.isDeferred { body = try body.resolved(using: makeEncoder) }
        func isUntouched(_ name: HTTPField.Name) -> Bool { headers[values: name] == implied[values: name] }
        // A body that turns out to be empty has no type either.
        var names: Set<HTTPField.Name> = []
        for field in body.isEmpty ? implied : body.headers where isUntouched(field.name) { names.insert(field.name) }
        guard !names.isEmpty || !body.mandatoryHeaders.isEmpty else { return }
        headers.removeAll { names.contains($0.name) }
        var renewed = body.headers
        renewed.removeAll { !names.contains($0.name) }
        headers.merge(renewed, from: .body)
        headers.merge(body.mandatoryHeaders, from: .body)
    }
}

// MARK: - Identity

extension HTTPRequest {
    /// Identifies requests that have the same answer, without containing a secret.
    ///
    /// It is a digest of the method, the whole address, the header fields, the credentials and the content. A file or a
    /// stream may change each time that it is sent: a request with such a body is equal to no request, not even to
    /// itself.
    ///
    /// - Complexity: O(n) in the size of the request, including a body in memory.
    var identity: String {
        var pieces = [method.rawValue, fields.address.url.absoluteString, queryIdentity, decodesContent ? "" : "raw"]
        func add(_ headers: HTTPHeaders) {
            for field in headers { pieces += [field.name.rawValue.lowercased(), field.value] }
        }
        add(authenticated.headers)
        if !body.isEmpty {
            // Content that isn't in memory equals nothing.
            let content = (try? body.data()).map { SHA256.digest(of: $0).hexadecimal }
            pieces += ["", content ?? UUID().uuidString]
            add(body.headers)
        }
        // Each with its length, so that different lists of pieces are encoded differently.
        let bytes = pieces.flatMap { Array("\($0.utf8.count):\($0)".utf8) }
        return "\(self) \(SHA256.digest(of: bytes).hexadecimal)"
    }

    // A value that can't be encoded will fail the request when it is built.
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

    // Credentials that aren't available now will fail the request when it is built.
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
    /// The identity of a request without its digest, for people; any other text unchanged.
    var withoutDigest: String {
        let digest = utf8.suffix(64)
        guard utf8.count > 65, utf8.dropLast(64).last == UInt8(ascii: " "),
            digest.allSatisfy({ "0123456789abcdef".utf8.contains($0) })
        else { return self }
        return String(decoding: utf8.dropLast(65), as: UTF8.self)
    }
}
