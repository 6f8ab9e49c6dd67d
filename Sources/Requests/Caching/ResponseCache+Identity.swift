// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension ResponseCache {
    /// The parts of a request that identify its user to a ``ResponseCache``, so that users never receive each other's
    /// responses.
    ///
    /// **The default.** ``automatic`` needs no knowledge about the server. It uses every header field that the caller
    /// or an interceptor has set, and every cookie. If a field changes, the only cost is another transfer. The
    /// following fields don't identify a user, and aren't used unless `Vary` names them: `Accept`, `Accept-Language`,
    /// `Accept-Encoding`, `User-Agent`, `Range`, `If-…`, `Cache-Control`, `Pragma`, `traceparent`, `tracestate`,
    /// `X-Request-ID`, `X-Correlation-ID`, `Idempotency-Key`.
    ///
    /// **Choose.** Exclude what changes often, but doesn't identify the user. With ``ignoringHeaders(_:)``, exclude
    /// fields such as `Date`, `X-Amz-Date`, `DPoP` or a signature. With ``cookies(ignoring:)``, exclude counters, CSRF
    /// tokens, and cookies of load balancers and analytics. If the server changes the session cookie with every
    /// response, specify the cookies that identify the user, with ``cookies(named:)``. If a program acts for many users
    /// at the same time, specify the field that identifies them, with ``identifyingUsers(byHeaders:)``. Use
    /// ``custom(_:)`` if something else identifies the user, such as a part of the path or a client certificate, or if
    /// `Authorization` contains a signature that differs in every request.
    ///
    /// For each URL and user, a cache keeps the responses to at most eight different sets of the other fields. A new
    /// set replaces the oldest. Users are distinguished by `Authorization`, by cookies, and by the fields that you
    /// specify.
    public struct Identity: Sendable {
        /// The parts of a request that its cache key contains.
        struct Parts: Sendable {
            /// The parts that identify the user; empty if the request has no user.
            var user: [String] = []
            /// The other fields, which may differ between requests of one user.
            var variant: [String] = []
            /// Whether the request may identify a user.
            var hasUser = false
        }

        fileprivate enum Rule: Sendable {
            case fields(Fields)
            case custom(@Sendable (HTTPRequest) -> String)
        }

        fileprivate struct Fields: Sendable {
            var includesCookie: @Sendable (_ name: String) -> Bool
            var ignoredFields: Set<HTTPField.Name> = []
            var userFields: Set<HTTPField.Name> = [.authorization, .proxyAuthorization]
        }

        fileprivate let rule: Rule

        /// A rule that uses all header fields except harmless ones, and all cookies.
        public static let automatic = cookies(ignoring: [])

        /// Returns a rule that uses all header fields except harmless ones, and all cookies except those with these
        /// names.
        ///
        /// ```swift
        /// let cache = ResponseCache(identity: .cookies(ignoring: ["_ga", "AWSALB"]))
        /// ```
        ///
        /// - Parameter names: The case-sensitive names. The server must send the same response whatever the values of
        ///   these cookies are.
        /// - Returns: The rule.
        public static func cookies(ignoring names: Set<String>) -> ResponseCache.Identity {
            ResponseCache.Identity(rule: .fields(Fields { !names.contains($0) }))
        }

        /// Returns a rule that uses all header fields except harmless ones and `Cookie`, and the cookies with these
        /// names.
        ///
        /// - Parameter names: The case-sensitive names. If the set is empty, cookies don't identify a user. This is how
        ///   a browser's cache works, because a browser profile belongs to one person.
        /// - Returns: The rule.
        public static func cookies(named names: Set<String>) -> ResponseCache.Identity {
            ResponseCache.Identity(rule: .fields(Fields { names.contains($0) }))
        }

        /// Returns a rule that uses only the result of a closure.
        ///
        /// - Parameter identify: Returns a string that identifies the user of a request, or an empty string if there is
        ///   no user. The request is complete, with credentials and cookies. The closure may be called from any thread,
        ///   even simultaneously.
        /// - Returns: The rule.
        public static func custom(
            _ identify: @escaping @Sendable (_ request: HTTPRequest) -> String
        ) -> ResponseCache.Identity {
            ResponseCache.Identity(rule: .custom(identify))
        }

        /// Returns a copy of the rule that ignores these header fields.
        ///
        /// ```swift
        /// let cache = ResponseCache(identity: .automatic.ignoringHeaders(["Date", "X-Amz-Date"]))
        /// ```
        ///
        /// - Parameter names: The names. The server must send the same response whatever the values of these fields
        ///   are, unless its `Vary` names them.
        /// - Returns: The rule; a ``custom(_:)`` rule is unchanged.
        public func ignoringHeaders(_ names: Set<HTTPField.Name>) -> ResponseCache.Identity {
            changed { $0.ignoredFields.formUnion(names) }
        }

        /// Returns a copy of the rule that also identifies users by these header fields, as it does by `Authorization`.
        ///
        /// A cache keeps the responses to all users, but for the other fields of each user, it keeps only eight sets of
        /// values. Use this method for a program that acts for many users at the same time, such as a gateway with an
        /// API key for each user.
        ///
        /// - Parameter names: The names.
        /// - Returns: The rule; a ``custom(_:)`` rule is unchanged.
        public func identifyingUsers(byHeaders names: Set<HTTPField.Name>) -> ResponseCache.Identity {
            changed { $0.userFields.formUnion(names) }
        }

        private func changed(_ change: (inout Fields) -> Void) -> ResponseCache.Identity {
            guard case .fields(var fields) = rule else { return self }
            change(&fields)
            return ResponseCache.Identity(rule: .fields(fields))
        }
    }
}

