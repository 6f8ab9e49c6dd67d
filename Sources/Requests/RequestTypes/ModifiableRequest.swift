// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request with modifiers, each of which returns a copy with one change and leaves the request itself unchanged.
///
/// ```swift
/// let request = Get<User>("users/\(id)")
///     .headers { Accept(.json) }
///     .timeout(10)
///     .retry(limit: 2)
/// ```
///
/// Repeated calls to `headers`, `query` and `validating` add to the previous values. Modifiers that replace all
/// previous values begin with `replacing`: ``replacingHeaders(_:)``, ``replacingQuery(_:)``.
///
/// ``TypedRequest``, ``HTTPRequest`` and ``Download`` conform to this protocol. Your own request types, of any kind,
/// get all modifiers if they conform, too, and store their options. The copies keep the type and its operation:
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
/// The changes made by modifiers of such a request are applied when it is built. Its `identifier` doesn't include them
/// unless the type is a ``RequestConvertible``.
public protocol ModifiableRequest: Sendable {
    /// The options, which override the environment's options.
    var options: RequestOptions { get set }

    /// Changes the request; by default, records the change in the ``options``, to be applied when the request is built.
    ///
    /// If your type stores the HTTP request that it sends, implement this method as `change(&http)`.
    mutating func change(_ change: @escaping @Sendable (inout HTTPRequest) -> Void)
}

extension ModifiableRequest {
    /// Records the change in the options.
    public mutating func change(_ change: @escaping @Sendable (inout HTTPRequest) -> Void) {
        options.changes.append(change)
    }

    /// Returns a copy modified by a closure.
    ///
    /// - Throws: Any error that `change` throws.
    public func modified(_ change: (inout Self) throws -> Void) rethrows -> Self {
        var copy = self
        try change(&copy)
        return copy
    }

    private func changingHTTP(_ change: @escaping @Sendable (inout HTTPRequest) -> Void) -> Self {
        modified { $0.change(change) }
    }

    /// Returns a copy whose options a closure has changed.
    public func options(_ change: (inout RequestOptions) -> Void) -> Self { modified { change(&$0.options) } }

    // MARK: Headers

    /// Returns a copy with more header fields; each replaces any existing fields with the same name.
    ///
    /// All other fields stay. A name that occurs twice in `headers` is sent twice.
    public func headers(_ headers: HTTPHeaders) -> Self { changingHTTP { $0.headers.merge(headers) } }

    /// Returns a copy with new header fields, which replace all existing fields.
    public func replacingHeaders(_ headers: HTTPHeaders) -> Self { changingHTTP { $0.headers = headers } }

    /// Returns a copy with the header fields of a builder; each replaces any existing fields with the same name.
    ///
    /// ```swift
    /// request.headers {
    ///     Accept(.json)
    ///     if let token { Authorization("Bearer \(token)") }
    /// }
    /// ```
    ///
    /// If you call the method several times, the last field with a name wins. A name that occurs twice in one builder
    /// is sent twice.
    public func headers(@HTTPHeaders.Builder _ headers: () -> HTTPHeaders) -> Self { self.headers(headers()) }

    /// Returns a copy with a header field, which replaces any existing fields with the same name.
    ///
    /// ```swift
    /// Get<User>("users/1").header("X-Team", "kitchen").header(.acceptLanguage, "de")
    /// ```
    public func header(_ name: HTTPField.Name, _ value: String) -> Self { settingHeader(HTTPField(name, value)) }

    /// Returns a copy with a header field, which replaces any existing fields with the same name.
    public func settingHeader(_ field: HTTPField) -> Self { changingHTTP { $0.headers.set(field) } }

    /// Returns a copy with an additional header field, even if it already has a field of that name.
    public func addingHeader(_ field: HTTPField) -> Self { addingHeaders([field]) }

    /// Returns a copy with an additional header field, even if it already has a field of that name.
    public func addingHeader(_ name: HTTPField.Name, _ value: String) -> Self { addingHeader(HTTPField(name, value)) }

    /// Returns a copy with additional header fields, even if it already has fields of the same names.
    public func addingHeaders(_ fields: HTTPHeaders) -> Self {
        changingHTTP { request in
            for field in fields { request.headers.add(field) }
        }
    }

    // MARK: Query

    /// Returns a copy with more query parameters, after the existing parameters.
    public func query(_ query: Query) -> Self { changingHTTP { $0.query.append(contentsOf: query) } }

    /// Returns a copy with one more query parameter, after the existing parameters.
    ///
    /// ```swift
    /// Get<[User]>("users").query("q", text).query("page", 2)
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name. If it is already present, it is sent twice; ``replacingQuery(_:_:)`` replaces it.
    ///   - value: The value; `nil` for a name without a value, like `flag` in `?flag`.
    /// - Returns: The copy.
    public func query(_ name: String, _ value: (any Query.ValueConvertible)?) -> Self {
        changingHTTP { $0.query.append(name, value: value) }
    }

    /// Returns a copy with the query parameters of a builder, after the existing parameters.
    public func query(@Query.Builder _ query: () -> Query) -> Self { self.query(query()) }

    /// Returns a copy with more query parameters; a synonym of `query`.
    public func queryItems(@Query.Builder _ query: () -> Query) -> Self { self.query(query()) }

