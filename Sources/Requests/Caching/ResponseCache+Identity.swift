// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension ResponseCache {
    /// The part of a request that identifies its user to a ``ResponseCache``: users never receive each other's
    /// responses.
    ///
    /// **The default.** ``automatic`` needs no knowledge of the server: every header field that the caller or an
    /// interceptor has set counts, and so does every cookie. A field that changes costs a transfer, and never shows a
    /// response to another user. These fields say nothing about a user, and don't count unless `Vary` names them:
    /// `Accept`, `Accept-Language`, `Accept-Encoding`, `User-Agent`, `Range`, `If-…`, `Cache-Control`, `Pragma`,
    /// `traceparent`, `tracestate`, `X-Request-ID`, `X-Correlation-ID`, `Idempotency-Key`.
    ///
    /// **Choose.** Name what says nothing about the user and changes often: with ``ignoringHeaders(_:)`` fields such as
    /// `Date`, `X-Amz-Date`, `DPoP` or a signature; with ``cookies(ignoring:)`` counters, tokens against forgery, those
    /// of load balancers and statistics. Name the cookies that identify the user, with ``cookies(named:)``, if the
    /// server changes that of its session with every response. If a program acts for many users at once, name the field
    /// that identifies them with ``identifyingUsers(byHeaders:)``. Use ``custom(_:)`` if something else identifies a
    /// user, such as a part of the path or a client certificate, and if the signature in `Authorization` itself differs
    /// in every request.
    ///
    /// For one address and one user, a cache keeps the responses to at most eight different sets of the other fields;
    /// the oldest is removed for a new one. Users are told apart by `Authorization`, cookies, and the fields that you
    /// name.
    public struct Identity: Sendable {
        /// The parts of a request that count.
        struct Parts: Sendable {
            /// Those that identify its user; empty if it has no user.
            var user: [String] = []
            /// The other fields that may tell requests of one user apart.
            var variant: [String] = []
            /// Whether something in the request may identify a user.
            var hasUser = false
        }

        fileprivate enum Rule: Sendable {
            case fields(Fields)
            case custom(@Sendable (HTTPRequest) -> String)
        }

        fileprivate struct Fields: Sendable {
            var countsCookie: @Sendable (_ name: String) -> Bool
            var ignored: Set<HTTPField.Name> = []
            var users: Set<HTTPField.Name> = [.authorization, .proxyAuthorization]
        }

        fileprivate let rule: Rule

        /// All header fields but harmless ones, and all cookies.
        public static let automatic = cookies(ignoring: [])

        /// All header fields but harmless ones, and all cookies but those with these names.
        ///
        /// ```swift
        /// let cache = ResponseCache(identity: .cookies(ignoring: ["_ga", "AWSALB"]))
        /// ```
        ///
        /// - Parameter names: The names, in their exact spelling. The server must give the same response whatever the
        ///   values of these cookies are.
        /// - Returns: The rule.
        public static func cookies(ignoring names: Set<String>) -> ResponseCache.Identity {
            ResponseCache.Identity(rule: .fields(Fields { !names.contains($0) }))
        }

        /// All header fields but harmless ones and `Cookie`, and the cookies with these names.
        ///
        /// - Parameter names: The names, in their exact spelling; with none of them, cookies identify no user, as in a
        ///   browser, whose profile belongs to one person.
        /// - Returns: The rule.
        public static func cookies(named names: Set<String>) -> ResponseCache.Identity {
            ResponseCache.Identity(rule: .fields(Fields { names.contains($0) }))
        }

        /// The result of a closure only.
        ///
        /// - Parameter identify: Returns the identity of a request's user; the request is complete with its credentials
        ///   and cookies. The string is empty if it has no user. It is called on any thread, by several at once too.
        /// - Returns: The rule.
        public static func custom(
            _ identify: @escaping @Sendable (_ request: HTTPRequest) -> String
        ) -> ResponseCache.Identity {
            ResponseCache.Identity(rule: .custom(identify))
        }

        /// Returns the same rule, for which these header fields don't count.
        ///
        /// ```swift
        /// let cache = ResponseCache(identity: .automatic.ignoringHeaders(["Date", "X-Amz-Date"]))
        /// ```
        ///
        /// - Parameter names: The names. The server must give the same response whatever the values of these fields
        ///   are, unless its `Vary` names them.
        /// - Returns: The rule; a ``custom(_:)`` rule stays as it is.
        public func ignoringHeaders(_ names: Set<HTTPField.Name>) -> ResponseCache.Identity {
            changed { $0.ignored.formUnion(names) }
        }

        /// Returns the same rule, for which these header fields identify the user, as `Authorization` does.
        ///
        /// A cache keeps the responses of all users, and only eight for other fields. Use it for a program that acts
        /// for many users at once, such as a gateway with an API key for each.
        ///
        /// - Parameter names: The names.
        /// - Returns: The rule; a ``custom(_:)`` rule stays as it is.
        public func identifyingUsers(byHeaders names: Set<HTTPField.Name>) -> ResponseCache.Identity {
            changed { $0.users.formUnion(names) }
        }

        private func changed(_ change: (inout Fields) -> Void) -> ResponseCache.Identity {
            guard case .fields(var fields) = rule else { return self }
            change(&fields)
            return ResponseCache.Identity(rule: .fields(fields))
        }
    }
}

extension ResponseCache.Identity {
    /// Returns the parts of a request that count.
    ///
    /// - Complexity: O(n²) in the number of its fields, which is small.
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
        for name in headers.names.sorted() where name != .cookie && name != .host && !ignored.contains(name) {
            let (isUser, values) = (users.contains(name), headers[values: name])
            // A name that is marked as a secret counts, whatever it is.
            let isSecret = headers[fields: name].contains(where: \.name.isSensitive)
            guard isUser || isSecret || !name.isHarmlessToCaches else { continue }
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
            .filter { !$0.isEmpty && countsCookie(String($0.prefix { $0 != "=" }).trimmedOfBlanks) }
        if !cookies.isEmpty {
            parts.user += [HTTPField.Name.cookie.rawValue] + cookies
            parts.hasUser = true
        }
        return parts
    }
}

extension HTTPField.Name {
    /// Whether the response for a user doesn't depend on the field, unless its `Vary` names it.
    fileprivate var isHarmlessToCaches: Bool {
        Self.harmlessToCaches.contains(self) || rawValue.utf8.lazy.map(ASCII.lowercased).starts(with: "if-".utf8)
    }

    private static let harmlessToCaches: Set<Self> = [
        .accept, .acceptLanguage, .acceptEncoding, .userAgent, .range, .cacheControl, .pragma, .traceParent,
        "tracestate", "X-Request-ID", "X-Correlation-ID", .idempotencyKey,
    ]
}
