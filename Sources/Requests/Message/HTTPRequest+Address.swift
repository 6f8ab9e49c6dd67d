// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPRequest {
    /// The complete URL with the query, absolute or relative to the base URL of the client that runs the request.
    ///
    /// The URL includes the values of ``ModifiableRequest/query(_:encoder:)`` as a default ``QueryEncoder`` encodes
    /// them. When the request is sent, the client's encoder is used instead.
    ///
    /// Setting the URL replaces it entirely, and so removes all parameters of ``query``.
    public var url: URL {
        get {
            let address = fields.address.url
            return query.isEmpty && fields.encodableQueries.isEmpty ? address : address.adding(encodedQuery)
        }
        set {
            fields.address = Address(newValue)
            if !query.isEmpty { query = [] }
            // Keep values that can't be encoded, because they weren't part of the URL that the caller read, and must
            // still make the request fail.
            if !fields.encodableQueries.isEmpty {
                fields.encodableQueries.removeAll { (try? $0.encode(QueryEncoder())) != nil }
            }
        }
    }

    /// The parameters that aren't part of the URL yet, excluding values that can't be encoded.
    private var encodedQuery: Query {
        var copy = self
        try? copy.encodeQueries(with: QueryEncoder())
        return copy.query
    }

    /// Creates a request for a path, or for an absolute URL.
    ///
    /// ```swift
    /// HTTPRequest("https://api.example.com/todos/1")
    /// HTTPRequest("users/\(id)/posts?page=2")
    /// HTTPRequest("users", id, "posts")
    /// ```
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: An absolute URL, or a path that is appended to the base URL of the service that runs the request.
    ///     ``HTTPRequest/Path`` describes how values in it are escaped.
    ///   - segments: Segments to append to the path. Each value becomes one segment, whatever characters it contains.
    ///   - query: Query parameters to append to those of the path.
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

    /// Creates a request for a `URL`, a list of path segments, or a type of your own that provides a path.
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

    /// Creates a request from a URI template and its variables (RFC 6570).
    ///
    /// ```swift
    /// HTTPRequest(URI: "/posts/{postId}{?page}", variables: ["postId": 1])
    /// ```
    ///
    /// The URL is absolute only if the template itself begins with a scheme and an authority. A variable can't make it
    /// absolute, because its value becomes part of the path.
    ///
    /// A variable can't choose the host either, unless the template allows it, as `{region}.example.com` does, or
    /// `{host}` on its own. Before a literal host, variables can supply a user name and a password, as in
    /// `https://{user}:{password}@example.com/`. They are sent in an `Authorization` field. In a template such as
    /// `https://example.com{+path}`, a value could become part of the authority. Such a request fails with the code
    /// `invalidRequest`, before anything is sent. Write `/` before the variable, or make the host the base URL.
    ///
    /// - Parameters:
    ///   - template: The template.
    ///   - variables: The values of the template's variables. A variable without a value expands to an empty string
    ///     (RFC 6570, 3.2.1).
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

    /// Creates a request and configures it in a closure.
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

    /// Creates a request for a path below a base URL.
    ///
    /// - Parameters:
    ///   - path: The path, including its slashes and optionally a query. Characters are escaped if necessary. The path
    ///     can't lead to another host. To insert values, use an ``HTTPRequest/Path``.
    ///   - baseURL: The URL to append the path to. Its own path and query are kept.
    ///   - method: The method.
    public init(path: String, relativeTo baseURL: URL, method: HTTPMethod = .get) {
        do throws(InvalidValue) {
            self.init(.url(try URL.joined(base: baseURL, reference: path)), method: method)
        } catch {
            self.init(.invalid(error), method: method)
        }
    }

    /// The path of the URL, escaped if necessary.
    ///
    /// Setting the path keeps the host and the rest of the URL, including the query. A path that contains a query, as
    /// in `"users?page=2"`, replaces the query of the URL, but never the ``query`` property. Slashes in the path
    /// separate segments, but each interpolated value is one segment.
    ///
    /// If the path leaves the base URL with `..`, or names a host, building the request fails. To change the host, set
    /// ``url``. Setting the path doesn't repair a URL that another setter has already made invalid.
    public var path: HTTPRequest.Path {
        get { HTTPRequest.Path(fields.address.url.path(percentEncoded: true)) }
        set { setPath(newValue) }
    }

    private mutating func setPath(_ path: HTTPRequest.Path) {
        if case .invalid = fields.address { return }
        if let failure = path.failure { return fields.address = .invalid(failure) }
        guard AddressParts(path.text) == nil else {
            let reason = "contains a host: set `url` instead"
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

    /// The scheme of an absolute URL, `http` or `https`.
    ///
    /// If the URL has a host, setting the scheme makes the URL absolute.
    public var scheme: String? {
        get { fields.address.url.scheme }
        set {
            // Foundation terminates the process for an invalid scheme or a negative port.
            if let newValue, !newValue.isScheme {
                return invalidateAddress("has an invalid scheme", excerpt: newValue)
            }
            changeComponents { $0.scheme = newValue }
        }
    }

    /// The host of an absolute URL.
    ///
    /// Setting the host makes the URL absolute, with the scheme `https` if it has none.
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

    /// The port of an absolute URL; `nil` means the default port of its scheme.
    public var port: Int? {
        get { fields.address.url.port }
        set {
            if let newValue, newValue < 0 {
                return invalidateAddress("has a port out of range (0–65535)", excerpt: "\(newValue)")
            }
            changeComponents { $0.port = newValue }
        }
    }

    private mutating func invalidateAddress(_ reason: String, excerpt: String) {
        if case .invalid = fields.address { return }
        fields.address = .invalid(InvalidValue(.url, reason, excerpt: excerpt))
    }

    private mutating func changeComponents(_ change: (inout URLComponents) -> Void) {
        if case .invalid = fields.address { return }
        let address = fields.address.url
        var components = URLComponents(url: address, resolvingAgainstBaseURL: true) ?? URLComponents()
        change(&components)
        guard let url = components.url else {
            return invalidateAddress("is malformed", excerpt: address.redactedDescription)
        }
        fields.address = Address(url)
    }

    /// Resolves the URL to an absolute URL by joining the base, the inherited query and the request's own query, in
    /// this order.
    ///
    /// An absolute URL doesn't use the base. It inherits the query only if it has the same origin as the base, or if
    /// there is no base.
    ///
    /// - Throws: ``InvalidValue`` if the URL is invalid, if it escapes the base path, or if it is relative and there is
    ///   no base.
    /// - Complexity: O(n) in the length of the URL.
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
                let fix =
                    isSegment ? ": a string becomes one segment; for a URL, interpolate a URL or use `\\(raw:)`" : ""
                throw InvalidValue(.url, "is relative, but there is no base URL\(fix)", excerpt: reference)
            }
            fields.address = .url(try base.appending(reference, inheriting: inherited, query: query))
        }
        query = []
    }

    /// Returns the origin that the request will be sent to, or `nil` if it isn't known yet.
    func origin(in baseURL: URL?) -> Origin? {
        fields.address.origin(in: baseURL)
    }

    /// Returns whether the request may use the settings of the base URL, such as credentials, because it goes to the
    /// same origin.
    func inherits(from baseURL: URL?) -> Bool { originChange(from: baseURL) == .none }

    /// Compares the request's origin with that of the base URL whose settings it inherits.
    ///
    /// If the URL came from a response, the result is the largest change along the chain of URLs that led to it.
    func originChange(from baseURL: URL?) -> OriginChange {
        if case .link(let change) = fields.notes.addressSource, change != .none { return change }
        guard let baseURL, case .url(let url) = fields.address else { return .none }
        return OriginChange(from: baseURL, to: url)
    }
}

