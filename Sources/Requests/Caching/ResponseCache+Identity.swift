// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension ResponseCache {
    /// The part of a request that identifies its user to a ``ResponseCache``: users never receive each other's responses.
    ///
    /// **Choose.** ``automatic`` needs no knowledge of the server. Name the cookies, with ``cookies(named:)``, if the
    /// server changes the cookie of its session with every response: otherwise each change empties the cache for that user.
    /// Use ``custom(_:)`` if something else identifies a user, such as a part of the path or a client certificate.
    public struct Identity: Sendable {
        fileprivate enum Rule: Sendable {
            case automatic
            case cookies(Set<String>)
            case custom(@Sendable (HTTPRequest) -> String)
        }

        fileprivate let rule: Rule

        /// All header fields with secrets, and all cookies that may be those of a login.
        ///
        /// A cookie identifies its user unless it is known not to. Two kinds of cookies are known not to:
        ///
        /// - A cookie from a response that the server allows to be reused. A login can't come with such a response, because
        ///   the next login would be answered from the cache and set nothing.
        /// - A cookie from a plain response (2xx or 304, without `no-store`) to a safe request, if scripts may read it (no
        ///   `HttpOnly`) and its name doesn't sound like a login: a counter, a language, a token against forgery.
        ///
        /// If such a cookie replaces one that identifies a user, the new one identifies the same user. Cookies that the
        /// program sets, on a request or in a jar, identify a user, and so do those that a `POST` or a redirect sets; and from
        /// a `POST` on, those that it sent, if scripts can't read them or their names sound like a login.
        public static let automatic = ResponseCache.Identity(rule: .automatic)

        /// All header fields with secrets but `Cookie`, and the cookies with these names.
        ///
        /// - Parameter names: The names, in their exact spelling; with none of them, cookies identify no user, as in a browser,
        ///   whose profile belongs to one person.
        /// - Returns: The rule.
        public static func cookies(named names: Set<String>) -> ResponseCache.Identity {
            ResponseCache.Identity(rule: .cookies(names))
        }

        /// The result of a closure only.
        ///
        /// - Parameter identify: Returns the identity of a request's user; the request is complete with its credentials and
        ///   cookies. The text is empty if it has no user. It is called on any thread, also by several at once.
        /// - Returns: The rule.
        public static func custom(
            _ identify: @escaping @Sendable (_ request: HTTPRequest) -> String
        ) -> ResponseCache.Identity {
            ResponseCache.Identity(rule: .custom(identify))
        }

        /// Returns the identity of a request's user; empty if it has no user.
        ///
        /// - Complexity: O(n) in the size of the head.
        func parts(of request: HTTPRequest, _ aliases: CookieAliases) -> [String] {
            if case .custom(let identify) = rule {
                let identity = identify(request)
                return identity.isEmpty ? [] : [identity]
            }
            var parts: [String] = []
            let secrets = Set(request.headers.secrets.map(\.name))
            for name in secrets.sorted() where name != .cookie {
                let values = request.headers[values: name].map(\.identity)
                parts += [name.rawValue.lowercasedASCII, String(values.count)] + values
            }
            guard secrets.contains(.cookie) else { return parts }
            let cookies = request.cookiePairs.compactMap { pair in
                switch rule {
                case .cookies(let names): names.contains(pair.cookieName) ? pair : nil
                default: aliases.identity(of: pair, sentTo: request.url)
                }
            }
            return cookies.isEmpty ? parts : parts + [HTTPField.Name.cookie.rawValue] + cookies
        }

        /// Whether it matters which response set a cookie.
        var followsCookies: Bool { if case .automatic = rule { true } else { false } }
    }
}

/// The cookies that don't identify a user, or identify the same user as another cookie.
///
/// Every other cookie identifies its user: forgetting an entry costs a transfer, and never shows a response to another
/// user. Values and hosts are kept as digests.
struct CookieAliases: Sendable, Hashable {
    /// The maximum number of stored cookies.
    static let limit = 256
    /// The identity of each cookie, by its digest, the oldest entries first; empty if it identifies no user.
    private(set) var entries: [(digest: String, identity: String)] = []
    private var positions: [String: String] = [:]

    init(_ entries: [(digest: String, identity: String)] = []) {
        for entry in entries.suffix(Self.limit) { set(entry.identity, for: entry.digest) }
    }

    /// Returns the identity of a cookie; `nil` if it identifies no user.
    func identity(of pair: String, sentTo url: URL) -> String? {
        guard !positions.isEmpty else { return pair }
        for domain in Self.domains(of: Origin(url).host) {
            let digests = [false, true].map { Self.digest(of: pair, for: domain, mayBeLogin: $0) }
            guard let identity = digests.lazy.compactMap({ positions[$0] }).first else { continue }
            return identity.isEmpty ? nil : identity
        }
        return pair
    }

