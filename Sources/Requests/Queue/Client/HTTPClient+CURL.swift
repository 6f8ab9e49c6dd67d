// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPClient {
    /// Returns a request as a `curl` command for a POSIX shell, with the client's base URL, header fields and query.
    ///
    /// The command lacks everything that is determined only when the request is sent: the changes made by interceptors,
    /// and cookies. For a command that includes them, see ``HTTPResponse/cURL(revealingSecrets:)``.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - revealsSecrets: Whether credentials and other secrets are shown; see
    ///     ``RequestConvertible/cURL(baseURL:revealingSecrets:)``.
    /// - Returns: The command, which has several lines.
    /// - Throws: ``InvalidValue`` for a request that can't be sent, and for a stream body; any error that the body or
    ///   the authentication throws.
    public func cURL(
        _ request: some RequestConvertible,
        revealingSecrets revealsSecrets: Bool = false
    ) throws -> String {
        try CURLCommand(request.prepared(in: environment), redacts: !revealsSecrets).text
    }
}
