// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPRequest {
    /// The whole address, with the query: absolute, or relative to the base URL of the client that runs the request.
    ///
    /// Values of ``ModifiableRequest/query(_:encoder:)`` are written as a plain ``QueryEncoder`` writes them; when the
    /// request is sent, the encoder of the client does.
    ///
    /// Setting it replaces the whole address, and so removes all parameters of the ``query``.
    public var url: URL {
        get {
            let address = fields.address.url
            return query.isEmpty && fields.encodableQueries.isEmpty ? address : address.adding(wholeQuery)
        }
        set {
            fields.address = Address(newValue)
            if !query.isEmpty { query = [] }
            // One that can't be encoded isn't in the address that was read, and still fails the request.
            if !fields.encodableQueries.isEmpty {
                fields.encodableQueries.removeAll { (try? $0.encode(QueryEncoder())) != nil }
            }
        }
    }

    /// The parameters that aren't in the address yet; without those of a value that can't be encoded.
    private var wholeQuery: Query {
        var copy = self
        try? copy.encodeQueries(with: QueryEncoder())
        return copy.query
    }

    /// Makes a request for a path, or for an absolute address.
    ///
    /// ```swift
    /// HTTPRequest("https://api.example.com/todos/1")
    /// HTTPRequest("users/\(id)/posts?page=2")
    /// HTTPRequest("users", id, "posts")
    /// ```
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path, which is appended to the base URL of the service that runs the request, or an absolute
    ///     address. ``HTTPRequest/Path`` describes how values in it are escaped.
    ///   - segments: Segments behind the path. Each value is one segment, whatever it contains.
    ///   - query: Query parameters, appended to those of the path.
    ///   - body: The content.
    public init(
        method: HTTPMethod = .get,
        _ path: HTTPRequest.Path,
        _ segments: any Query.ValueConvertible...,
        query: Query = [],
        body: HTTPBody = .none
    ) {
        self.init(Address(path.appending(segments)), method: method, body: body)
        self.query = query
    }

    /// Makes a request for the resource at a `URL`, at a list of segments, or at the address of a type of yours.
    @_disfavoredOverload
    public init(
        method: HTTPMethod = .get,
        _ path: some HTTPRequest.Path.Convertible,
        _ segments: any Query.ValueConvertible...,
        query: Query = [],
        body: HTTPBody = .none
    ) {
        self.init(Address(path.requestPath.appending(segments)), method: method, body: body)
        self.query = query
    }

    /// Makes a request for the expansion of a URI template (RFC 6570).
    ///
    /// ```swift
    /// HTTPRequest(URI: "/posts/{postId}{?page}", variables: ["postId": 1])
    /// ```
    ///
    /// Only a template that itself begins with a scheme and an authority makes an absolute address. A variable can't:
    /// its value is a part of the path.
    ///
    /// Nor can a variable choose the host, unless the template says so: with `{region}.example.com`, or with `{host}`
    /// alone. Before a literal host, variables can also be a name and a password, as in
    /// `https://{user}:{password}@example.com/`: they are sent as an `Authorization` field. In a template such as
    /// `https://example.com{+path}`, a value could become a part of the authority. Its request fails with the code
    /// `invalidRequest`, before anything is sent. Write `/` before the variable, or make the host the base URL.
    ///
    /// - Parameters:
    ///   - template: The template.
    ///   - variables: The values of its variables; a variable without a value expands to nothing, as the standard says.
    ///   - method: The method.
    ///   - body: The content.
    public init(
        URI template: URITemplate,
        variables: URITemplate.Variables = [:],
        method: HTTPMethod = .get,
        body: HTTPBody = .none
    ) {
        self.init(Address(template, variables), method: method, body: body)
    }

    /// Makes a request in a closure.
    ///
    /// ```swift
    /// HTTPRequest { $0.path = "login"; $0.method = .post; $0.body = .json(credentials) }
    /// ```
    ///
    /// - Throws: Any error that the closure throws.
    public init(_ configure: (inout HTTPRequest) throws -> Void) rethrows {
        self.init(.reference(""))
        try configure(&self)
    }

    /// Makes a request for a path below a base URL.
    ///
    /// - Parameters:
    ///   - path: The path as it is written, with its slashes, and a query if it has one; escaped if necessary. It can't
    ///     lead to another host. For values, use a ``HTTPRequest/Path``.
    ///   - baseURL: The URL to append the path to; its own path and query are kept.
    ///   - method: The method.
    public init(path: String, relativeTo baseURL: URL, method: HTTPMethod = .get) {
        do throws(InvalidValue) {
            self.init(.url(try URL.joined(base: baseURL, reference: path)), method: method)
        } catch {
            self.init(.invalid(error), method: method)
        }
    }

    /// The path of the address, escaped if necessary.
    ///
    /// Setting it, with its slashes, changes the path on the same host; the rest of the address stays, with its query.
    /// A path with a query, as in `"users?page=2"`, replaces the query of the address; ``query`` stays in any case.
    /// Each interpolated value is one segment.
    ///
    /// A path that leaves the base URL with `..`, or that names a host, is an error when the request is built. To set a
    /// host, set ``url``. Setting the path doesn't repair an address that a setter has refused before.
    public var path: HTTPRequest.Path {
        get { HTTPRequest.Path(fields.address.url.path(percentEncoded: true)) }
        set { setPath(newValue) }
    }

    private mutating func setPath(_ path: HTTPRequest.Path) {
        if case .invalid = fields.address { return }
        if let failure = path.failure { return fields.address = .invalid(failure) }
        guard AddressParts(path.text) == nil else {
            let reason = "is a path that names a host: set `url` instead"
            return fields.address = .invalid(InvalidValue(.url, reason, excerpt: path.text))
        }
        let (text, query) = path.text.splitAtQuery
        if case .reference(let reference) = fields.address {
            let kept = query ?? reference.splitAtQuery.query ?? ""
            return fields.address = .reference(kept.isEmpty ? text : "\(text)?\(kept)")
        }
        do throws(InvalidValue) {
            let encoded = try text.percentEncodedPath()
            changeComponents { components in
                components.percentEncodedPath = encoded.hasPrefix("/") ? encoded : "/" + encoded
                guard let query else { return }
                let encoded = ASCIISet.query.encode(query, keepsTriplets: true)
                components.percentEncodedQuery = encoded.isEmpty ? nil : encoded
            }
        } catch {
            fields.address = .invalid(error)
        }
    }

    /// The scheme of an absolute address, `http` or `https`; setting it makes an address with a host absolute.
    public var scheme: String? {
        get { fields.address.url.scheme }
        set {
            // Foundation ends the process over an invalid scheme, and over a port below zero.
            if let newValue, !newValue.isScheme {
                return refuse("has an invalid scheme", excerpt: newValue)
            }
            changeComponents { $0.scheme = newValue }
        }
    }

    /// The host of an absolute address; setting it makes the address absolute, with the scheme `https` if it has no
    /// other.
    public var host: String? {
        get { fields.address.url.host(percentEncoded: false) }
        set {
            changeComponents { components in
                components.host = newValue
                if newValue != nil, components.scheme == nil { components.scheme = "https" }
                if newValue != nil, !components.percentEncodedPath.hasPrefix("/") {
                    components.percentEncodedPath = "/" + components.percentEncodedPath
                }
            }
        }
    }

    /// The port of an absolute address; `nil` for the default port of its scheme.
    public var port: Int? {
        get { fields.address.url.port }
        set {
            if let newValue, newValue < 0 { return refuse("has a port out of range (0–65535)", excerpt: "\(newValue)") }
            changeComponents { $0.port = newValue }
        }
    }

    private mutating func refuse(_ reason: String, excerpt: String) {
        if case .invalid = fields.address { return }
        fields.address = .invalid(InvalidValue(.url, reason, excerpt: excerpt))
    }

    private mutating func changeComponents(_ change: (inout URLComponents) -> Void) {
        if case .invalid = fields.address { return }
        let address = fields.address.url
        var components = URLComponents(url: address, resolvingAgainstBaseURL: true) ?? URLComponents()
        change(&components)
        guard let url = components.url else {
            return refuse("isn't an address", excerpt: address.redactedDescription)
        }
        fields.address = Address(url)
    }

    /// Makes the address absolute and complete: the base, the inherited query, and the query of the request itself, in
    /// this order.
    ///
    /// An absolute address is kept. It inherits the query only if it has the origin of the base, or if there is no
    /// base.
    ///
    /// - Throws: ``InvalidValue`` for an address that is invalid, that climbs out of the base, or that is relative
    ///   without a base.
    /// - Complexity: O(n) in the length of the address.
    mutating func resolve(base: BaseURL?, inheriting inherited: Query = []) throws(InvalidValue) {
        switch fields.address {
        case .invalid(let error):
            throw error
        case .url(let url):
            var added = inherited.isEmpty || inherits(from: base?.url) ? inherited : []
            added.append(contentsOf: query)
            guard !added.isEmpty else { return }
            fields.address = .url(try URL.joined(base: url, query: added))
        case .reference(let reference):
            guard let base else {
                let start = reference.drop { $0 == "/" }.prefix(8).lowercased()
                let isSegment = start.hasPrefix("http%3a") || start.hasPrefix("https%3a")
                let fix = isSegment ? ": a text is one segment; interpolate a URL, or `\\(raw:)`, for an address" : ""
                throw InvalidValue(.url, "is relative, and there is no base URL\(fix)", excerpt: reference)
            }
            fields.address = .url(try base.appending(reference, inheriting: inherited, query: query))
        }
        query = []
    }

    /// The origin that the request is sent to; `nil` if it isn't known yet.
    func origin(in baseURL: URL?) -> Origin? {
        fields.address.origin(in: baseURL)
    }

    /// Whether the settings of a base URL apply to this request: credentials must not reach another origin.
    func inherits(from baseURL: URL?) -> Bool { originChange(from: baseURL) == .none }

    /// The distance of the address from the base URL, whose settings the request inherits.
    ///
    /// An address that a response names has the distance of the whole way to it.
    func originChange(from baseURL: URL?) -> OriginChange {
        if case .link(let change) = fields.notes.addressSource, change != .none { return change }
        guard let baseURL, case .url(let url) = fields.address else { return .none }
        return OriginChange(from: baseURL, to: url)
    }
}

