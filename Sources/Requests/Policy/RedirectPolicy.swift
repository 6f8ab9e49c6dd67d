// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What becomes of a response that says to go elsewhere (RFC 9110, 15.4).
///
/// The library follows redirects itself on every platform, since platforms differ in what they send along: some hand an
/// `Authorization` field to any host that a `Location` names, some lose the body of a 307.
///
/// 307 and 308 keep the method and the body, to whatever host they lead; 303 asks with GET, as do 301 and 302 after
/// POST. Secret fields, ``HTTPField/Name/isSecret``, are dropped on the first hop to another origin, and don't come
/// back on a later one to the first.
public struct RedirectPolicy: Sendable, Hashable {
    /// How many redirects are followed; nil where none is, and the redirect is the response.
    public let limit: Int?

    /// Follows redirects up to a limit; one more is an error of code `tooManyRedirects`.
    public static func follow(limit: Int = 10) -> RedirectPolicy {
        RedirectPolicy(limit: max(0, limit))
    }

    /// Follows no redirect: it is judged as any other response is.
    public static let refuse = RedirectPolicy(limit: nil)
}
