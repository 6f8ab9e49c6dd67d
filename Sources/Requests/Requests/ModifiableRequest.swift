// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request with modifiers: each makes a copy with one thing changed, and leaves the request itself as it is.
///
/// ```swift
/// let request = Get<User>("users/\(id)")
///     .headers { Accept(.json) }
///     .timeout(10)
///     .retry(limit: 2)
/// ```
///
/// Modifiers that are called several times add up: `headers`, `query` and `validating` keep what is there. What takes the
/// place of all that was there is called `replacing`: ``replacingHeaders(_:)``, ``replacingQuery(_:)``.
///
/// Adopted by ``TypedRequest``, ``HTTPRequest`` and ``Download``. A request type of your own, of whatever kind, gets all
/// modifiers by adopting it too and storing its options; it stays the type that it is, with its own operation:
///
/// ```swift
/// struct RecipeRequest: DecodableRequest, ModifiableRequest {
///     typealias Success = Recipe
///     let recipeID: String
///     var options = RequestOptions()
///     …
/// }
/// let recipe = try await client.fetch(RecipeRequest(recipeID: "7").retry(limit: 2).headers { Accept(.json) })
/// ```
///
/// What modifiers change about what such a type sends is changed when the request is built; its `identifier` doesn't know
/// of that unless the type is a ``RequestConvertible``.
public protocol ModifiableRequest: Sendable {
    /// What to override of the environment.
    var options: RequestOptions { get set }

    /// Changes what is sent; by default the change is recorded in the ``options``, and made when the request is built.
    ///
    /// Implement it where the request stores what it sends: `change(&http)`.
    mutating func change(_ change: @escaping @Sendable (inout HTTPRequest) -> Void)
}

extension ModifiableRequest {
    /// Records the change.
    public mutating func change(_ change: @escaping @Sendable (inout HTTPRequest) -> Void) {
        options.changes.append(change)
    }

    /// A copy, changed in whatever way.
    ///
    /// - Throws: What `change` throws.
    public func modified(_ change: (inout Self) throws -> Void) rethrows -> Self {
        var copy = self
        try change(&copy)
        return copy
    }

    private func sending(_ change: @escaping @Sendable (inout HTTPRequest) -> Void) -> Self {
        modified { $0.change(change) }
    }

    /// A copy with other options, as a closure changes them.
    public func options(_ change: (inout RequestOptions) -> Void) -> Self {
        modified { change(&$0.options) }
    }

    // MARK: Headers

    /// A copy with more header fields, each of which replaces those of its name; all others stay.
    ///
    /// A name that stands twice in `headers` is sent twice.
    public func headers(_ headers: HTTPHeaders) -> Self {
        sending { $0.headers.merge(headers) }
    }

    /// A copy with other header fields, in the place of all that were there.
    public func replacingHeaders(_ headers: HTTPHeaders) -> Self {
        sending { $0.headers = headers }
    }

    /// A copy with the fields that a builder gives, each of which replaces those of its name.
    ///
    /// ```swift
    /// request.headers {
    ///     Accept(.json)
    ///     if let token { Authorization("Bearer \(token)") }
    /// }
    /// ```
    ///
    /// Called several times, the later wins where both have a field of one name. A name that a builder gives twice is
    /// sent twice.
    public func headers(@HeadersBuilder _ headers: () -> HTTPHeaders) -> Self {
        self.headers(headers())
    }

    /// A copy with a field that replaces those of its name.
    public func settingHeader(_ field: HTTPField) -> Self {
        sending { $0.headers.set(field) }
    }

    /// A copy with one more field, also where one of the same name is.
    public func addingHeader(_ field: HTTPField) -> Self {
        addingHeaders([field])
    }

    /// A copy with more fields, also where fields of the same names are.
    public func addingHeaders(_ fields: HTTPHeaders) -> Self {
        sending { request in
            for field in fields { request.headers.add(field) }
        }
    }

    // MARK: Query

