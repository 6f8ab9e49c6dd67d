// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request with modifiers: each makes a copy with one thing changed, and leaves the request itself as it is.
///
/// Modifiers that are called several times add up: `headers`, `query` and `validating` keep what is there. What takes the
/// place of all that was there is called `replacing`: ``replacingHeaders(_:)``, ``replacingQuery(_:)``.
///
/// Adopted by ``TypedRequest`` and ``HTTPRequest``; a type of your own that stores an ``HTTPRequest`` gets them by
/// adopting it too.
public protocol ModifiableRequest: Sendable {
    /// What to send.
    var http: HTTPRequest { get set }
}

extension ModifiableRequest {
    /// A copy, changed in whatever way.
    ///
    /// - Throws: What `change` throws.
    public func modified(_ change: (inout Self) throws -> Void) rethrows -> Self {
        var copy = self
        try change(&copy)
        return copy
    }

    // MARK: Headers

    /// A copy with more header fields, each of which replaces those of its name; all others stay.
    ///
    /// A name that stands twice in `headers` is sent twice.
    public func headers(_ headers: HTTPHeaders) -> Self {
        modified { $0.http.headers.merge(headers) }
    }

    /// A copy with other header fields, in the place of all that were there.
    public func replacingHeaders(_ headers: HTTPHeaders) -> Self {
        modified { $0.http.headers = headers }
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
        modified { $0.http.headers.set(field) }
    }

    /// A copy with one more field, also where one of the same name is.
    public func addingHeader(_ field: HTTPField) -> Self {
        addingHeaders([field])
    }

    /// A copy with more fields, also where fields of the same names are.
    public func addingHeaders(_ fields: HTTPHeaders) -> Self {
        modified { copy in
            for field in fields { copy.http.headers.add(field) }
        }
    }

    // MARK: Query

    /// A copy with more query parameters, behind those that are there.
    public func query(_ query: Query) -> Self {
        modified { $0.http.query.append(contentsOf: query) }
    }

    /// A copy with the query parameters that a builder gives, behind those that are there.
    public func query(@QueryBuilder _ query: () -> Query) -> Self {
        self.query(query())
    }

    /// A copy with more query parameters; another name of `query`.
    public func queryItems(@QueryBuilder _ query: () -> Query) -> Self {
        self.query(query())
    }

    /// A copy with other query parameters, in the place of all that were there.
    public func replacingQuery(_ query: Query) -> Self {
        modified { $0.http.query = query }
    }

    // MARK: Body

    /// A copy with other content.
    public func body(_ body: HTTPBody) -> Self {
        modified { $0.http.body = body }
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
        modified { $0.http.method = method }
    }

    /// A copy that may stay silent for another time.
    public func timeout(_ timeout: Duration) -> Self {
        modified { $0.http.timeout = timeout }
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
        modified { $0.http.cachePolicy = policy }
    }

    /// A copy that a cellular network may carry, or not.
    public func allowsCellularAccess(_ allows: Bool) -> Self {
        modified { $0.http.allowsCellularAccess = allows }
    }

    /// A copy whose compressed response is decoded, or comes as it is; see ``HTTPRequest/decodesContent``.
    public func decodesContent(_ decodes: Bool) -> Self {
        modified { $0.http.decodesContent = decodes }
    }

    /// A copy with credentials, which are added to it whenever it is sent.
    public func authenticated(with provider: AuthenticationProvider) -> Self {
        modified { $0.http.authentication = provider }
    }
}