/// The difference between the request for a later page and that for the first one.
enum PageTarget: Sendable {
    /// The address that a response names, and the longest distance from the first origin on the way to it.
    case link(URL, OriginChange)
    /// A query parameter, which replaces those of its name.
    case query(Query.Item)
}

extension HTTPRequest {
    /// Turns the request for a page into the request for another one.
    ///
    /// - Parameters:
    ///   - target: The link or parameter of the other page.
    ///   - baseURL: The URL that a relative address is appended to.
    ///   - marks: The marks of header fields.
    /// - Throws: ``InvalidValue`` for content that would go to another origin, and for an invalid address.
    mutating func retarget(
        to target: PageTarget,
        baseURL: URL?,
        marks: HeaderMarks
    ) throws(InvalidValue) {
        switch target {
        case .query(let item):
            fields.notes.addressSource = .parameter(item)
        case .link(let url, .none):
            try resolve(base: baseURL.map(BaseURL.init))
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
            if Origin(url) == Origin(self.url) {
                // A user and a password in the address belong to the origin.
                components?.percentEncodedUser = self.url.user(percentEncoded: true)
                components?.percentEncodedPassword = self.url.password(percentEncoded: true)
            }
            follow(components?.url ?? url, .none)
        case .link(let url, let change):
            guard body.isEmpty else {
                throw InvalidValue(.body, "isn't sent to another origin, where the next page is")
            }
            marks.mark(&headers)
            authentication = .none
            leaveOrigin(change)
            follow(url, change)
        }
    }