    /// A copy with more query parameters, behind those that are there.
    public func query(_ query: Query) -> Self {
        sending { $0.query.append(contentsOf: query) }
    }

    /// A copy with the query parameters that a builder gives, behind those that are there.
    public func query(@QueryBuilder _ query: () -> Query) -> Self {
        self.query(query())
    }

    /// A copy with more query parameters; another name of `query`.
    public func queryItems(@QueryBuilder _ query: () -> Query) -> Self {
        self.query(query())
    }

    /// A copy with the properties of a value as query parameters, behind those that are there.
    ///
    /// ```swift
    /// struct Filter: Encodable { var text: String; var tags: [String]; var since: Date }
    /// let request = Get<[Post]>("posts").query(Filter(text: "pan", tags: ["sweet"], since: monday))
    /// ```
    ///
    /// - Parameters:
    ///   - value: What to encode, when the request is sent; its top level has to have names. What it throws is the error of
    ///     the request.
    ///   - encoder: How lists, dates and the like are written; nil, the default, as the environment's
    ///     ``RequestEnvironment/queryEncoder`` does.
    /// - Returns: The copy.
    @_disfavoredOverload
    public func query(_ value: some Encodable & Sendable, encoder: QueryEncoder? = nil) -> Self {
        sending { request in
            let encodable = EncodableQuery(position: request.query.count) { try (encoder ?? $0).encode(value) }
            request.encodableQueries.append(encodable)
        }
    }

    /// A copy with other query parameters, in the place of all that were there.
    public func replacingQuery(_ query: Query) -> Self {
        sending { request in
            request.query = query
            request.encodableQueries = []
        }
    }

    // MARK: Body

    /// A copy with other content.
    public func body(_ body: HTTPBody) -> Self {
        sending { $0.body = body }
    }

    /// A copy with the content that a builder gives: one value that is sent as JSON, data that is sent as it is, or
    /// nothing.
    ///
    /// ```swift
    /// Post<User>("users").body { NewUser(name: "Ada") }
    /// ```
    ///
    /// - Parameters:
    ///   - encoder: Makes the encoder, for each attempt one; by default one that sorts keys.
    ///   - body: Builds the content. It is encoded when the request is sent, and what the encoder throws is the
    ///     failure of the request.
    /// - Returns: The copy.
    public func body(
        encoder: (@Sendable () -> JSONEncoder)? = nil,
        @BodyBuilder _ body: () -> BodyBuilder.Content
    ) -> Self {
        self.body(body().body(encoder))
    }

    // MARK: The rest

    /// A copy with another method.
    public func method(_ method: HTTPMethod) -> Self {
        sending { $0.method = method }
    }

    /// A copy that may stay silent for another time.
    public func timeout(_ timeout: Duration) -> Self {
        sending { $0.timeout = timeout }
    }

    /// A copy that may stay silent for so many seconds.
    ///
    /// What isn't a number is no time at all, and infinity as good as one: thirty years.
    public func timeout(_ seconds: Double) -> Self {
        // A `Duration` traps on either.
        timeout(.seconds(seconds > 0 ? min(seconds, 1e9) : 0))
    }

    /// A copy that a transport with a cache of its own may answer from it as far as the policy says.
    public func cachePolicy(_ policy: URLRequest.CachePolicy) -> Self {
        sending { $0.cachePolicy = policy }
    }

    /// A copy that a cellular network may carry, or not.
    public func allowsCellularAccess(_ allows: Bool) -> Self {
        sending { $0.allowsCellularAccess = allows }
    }

    /// A copy whose compressed response is decoded, or comes as it is; see ``HTTPRequest/decodesContent``.
    public func decodesContent(_ decodes: Bool) -> Self {
        sending { $0.decodesContent = decodes }
    }

    /// A copy with credentials, which are added to it whenever it is sent.
    public func authenticated(with provider: AuthenticationProvider) -> Self {
        sending { $0.authentication = provider }
    }
}
