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
/// Modifiers that are called several times add up: `headers`, `query` and `validating` keep the former values.
/// Modifiers that replace all former values are called `replacing`: ``replacingHeaders(_:)``, ``replacingQuery(_:)``.
///
/// Adopted by ``TypedRequest``, ``HTTPRequest`` and ``Download``. A request type of your own, of any kind, gets all
/// modifiers by adopting it too and storing its options; it keeps its type and its operation:
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
/// For such a type, the changes of modifiers are applied when the request is built. Its `identifier` doesn't include
/// them unless the type is a ``RequestConvertible``.
public protocol ModifiableRequest: Sendable {
    /// The options that override those of the environment.
    var options: RequestOptions { get set }

    /// Changes the request; by default the change is recorded in the ``options``, and applied when the request is
    /// built.
    ///
    /// Implement it if the request stores what it sends: `change(&http)`.
    mutating func change(_ change: @escaping @Sendable (inout HTTPRequest) -> Void)
}

extension ModifiableRequest {
    /// Records the change.
    public mutating func change(_ change: @escaping @Sendable (inout HTTPRequest) -> Void) {
        options.changes.append(change)
    }

    /// Returns a copy with any change.
    ///
    /// - Throws: Any error that `change` throws.
    public func modified(_ change: (inout Self) throws -> Void) rethrows -> Self {
        var copy = self
        try change(&copy)
        return copy
    }

    private func sending(_ change: @escaping @Sendable (inout HTTPRequest) -> Void) -> Self {
        modified { $0.change(change) }
    }

    /// Returns a copy with the options that a closure changes.
    public func options(_ change: (inout RequestOptions) -> Void) -> Self { modified { change(&$0.options) } }

    // MARK: Headers

    /// Returns a copy with more header fields, each of which replaces those of its name; all others stay.
    ///
    /// A name that occurs twice in `headers` is sent twice.
    public func headers(_ headers: HTTPHeaders) -> Self { sending { $0.headers.merge(headers) } }

    /// Returns a copy with other header fields, which replace all former ones.
    public func replacingHeaders(_ headers: HTTPHeaders) -> Self { sending { $0.headers = headers } }

    /// Returns a copy with the fields of a builder, each of which replaces those of its name.
    ///
    /// ```swift
    /// request.headers {
    ///     Accept(.json)
    ///     if let token { Authorization("Bearer \(token)") }
    /// }
    /// ```
    ///
    /// If it is called several times, the later field of a name replaces the earlier. A name that occurs twice in a
    /// builder is sent twice.
    public func headers(@HTTPHeaders.Builder _ headers: () -> HTTPHeaders) -> Self { self.headers(headers()) }

    /// Returns a copy with a field that replaces those of its name.
    ///
    /// ```swift
    /// Get<User>("users/1").header("X-Team", "kitchen").header(.acceptLanguage, "de")
    /// ```
    public func header(_ name: HTTPField.Name, _ value: String) -> Self { settingHeader(HTTPField(name, value)) }

    /// Returns a copy with a field that replaces those of its name.
    public func settingHeader(_ field: HTTPField) -> Self { sending { $0.headers.set(field) } }

    /// Returns a copy with an additional field, also if there is one of the same name.
    public func addingHeader(_ field: HTTPField) -> Self { addingHeaders([field]) }

    /// Returns a copy with an additional field, even if there is one of the same name.
    public func addingHeader(_ name: HTTPField.Name, _ value: String) -> Self { addingHeader(HTTPField(name, value)) }

    /// Returns a copy with additional fields, also if there are fields of the same names.
    public func addingHeaders(_ fields: HTTPHeaders) -> Self {
        sending { request in
            for field in fields { request.headers.add(field) }
        }
    }

    // MARK: Query

    /// Returns a copy with more query parameters, behind the former ones.
    public func query(_ query: Query) -> Self { sending { $0.query.append(contentsOf: query) } }

    /// Returns a copy with one more query parameter, after the others.
    ///
    /// ```swift
    /// Get<[User]>("users").query("q", text).query("page", 2)
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name; one that is there already is sent twice. ``replacingQuery(_:_:)`` replaces it.
    ///   - value: The value; `nil` for a name that stands alone, as `flag` does in `?flag`.
    /// - Returns: The copy.
    public func query(_ name: String, _ value: (any Query.ValueConvertible)?) -> Self {
        sending { $0.query.append(name, value: value) }
    }

    /// Returns a copy with the query parameters of a builder, behind the former ones.
    public func query(@Query.Builder _ query: () -> Query) -> Self { self.query(query()) }

    /// Returns a copy with more query parameters; another name of `query`.
    public func queryItems(@Query.Builder _ query: () -> Query) -> Self { self.query(query()) }

    /// Returns a copy with the properties of a value as query parameters, behind the former ones.
    ///
    /// ```swift
    /// struct Filter: Encodable { var text: String; var tags: [String]; var since: Date }
    /// let request = Get<[Post]>("posts").query(Filter(text: "pan", tags: ["sweet"], since: monday))
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value to encode when the request is sent; its top level has to have names. An error that it
    ///     throws is the error of the request.
    ///   - encoder: Decides how lists, dates and the like are written; `nil`, the default, uses the environment's
    ///     ``RequestEnvironment/Settings/queryEncoder``.
    /// - Returns: The copy.
    @_disfavoredOverload
    public func query(_ value: some Encodable & Sendable, encoder: QueryEncoder? = nil) -> Self {
        sending { request in
            let encodable = EncodableQuery(position: request.query.count) { try (encoder ?? $0).encode(value) }
            request.fields.encodableQueries.append(encodable)
        }
    }