    /// Replaces the address by a complete one: no part of the query is added to it.
    private mutating func follow(_ url: URL, _ change: OriginChange) {
        (fields.address, fields.query, fields.encodableQueries) = (.url(url), [], [])
        fields.notes.addressSource = .link(change)
    }

    /// Replaces all parameters of a name, in the address and in the query, by one parameter.
    mutating func setParameter(_ item: Query.Item) {
        let present = Query(percentEncoded: fields.address.url.query(percentEncoded: true) ?? "", spaces: query.spaces)
        if present.contains(item.name) {
            replaceParameter(item, style: query)
            query.remove(named: item.name)
        } else {
            query.set(item.value, for: item.name)
        }
        fields.encodableQueries = fields.encodableQueries.map { encodable in
            EncodableQuery(position: encodable.position) { encoder in
                var query = try encodable.encode(encoder)
                query.remove(named: item.name)
                return query
            }
        }
    }

    /// Replaces all parameters of a name in the address, which is complete, by one parameter.
    ///
    /// - Parameters:
    ///   - item: The parameter.
    ///   - style: A query that decides how it is written.
    mutating func replaceParameter(_ item: Query.Item, style: Query) {
        changeComponents { components in
            let text = components.percentEncodedQuery ?? ""
            var pieces = text.split(separator: "&", omittingEmptySubsequences: false)
            func isNamed(_ piece: Substring) -> Bool {
                Query(percentEncoded: String(piece), spaces: style.spaces).contains(item.name)
            }
            var query = style
            query.removeAll { _ in true }
            query.append(item)
            let position = pieces.firstIndex(where: isNamed) ?? pieces.endIndex
            pieces.removeAll(where: isNamed)
            pieces.insert(Substring(query.percentEncoded), at: position)
            components.percentEncodedQuery = pieces.filter { !$0.isEmpty }.joined(separator: "&")
        }
    }
}

extension Address {
    /// The origin of an absolute address; for a relative one, that of the base.
    func origin(in baseURL: URL?) -> Origin? {
        guard case .url(let url) = self else { return baseURL.map(Origin.init) }
        return Origin(url)
    }

    fileprivate init(_ template: URITemplate, _ variables: URITemplate.Variables) {
        do {
            let text = try template.expand(variables)
            // The address of the template itself: an expansion that only looks absolute is a path.
            guard AddressParts(String(template.description.prefix { $0 != "{" })) != nil else {
                self = .reference(text)
                return
            }
            // `https://api.example.com{+path}` with `@evil.example` would take the credentials of the request there.
            guard template.hasSafeAuthority else {
                let reason = "lets a variable change its host: end the host before the variable, or use a base URL"
                self = .invalid(InvalidValue(.url, reason, excerpt: template.description))
                return
            }
            self = .absolute(text)
        } catch {
            self = .invalid(InvalidValue(.url, "can't be made of its template: \(error)"))
        }
    }
}