extension ResponseCache.Identity {
    /// Returns the parts of a request that its cache key contains.
    ///
    /// - Complexity: O(n²) in the number of header fields, which is small.
    func parts(of request: HTTPRequest) -> Parts {
        switch rule {
        case .custom(let identify):
            let user = identify(request)
            return user.isEmpty ? Parts() : Parts(user: [user], hasUser: true)
        case .fields(let fields):
            return fields.parts(of: request)
        }
    }
}

extension ResponseCache.Identity.Fields {
    fileprivate func parts(of request: HTTPRequest) -> ResponseCache.Identity.Parts {
        let headers = request.headers
        var parts = ResponseCache.Identity.Parts()
        for name in headers.names.sorted() where name != .cookie && name != .host && !ignoredFields.contains(name) {
            let (isUser, values) = (userFields.contains(name), headers[values: name])
            // Always use a field that is marked as secret, whatever its name is.
            let isSecret = headers[fields: name].contains(where: \.name.isSensitive)
            guard isUser || isSecret || !name.isIgnoredByDefault else { continue }
            if isUser {
                let identities = values.map { Authorization($0).identity }
                parts.user += [name.rawValue.lowercasedASCII, String(values.count)] + identities
            } else {
                parts.variant += CacheKey.variant(by: name, of: request)
            }
            if isUser || isSecret { parts.hasUser = true }
        }
        let cookies = headers[values: .cookie].flatMap { $0.split(separator: ";") }
            .map { String($0).trimmedOfBlanks }
            .filter { !$0.isEmpty && includesCookie(String($0.prefix { $0 != "=" }).trimmedOfBlanks) }
        if !cookies.isEmpty {
            parts.user += [HTTPField.Name.cookie.rawValue] + cookies
            parts.hasUser = true
        }
        return parts
    }
}

extension HTTPField.Name {
    /// Whether the field is assumed not to affect the response, unless `Vary` names it.
    fileprivate var isIgnoredByDefault: Bool {
        Self.ignoredByDefault.contains(self) || rawValue.utf8.lazy.map(ASCII.lowercased).starts(with: "if-".utf8)
    }

    private static let ignoredByDefault: Set<Self> = [
        .accept, .acceptLanguage, .acceptEncoding, .userAgent, .range, .cacheControl, .pragma, .traceParent,
        "tracestate", "X-Request-ID", "X-Correlation-ID", .idempotencyKey,
    ]
}
