// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension ResponseCache {
    /// The part of a request that identifies its user to a ``ResponseCache``: users never receive each other's
    /// responses.
    ///
    /// **Choose.** ``automatic`` needs no knowledge of the server: a cookie that changes costs a transfer, and never
    /// shows a response to another user. Name the cookies that say nothing about the user, with ``cookies(ignoring:)``,
    /// if they change often: counters, tokens against forgery, those of load balancers and statistics. Name the cookies
    /// that identify the user, with ``cookies(named:)``, if the server changes that of its session with every response.
    /// Use ``custom(_:)`` if something else identifies a user, such as a part of the path or a client certificate.
    public struct Identity: Sendable {
        /// Returns the identity of a request's user; empty if it has no user.
        let parts: @Sendable (_ request: HTTPRequest) -> [String]

        /// All header fields with secrets, and all cookies.
        public static let automatic = cookies(ignoring: [])

        /// All header fields with secrets, and all cookies but those with these names.
        ///
        /// ```swift
        /// let cache = ResponseCache(identity: .cookies(ignoring: ["_ga", "AWSALB"]))
        /// ```
        ///
        /// - Parameter names: The names, in their exact spelling. The server must give the same response whatever the
        ///   values of these cookies are.
        /// - Returns: The rule.
        public static func cookies(ignoring names: Set<String>) -> ResponseCache.Identity {
            identity { !names.contains($0) }
        }

        /// All header fields with secrets but `Cookie`, and the cookies with these names.
        ///
        /// - Parameter names: The names, in their exact spelling; with none of them, cookies identify no user, as in a
        ///   browser, whose profile belongs to one person.
        /// - Returns: The rule.
        public static func cookies(named names: Set<String>) -> ResponseCache.Identity {
            identity { names.contains($0) }
        }

        /// The result of a closure only.
        ///
        /// - Parameter identify: Returns the identity of a request's user; the request is complete with its credentials
        ///   and cookies. The text is empty if it has no user. It is called on any thread, also by several at once.
        /// - Returns: The rule.
        public static func custom(
            _ identify: @escaping @Sendable (_ request: HTTPRequest) -> String
        ) -> ResponseCache.Identity {
            ResponseCache.Identity { request in [identify(request)].filter { !$0.isEmpty } }
        }

        /// Returns the rule of all secrets and some cookies.
        private static func identity(
            byCookies counts: @escaping @Sendable (_ name: String) -> Bool
        ) -> ResponseCache.Identity {
            ResponseCache.Identity { request in
                var parts: [String] = []
                for name in Set(request.headers.secrets.map(\.name)).sorted() where name != .cookie {
                    let values = request.headers[values: name].map { Authorization($0).identity }
                    parts += [name.rawValue.lowercasedASCII, String(values.count)] + values
                }
                let cookies = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }
                    .map { String($0).trimmedOfBlanks }
                    .filter { !$0.isEmpty && counts(String($0.prefix { $0 != "=" }).trimmedOfBlanks) }
                return cookies.isEmpty ? parts : parts + [HTTPField.Name.cookie.rawValue] + cookies
            }
        }
    }
}