/// Describes how the request for a later page differs from the request for the first page.
enum PageTarget: Sendable {
    /// A URL from a response, and the largest change of origin along the chain of URLs that led to it.
    case link(URL, OriginChange)
    /// A query parameter, which replaces all parameters of the same name.
    case query(Query.Item)
}

extension HTTPRequest {
    /// Changes the request for one page into the request for another page.
    ///
    /// - Parameters:
    ///   - target: The link or parameter of the other page.
    ///   - baseURL: The URL that a relative URL is appended to.
    ///   - marks: The names of the header fields to mark as secret or as allowed cross-origin.
    /// - Throws: ``InvalidValue`` if content would be sent to another origin, or if the URL is invalid.
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
                // A user and a password belong to the origin, so keep them if the link has the same origin.
                components?.percentEncodedUser = self.url.user(percentEncoded: true)
                components?.percentEncodedPassword = self.url.password(percentEncoded: true)
            }
            replaceAddress(components?.url ?? url, .none)
        case .link(let url, let change):
            guard body.isEmpty else {
                throw InvalidValue(.body, "can't be sent to the next page, because it has a different origin")
            }
            marks.mark(&headers)
            authentication = .none
            leaveOrigin(change)
            replaceAddress(url, change)
        }
    }

    /// Replaces the URL with a complete URL, and removes the query parameters that would be added to it.
    private mutating func replaceAddress(_ url: URL, _ change: OriginChange) {
        (fields.address, fields.query, fields.encodableQueries) = (.url(url), [], [])
        fields.notes.addressSource = .link(change)
    }

    /// Sets a parameter, and removes all other parameters with the same name from the URL and the query.
    mutating func setParameter(_ item: Query.Item) {
        let current = Query(percentEncoded: fields.address.url.query(percentEncoded: true) ?? "", spaces: query.spaces)
        if current.contains(item.name) {
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

    /// Sets a parameter in a complete URL, and removes all other parameters with the same name.
    ///
    /// - Parameters:
    ///   - item: The parameter.
    ///   - style: A query whose encoding style is used for the parameter.
    mutating func replaceParameter(_ item: Query.Item, style: Query) {
        changeComponents { components in
            let text = components.percentEncodedQuery ?? ""
            var parameters = text.split(separator: "&", omittingEmptySubsequences: false)
            func isNamed(_ parameter: Substring) -> Bool {
                Query(percentEncoded: String(parameter), spaces: style.spaces).contains(item.name)
            }
            var query = style
            query.removeAll { _ in true }
            query.append(item)
            let position = parameters.firstIndex(where: isNamed) ?? parameters.endIndex
            parameters.removeAll(where: isNamed)
            parameters.insert(Substring(query.percentEncoded), at: position)
            components.percentEncodedQuery = parameters.filter { !$0.isEmpty }.joined(separator: "&")
        }
    }
}

extension Address {
    /// Returns the origin of an absolute URL, or the origin of the base for a relative URL.
    func origin(in baseURL: URL?) -> Origin? {
        guard case .url(let url) = self else { return baseURL.map(Origin.init) }
        return Origin(url)
    }

    fileprivate init(_ template: URITemplate, _ variables: URITemplate.Variables) {
        do {
            let text = try template.expand(variables)
            // Check the literal prefix of the template instead of its expansion, because a variable that merely looks
            // like an absolute URL must still become a path.
            guard AddressParts(String(template.description.prefix { $0 != "{" })) != nil else {
                self = .reference(text)
                return
            }
            // For example, expanding `https://api.example.com{+path}` with `@evil.example` would send the credentials
            // to another host.
            guard template.hasSafeAuthority else {
                let reason = "allows a variable to change the host: end the host before the variable, or use a base URL"
                self = .invalid(InvalidValue(.url, reason, excerpt: template.description))
                return
            }
            self = .absolute(text)
        } catch {
            self = .invalid(InvalidValue(.url, "can't be created from its template: \(error)"))
        }
    }
}
