// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request as it goes on the wire: the value that the whole pipeline works on.
///
/// Every way of describing a request ends in one of these. It carries what Foundation's `URLRequest` loses: repeated
/// and ordered headers, a body that is a file, a stream of known length, whether the body can be sent again.
///
/// ```swift
/// HTTPRequest("https://api.example.com/todos/1")
/// HTTPRequest(URI: "/posts/{postId}{?page}", variables: ["postId": 1])
/// HTTPRequest { $0.path = "login"; $0.method = .post; $0.body = .json(credentials) }
/// ```
///
/// What the request overrides of its environment, such as retries, is among its ``options``, and can be set with all else:
/// `$0.options.retry = .default`. An interceptor that sends it on doesn't take that along.
///
/// Its pieces aren't checked when they are set, since neither a setter nor a chain of modifiers can throw well; they
/// are checked when the request is built, and a bad one is a typed error then. Nothing bad is sent.
public struct HTTPRequest: Sendable {
    // An array of one, since it is copied on write: a request goes through many hands, most of which only pass it on,
    // and a copy of it takes as long as one of its fields.
    private var storage: [Fields]

    private struct Fields: Sendable {
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
        var usesCookies = true
        var template: URLRequest?
        var credentialGenerations: [ObjectIdentifier: Int] = [:]
        var hasLeftOrigin = false
        var encodableQueries: [EncodableQuery] = []
        var attachment: (any Sendable)?
        var guide = Guide.caller
    }

    /// What has chosen the address.
    enum Guide: Sendable, Equatable {
        /// The caller.
        case caller
        /// The caller, but for a query parameter, which takes the place of all of its name when the address is whole.
        case parameter(Query.Item)
        /// A response of the same origin.
        case origin
        /// A response that has led to another origin, or that came from one.
        case otherOrigin
    }

    private var fields: Fields {
        _read { yield storage[0] }
        _modify { yield &storage[0] }
    }

    /// Makes a request; by default one that gets the resource.
    ///
    /// - Parameters:
    ///   - url: The address; one without a scheme is appended to the base URL of wherever the request runs.
    ///   - method: What is asked of the resource.
    ///   - headers: The header fields.
    ///   - body: The content.
    ///   - timeout: How long the transfer may stay silent; nil leaves that to the environment.
    public init(
        url: URL,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [],
        body: HTTPBody = .none,
        timeout: Duration? = nil
    ) {
        self.init(.url(url), method: method, headers: headers, body: body, timeout: timeout)
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
    /// Where it goes.
    var address: Address {
        _read { yield fields.address }
        _modify { yield &fields.address }
    }

    /// The query parameters, appended to those that the address has, and encoded once.
    public var query: Query {
        _read { yield fields.query }
        _modify { yield &fields.query }
    }

    /// What is asked of the resource.
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

    /// What adds the caller's credentials whenever the request is sent.
    public var authentication: AuthenticationProvider {
        _read { yield fields.authentication }
        _modify { yield &fields.authentication }
    }

    /// How long the transfer may stay silent; nil leaves that to the environment.
    public var timeout: Duration? {
        _read { yield fields.timeout }
        _modify { yield &fields.timeout }
    }

    /// How far a transport with a cache of its own may answer from it.
    public var cachePolicy: URLRequest.CachePolicy {
        _read { yield fields.cachePolicy }
        _modify { yield &fields.cachePolicy }
    }

    /// Whether a cellular network may carry the request, where the platform knows of one.
    public var allowsCellularAccess: Bool {
        _read { yield fields.allowsCellularAccess }
        _modify { yield &fields.allowsCellularAccess }
    }

    /// Whether compressed content of the response is decoded; true by default.
    ///
    /// Without it, the content is what came over the network, and the transport asks for no coding by itself: set
    /// `Accept-Encoding` to ask for one, and read `Content-Encoding` to see what came. Use it to store or to pass on
    /// content as it is, or to decode it yourself. A `URLSession` always decodes, and ends such a request with an error
    /// of code `unsupported`. A ``ResponseCache`` neither answers nor stores it.
    public var decodesContent: Bool {
        _read { yield fields.decodesContent }
        _modify { yield &fields.decodesContent }
    }

    /// Whether the cookies of the client and of a session are sent, and those of the response kept; true by default.
    ///
    /// A `Cookie` field among the ``headers`` is sent in any case. It is `httpShouldHandleCookies` of a `URLRequest`.
    public var usesCookies: Bool {
        _read { yield fields.usesCookies }
        _modify { yield &fields.usesCookies }
    }

    /// A request of Foundation's with the properties that have no place here; nil if they all have their defaults.
    var template: URLRequest? {
        _read { yield fields.template }
        _modify { yield &fields.template }
    }

    /// Which generation of whose credentials it bears: an answer is judged by what was sent, not by what is there by
    /// then.
    var credentialGenerations: [ObjectIdentifier: Int] {
        _read { yield fields.credentialGenerations }
        _modify { yield &fields.credentialGenerations }
    }

    /// Whether redirects have led to another origin on the way here, and be it back from there.
    ///
    /// Kept with the request, and not read off what was sent before: what a cache answers isn't sent.
    var hasLeftOrigin: Bool {
        _read { yield fields.hasLeftOrigin }
        _modify { yield &fields.hasLeftOrigin }
    }

    /// What has chosen the address: a caller, or a response that links to it.
    var guide: Guide {
        _read { yield fields.guide }
        _modify { yield &fields.guide }
    }
}

extension HTTPRequest {
    /// The values that become query parameters when it is known how; see `query(_:)`.
    var encodableQueries: [EncodableQuery] {
        _read { yield fields.encodableQueries }
        _modify { yield &fields.encodableQueries }
    }