    /// Returns a copy with the properties of a value as query parameters, after the existing parameters.
    ///
    /// ```swift
    /// struct Filter: Encodable { var text: String; var tags: [String]; var since: Date }
    /// let request = Get<[Post]>("posts").query(Filter(text: "pan", tags: ["sweet"], since: monday))
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value, which is encoded when the request is sent. At its top level, it must encode into a keyed
    ///     container. An encoding error makes the request fail.
    ///   - encoder: Determines how lists, dates and other values are encoded; `nil`, the default, uses the
    ///     environment's ``RequestEnvironment/Settings/queryEncoder``.
    /// - Returns: The copy.
    @_disfavoredOverload
    public func query(_ value: some Encodable & Sendable, encoder: QueryEncoder? = nil) -> Self {
        changingHTTP { request in
            let encodable = EncodableQuery(position: request.query.count) { try (encoder ?? $0).encode(value) }
            request.fields.encodableQueries.append(encodable)
        }
    }

    /// Returns a copy with new query parameters, which replace all existing parameters.
    public func replacingQuery(_ query: Query) -> Self {
        changingHTTP { request in
            request.query = query
            request.fields.encodableQueries = []
        }
    }

    /// Returns a copy with one query parameter, which replaces all parameters with its name, including those in the
    /// URL.
    ///
    /// ```swift
    /// let next = request.replacingQuery("offset", 50)
    /// ```
    ///
    /// Parameters that the client adds aren't replaced: both are sent.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value; `nil` for a name without a value.
    /// - Returns: The copy.
    public func replacingQuery(_ name: String, _ value: (any Query.ValueConvertible)?) -> Self {
        changingHTTP { $0.setParameter(Query.Item(name, value: value)) }
    }

    // MARK: Body

    /// Returns a copy with different content.
    public func body(_ body: HTTPBody) -> Self { changingHTTP { $0.body = body } }

    /// Returns a copy with a value as JSON content.
    ///
    /// ```swift
    /// Post<User>("users").body(NewUser(name: "Ada"))
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value, which is encoded when the request is sent. An encoding error makes the request fail.
    ///   - encoder: The encoder; by default, the environment's encoder, or else an encoder that sorts keys.
    /// - Returns: The copy.
    @_disfavoredOverload
    public func body(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> Self {
        body(.json(value, encoder: encoder))
    }

    /// Returns a copy with a literal as JSON content; `nil` means no content.
    ///
    /// For the rules, see ``HTTPBody/json(_:encoder:)-(JSONValue.Literal,_)``.
    public func body(_ literal: JSONValue.Literal) -> Self { body(literal.isNull ? .none : .json(literal)) }

    /// Returns a copy whose body is a JSON object, given as a dictionary literal that contains no nested literals.
    ///
    /// For the rules, see ``HTTPBody/json(_:encoder:)-(JSONValue.Members,_)``.
    public func body(_ members: JSONValue.Members, encoder: JSONEncoder? = nil) -> Self {
        body(.json(members, encoder: encoder))
    }

    /// Rejects a literal with values of different types.
    @available(
        *,
        unavailable,
        message: """
            use .value(x) for each value that isn't a literal: .body(["a": .value(x), "b": ["c": 1]])
            """
    )
    public func body(_ object: [String: Any?], encoder: JSONEncoder? = nil) -> Self { self }

    /// Rejects a literal with values of different types.
    @available(
        *,
        unavailable,
        message: """
            use .value(x) for each value that isn't a literal: .body([["a": .value(x)], 1])
            """
    )
    public func body(_ elements: [Any?], encoder: JSONEncoder? = nil) -> Self { self }

    /// Returns a copy with data as content, which is sent unchanged.
    public func body(_ data: Data) -> Self { body(.data(data)) }

    /// Returns a copy with the content of a builder: a value that is sent as JSON, data that is sent unchanged, or
    /// nothing.
    ///
    /// ```swift
    /// Post<User>("users").body { NewUser(name: "Ada") }
    /// ```
    ///
    /// - Parameters:
    ///   - encoder: Creates an encoder for each attempt; by default, an encoder that sorts keys.
    ///   - body: Builds the content, which is encoded when the request is sent. An encoding error makes the request
    ///     fail.
    /// - Returns: The copy.
    public func body(
        encoder: (@Sendable () -> JSONEncoder)? = nil,
        @HTTPBody.Builder _ body: () -> HTTPBody.Builder.Content
    ) -> Self {
        self.body(body().body(encoder))
    }

    // MARK: The rest

    /// Returns a copy with a different method.
    public func method(_ method: HTTPMethod) -> Self { changingHTTP { $0.method = method } }

    /// Returns a copy with a different idle timeout, which is the maximum time without data.
    public func timeout(_ timeout: Duration) -> Self { changingHTTP { $0.timeout = timeout } }

    /// Returns a copy with an idle timeout in seconds, which is the maximum time without data.
    ///
    /// NaN counts as zero, infinity as about thirty years.
    public func timeout(_ seconds: Double) -> Self {
        // A `Duration` traps on NaN and infinity.
        timeout(Duration(clampedSeconds: seconds))
    }

    /// Returns a copy with a cache policy, for the environment's cache and for transports that have their own cache.
    public func cachePolicy(_ policy: URLRequest.CachePolicy) -> Self { changingHTTP { $0.cachePolicy = policy } }

    /// Returns a copy that may or may not use a cellular network.
    public func allowsCellularAccess(_ allows: Bool) -> Self { changingHTTP { $0.allowsCellularAccess = allows } }

    /// Returns a copy whose compressed response is decoded or left encoded; see ``HTTPRequest/decodesContent``.
    public func decodesContent(_ decodes: Bool) -> Self { changingHTTP { $0.decodesContent = decodes } }

    /// Returns a copy that may use HTTP/2, or only HTTP/1.1; see ``HTTPRequest/usesHTTP2``.
    public func usesHTTP2(_ uses: Bool) -> Self { changingHTTP { $0.usesHTTP2 = uses } }

    /// Returns a copy with credentials, which are added for every attempt.
    public func authenticated(with provider: AuthenticationProvider) -> Self {
        changingHTTP { $0.authentication = provider }
    }
}