    /// Returns a copy with other query parameters, which replace all former ones.
    public func replacingQuery(_ query: Query) -> Self {
        sending { request in
            request.query = query
            request.fields.encodableQueries = []
        }
    }

    /// Returns a copy with one query parameter instead of all of its name, including those in the address.
    ///
    /// ```swift
    /// let next = request.replacingQuery("offset", 50)
    /// ```
    ///
    /// Doesn't replace a parameter that the client adds: both are sent.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value; `nil` for a name that stands alone.
    /// - Returns: The copy.
    public func replacingQuery(_ name: String, _ value: (any Query.ValueConvertible)?) -> Self {
        sending { $0.setParameter(Query.Item(name, value: value)) }
    }

    // MARK: Body

    /// Returns a copy with other content.
    public func body(_ body: HTTPBody) -> Self { sending { $0.body = body } }

    /// Returns a copy with a value as JSON.
    ///
    /// ```swift
    /// Post<User>("users").body(NewUser(name: "Ada"))
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value to encode when the request is sent. An error that it throws is the failure of the request.
    ///   - encoder: The encoder; by default that of the environment, or else one that sorts the keys.
    /// - Returns: The copy.
    @_disfavoredOverload
    public func body(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> Self {
        body(.json(value, encoder: encoder))
    }

    /// Returns a copy with JSON as a literal, as ``HTTPBody/json(_:encoder:)-(JSONValue.Literal,_)``; `nil` is no
    /// content.
    public func body(_ literal: JSONValue.Literal) -> Self { body(literal.isNull ? .none : .json(literal)) }

    /// Returns a copy with a JSON object as a literal without nested literals, as
    /// ``HTTPBody/json(_:encoder:)-(JSONValue.Members,_)``.
    public func body(_ members: JSONValue.Members, encoder: JSONEncoder? = nil) -> Self {
        body(.json(members, encoder: encoder))
    }

    /// Refuses a literal of values of different types.
    @available(
        *,
        unavailable,
        message: """
            write .value(x) for each value that isn't a literal: .body(["a": .value(x), "b": ["c": 1]])
            """
    )
    public func body(_ object: [String: Any?], encoder: JSONEncoder? = nil) -> Self { self }

    /// Refuses a literal of values of different types.
    @available(
        *,
        unavailable,
        message: """
            write .value(x) for each value that isn't a literal: .body([["a": .value(x)], 1])
            """
    )
    public func body(_ elements: [Any?], encoder: JSONEncoder? = nil) -> Self { self }

    /// Returns a copy with data, which is sent unchanged.
    public func body(_ data: Data) -> Self { body(.data(data)) }

    /// Returns a copy with the content of a builder: one value that is sent as JSON, data that is sent unchanged, or
    /// nothing.
    ///
    /// ```swift
    /// Post<User>("users").body { NewUser(name: "Ada") }
    /// ```
    ///
    /// - Parameters:
    ///   - encoder: Makes an encoder for each attempt; by default one that sorts keys.
    ///   - body: Builds the content. It is encoded when the request is sent, and an error that the encoder throws is
    ///     the failure of the request.
    /// - Returns: The copy.
    public func body(
        encoder: (@Sendable () -> JSONEncoder)? = nil,
        @HTTPBody.Builder _ body: () -> HTTPBody.Builder.Content
    ) -> Self {
        self.body(body().body(encoder))
    }

    // MARK: The rest

    /// Returns a copy with another method.
    public func method(_ method: HTTPMethod) -> Self { sending { $0.method = method } }

    /// Returns a copy with another timeout, the maximum time without data.
    public func timeout(_ timeout: Duration) -> Self { sending { $0.timeout = timeout } }

    /// Returns a copy with a timeout in seconds, the maximum time without data.
    ///
    /// NaN counts as zero, infinity as about thirty years.
    public func timeout(_ seconds: Double) -> Self {
        // A `Duration` traps on either.
        timeout(Duration(clampedSeconds: seconds))
    }

    /// Returns a copy with a cache policy, for the environment's cache and for transports with a cache of their own.
    public func cachePolicy(_ policy: URLRequest.CachePolicy) -> Self { sending { $0.cachePolicy = policy } }

    /// Returns a copy that may, or may not, use a cellular network.
    public func allowsCellularAccess(_ allows: Bool) -> Self { sending { $0.allowsCellularAccess = allows } }

    /// Returns a copy whose compressed response is decoded, or left encoded; see ``HTTPRequest/decodesContent``.
    public func decodesContent(_ decodes: Bool) -> Self { sending { $0.decodesContent = decodes } }

    /// Returns a copy that may be sent over HTTP/2, or only over HTTP/1.1; see ``HTTPRequest/usesHTTP2``.
    public func usesHTTP2(_ uses: Bool) -> Self { sending { $0.usesHTTP2 = uses } }

    /// Returns a copy with credentials, which are added to it for every attempt.
    public func authenticated(with provider: AuthenticationProvider) -> Self {
        sending { $0.authentication = provider }
    }
}
