// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestConvertible {
    /// The request as a command for a POSIX shell, which sends with `curl` what the library would send.
    ///
    /// It can be pasted as it is: everything stands in single quotes, and binary content goes through `printf`.
    /// Redirects aren't followed, so that the first answer is what one sees.
    ///
    /// ```swift
    /// print(try Post<User>("users").body { user }.cURL(baseURL: server))
    /// ```
    ///
    /// - Parameters:
    ///   - baseURL: What a relative address is appended to; nil, the default, needs an absolute one.
    ///   - revealsSecrets: Whether credentials, cookies and the like are shown; by default they are replaced by
    ///     `<redacted>`, and so are query parameters that are secrets by their name. Content is always shown.
    /// - Returns: The command, of several lines.
    /// - Throws: ``InvalidRequest`` for what can't go on the wire and for a body that is a stream; what the body or
    ///   the authentication throws.
    public func cURL(baseURL: URL? = nil, revealingSecrets revealsSecrets: Bool = false) throws -> String {
        try CURLCommand(prepared(baseURL: baseURL), redacts: !revealsSecrets).text
    }
}

extension HTTPResponse {
    /// The request that brought the response, as a command for a shell; nil for a response that no request brought.
    ///
    /// - Parameter revealsSecrets: Whether credentials, cookies and the like are shown.
    /// - Returns: The command, of several lines.
    /// - Throws: As ``RequestConvertible/cURL(baseURL:revealingSecrets:)``.
    public func cURL(revealingSecrets revealsSecrets: Bool = false) throws -> String? {
        try attempts.last.map { try CURLCommand($0.request, redacts: !revealsSecrets).text }
    }
}