    /// What is kept with the request by code that this one doesn't know.
    var attachment: (any Sendable)? {
        _read { yield fields.attachment }
        _modify { yield &fields.attachment }
    }

    /// Makes query parameters of the values that are to become some, in their places.
    ///
    /// - Throws: What the encoding throws.
    mutating func encodeQueries(with encoder: QueryEncoder) throws {
        query.adopt(encoder.encoding)
        guard !encodableQueries.isEmpty else { return }
        var items = Array(query)
        for encodable in encodableQueries.reversed() {
            items.insert(contentsOf: try encodable.encode(encoder), at: Swift.min(encodable.position, items.count))
        }
        if query.isEmpty { query.spaces = encoder.spaces }
        query.removeAll { _ in true }
        query.append(contentsOf: items)
        encodableQueries = []
    }
}

/// A value that becomes query parameters when the request is built.
struct EncodableQuery: Sendable {
    /// How many parameters stand before it.
    let position: Int
    let encode: @Sendable (QueryEncoder) throws -> Query
}

extension HTTPRequest: CustomStringConvertible {
    /// The method and the address, without credentials and query: nothing in it is a secret.
    public var description: String {
        "\(method.rawValue.shortened(to: 16)) \(url.redactedDescription)"
    }
}

extension HTTPRequest: CustomReflectable {
    /// A mirror without secrets: of the address what the description shows, of the query the names, of the content its
    /// kind.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": description, "query": query, "headers": headers, "body": body])
    }
}

extension URL {
    /// The address without user, password, query, fragment and parameters of the path, where secrets are kept; for
    /// descriptions.
    package var redactedDescription: String { absoluteString.bareAddress.shortened(to: 200) }
}

// MARK: - Body

extension HTTPRequest {
    /// Puts the fields of the request over those that its body implies, and both over those of the environment; the
    /// mandatory ones of the body over all.
    ///
    /// Gives the fields that came from the body: should it be replaced by another, they are that one's to change.
    mutating func applyHeaders(of environment: HTTPHeaders) -> HTTPHeaders {
        let explicit = headers
        var implied = body.headers
        implied.removeAll { explicit.contains($0.name) }
        headers = environment
        headers.merge(implied)
        headers.merge(explicit)
        headers.merge(body.mandatoryHeaders)
        implied.merge(body.mandatoryHeaders)
        return implied
    }

    /// Encodes the body, and brings the header in line with it.
    ///
    /// A field that the body implies goes into the place of one that was only implied, too; what was set or removed by
    /// hand stays that way. The mandatory fields replace all others.
    ///
    /// - Parameters:
    ///   - implied: The fields that ``applyHeaders(of:)`` gave.
    ///   - makeEncoder: Makes the encoder of JSON, where the body brings none; nil takes a plain one.
    /// - Throws: What the encoding throws.
    mutating func resolveBody(implied: HTTPHeaders, using makeEncoder: (@Sendable () -> JSONEncoder)? = nil) throws {
        if body.isDeferred { body = try body.resolved(using: makeEncoder) }
        func isUntouched(_ name: HTTPField.Name) -> Bool { headers[values: name] == implied[values: name] }
        // A body that turns out to be none has no type either.
        var names: Set<HTTPField.Name> = []
        for field in body.isEmpty ? implied : body.headers where isUntouched(field.name) { names.insert(field.name) }
        guard !names.isEmpty || !body.mandatoryHeaders.isEmpty else { return }
        headers.removeAll { names.contains($0.name) }
        for field in body.headers where names.contains(field.name) { headers.add(field.value, for: field.name) }
        headers.merge(body.mandatoryHeaders)
    }
}

// MARK: - Identity

extension HTTPRequest {
    /// Tells the request from every other that a server could answer differently, without a secret in it.
    ///
    /// The method, the whole address, the header fields, the credentials and the content are in it as a digest. A file
    /// or a stream may be another one each time that it is sent: a request with such a body is equal to nothing,
    /// itself included.
    ///
    /// - Complexity: O(n) in the size of what is sent, a body in memory included.
    var identity: String {
        var digest = Digest()
        digest.add(method.rawValue)
        digest.add(url.absoluteString)
        digest.add(queryIdentity)
        if !decodesContent { digest.add("raw") }
        digest.add(authenticated.headers)
        digest.add(body)
        return "\(self) \(digest.hexadecimal)"
    }

    // A value that can't be encoded will fail the request when it is built.
    private var queryIdentity: String {
        guard !encodableQueries.isEmpty else { return query.percentEncoded }
        var copy = self
        do {
            try copy.encodeQueries(with: QueryEncoder())
            return copy.query.percentEncoded
        } catch {
            return "\(error)"
        }
    }

    // Credentials that can't be had now will fail the request when it is built.
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

/// What an identity is made of: each piece with its length, so that no two lists of pieces look the same.
private struct Digest {
    private var bytes: [UInt8] = []

    mutating func add(_ text: String) {
        bytes += "\(text.utf8.count):".utf8
        bytes += text.utf8
    }

    mutating func add(_ headers: HTTPHeaders) {
        for field in headers {
            add(field.name.rawValue.lowercased())
            add(field.value)
        }
    }

    mutating func add(_ body: HTTPBody) {
        guard !body.isEmpty else { return }
        add(body.headers)
        if let data = try? body.data() {
            bytes += SHA256.digest(of: data)
        } else {
            add(UUID().uuidString)
        }
    }

    var hexadecimal: String { SHA256.digest(of: bytes).hexadecimal }
}