    /// Records the cookies that a response sets.
    ///
    /// - Parameters:
    ///   - head: The head of the response.
    ///   - request: The request, with the cookies that were sent.
    ///   - isReusable: Whether the response is kept, and its server says for how long it may be reused.
    mutating func record(_ head: HTTPResponseHead, to request: HTTPRequest, isReusable: Bool) {
        let sent = request.cookiePairs
        let isPlain =
            request.method.isSafe && (head.status.category == .success || head.status == .notModified)
            && !CacheControl(parsing: head[.cacheControl] ?? "").contains("no-store")
        let host = Origin(request.url).host
        // A login may assign a user to a sent cookie without changing its value (a session that is kept). Cookies that
        // can't hold a login are excluded: otherwise every form would empty the cache.
        if !request.method.isSafe {
            for pair in sent {
                for domain in Self.domains(of: host) { remove(Self.digest(of: pair, for: domain, mayBeLogin: true)) }
            }
        }
        for cookie in head[values: .setCookie].compactMap({ SetCookie(parsing: $0) }) {
            let pair = cookie.cookie.rawValue
            // A cookie that is set again keeps its identity.
            guard !sent.contains(pair) else { continue }
            let domain = cookie.domain.flatMap { $0.contains(".") && host.hasSuffix(".\($0)") ? $0 : nil } ?? host
            let replaced = sent.first { $0.cookieName == cookie.name }.flatMap { identity(of: $0, sentTo: request.url) }
            for mayBeLogin in [false, true] { remove(Self.digest(of: pair, for: domain, mayBeLogin: mayBeLogin)) }
            guard isReusable || isPlain && !cookie.mayBeLogin else { continue }
            set(replaced ?? "", for: Self.digest(of: pair, for: domain, mayBeLogin: cookie.mayBeLogin))
        }
    }

    private mutating func set(_ identity: String, for digest: String) {
        guard positions[digest] != identity else { return }
        remove(digest)
        entries.append((digest, identity))
        positions[digest] = identity
        if entries.count > Self.limit { positions[entries.removeFirst().digest] = nil }
    }

    private mutating func remove(_ digest: String) {
        guard positions.removeValue(forKey: digest) != nil else { return }
        entries.removeAll { $0.digest == digest }
    }

    /// The host and the domains above it.
    private static func domains(of host: String) -> [String] {
        var domains = [host]
        var rest = host[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            domains.append(String(rest))
        }
        return domains
    }

    // Digests distinguish the cookies that may hold a login later from the others.
    private static func digest(of pair: String, for domain: String, mayBeLogin: Bool) -> String {
        SHA256.digest(of: "\(domain) \(mayBeLogin ? "login " : "")\(pair)".utf8).prefix(16).hexadecimal
    }

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.positions == rhs.positions }
    func hash(into hasher: inout Hasher) { hasher.combine(positions) }
}

extension HTTPRequest {
    /// The cookies that the request sends, each as it stands in the field.
    fileprivate var cookiePairs: [String] {
        headers[values: .cookie].flatMap { $0.split(separator: ";") }.map { String($0).trimmedOfBlanks }
            .filter { !$0.isEmpty }
    }
}

extension String {
    /// The part of a secret that identifies its user: all of it, except for `Digest`, whose answers differ each time.
    fileprivate var identity: String {
        let authorization = Authorization(self)
        guard authorization.scheme.equalsIgnoringASCIICase("Digest") else { return trimmedOfBlanks }
        let parameters = authorization.parameters
        return ["username", "username*", "realm"].map { parameters[named: $0] ?? "" }.joined(separator: "\n")
    }

    /// The name of a sent cookie.
    fileprivate var cookieName: String { String(prefix { $0 != "=" }).trimmedOfBlanks }
}

extension SetCookie {
    /// Whether the cookie may be that of a login: it is hidden from scripts, or has a name like one.
    fileprivate var mayBeLogin: Bool {
        let name = name.lowercasedASCII
        if Self.forgeryTokens.contains(name.filter(\.isLetter)) { return false }
        let isNamedLikeOne = Self.logins.contains { name.contains($0) }
        if !isNamedLikeOne, Self.harmless.contains(where: { name.hasPrefix($0) }) { return false }
        return isNamedLikeOne || isHTTPOnly || SecretName.matches(name)
            || name == "id" || name.hasSuffix("_id") || name.hasSuffix("-id")
    }

    /// Tokens against forgery, by the letters of their names.
    private static let forgeryTokens: Set = ["csrf", "xsrf", "csrftoken", "xsrftoken", "hostcsrf", "hostcsrftoken"]
    /// The prefixes of cookies of load balancers, networks and statistics.
    private static let harmless = [
        "awsalb", "__cf_bm", "cf_clearance", "arraffinity", "_ga", "_gid", "_gcl", "_fbp", "incap_", "bigipserver",
    ]
    private static let logins = [
        "sess", "sid", "auth", "token", "jwt", "user", "login", "logged", "account", "identity", "remember", "secret",
        "passw", "uid", "ticket", "sso", "saml", "member", "customer", "cookie",
    ]
}
