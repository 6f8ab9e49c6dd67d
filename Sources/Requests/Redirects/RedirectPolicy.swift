// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What becomes of a response that says to go elsewhere (RFC 9110, 15.4).
///
/// The library follows redirects itself on every platform, since platforms differ in what they send along: some hand an
/// `Authorization` field to any host that a `Location` names, some lose the body of a 307.
///
/// 307 and 308 keep the method and the body; 303 asks with GET, as do 301 and 302 after POST. Secret fields,
/// ``HTTPField/Name/isSecret``, are dropped on the first hop to another origin, and don't come back on a later one to
/// the first. A body goes to another origin only if the policy says so: what was meant for one server may be no
/// business of the next.
///
/// A redirect is followed at its head: at most 4 KB of its content are read, and for at most 200 ms, so that its connection
/// can be used again; then the connection is closed. A policy with a closure reads all of it first, since the closure may
/// take the redirect for the response.
public struct RedirectPolicy: Sendable, Hashable {
    /// Changes the request that a redirect asks for, or gives nil to take the redirect for the response.
    public typealias Modification = @Sendable (_ next: HTTPRequest, _ response: HTTPResponseHead) -> HTTPRequest?

    /// How many redirects are followed; nil where none is, and the redirect is the response.
    public let limit: Int?
    /// Whether the method and the body are kept whatever the status, as some servers expect for 301 and 302.
    public var keepsMethod = false
    /// Whether a body is sent again to another origin; false by default, and the redirect is an error of code
    /// `redirectRefused` then.
    public var sendsBodyToOtherOrigins = false
    private var modification: Identified<Modification>?

    private init(limit: Int?) {
        self.limit = limit
    }

    /// Follows redirects up to a limit; one more is an error of code `tooManyRedirects`.
    ///
    /// - Parameters:
    ///   - limit: How many are followed; 10 by default.
    ///   - keepingMethod: Whether the method and the body are kept whatever the status.
    ///   - sendingBodyToOtherOrigins: Whether a body is sent again to another origin.
    /// - Returns: The policy.
    public static func follow(
        limit: Int = 10,
        keepingMethod: Bool = false,
        sendingBodyToOtherOrigins: Bool = false
    ) -> RedirectPolicy {
        var policy = RedirectPolicy(limit: max(0, limit))
        policy.keepsMethod = keepingMethod
        policy.sendsBodyToOtherOrigins = sendingBodyToOtherOrigins
        return policy
    }

    /// Follows no redirect: it is judged as any other response is.
    public static let refuse = RedirectPolicy(limit: nil)

    /// The same policy, with a closure that changes what is sent, or refuses to.
    ///
    /// It is given the request as the policy makes it, without the secrets that don't belong to its origin, and is
    /// trusted with what it adds. If it leads to another origin than the redirect, that is judged as a redirect there:
    /// the secrets that it was given are dropped, and a body is sent only if the policy says so. Policies with closures are equal only if one is a copy of the other.
    public func modifying(_ modification: @escaping Modification) -> RedirectPolicy {
        var policy = self
        policy.modification = Identified(modification)
        return policy
    }

    /// Whether a response is a redirect that is followed, or an error, whatever its content is.
    func passesOver(contentOf head: HTTPResponseHead) -> Bool {
        limit != nil && modification == nil && Self.statuses.contains(head.status) && head[.location] != nil
    }

    // 300 and 304 leave the choice to the caller; 305 and 306 are dead.
    static let statuses: Set<HTTPStatus> = [
        .movedPermanently, .found, .seeOther, .temporaryRedirect, .permanentRedirect,
    ]

    func modified(_ next: HTTPRequest, after response: HTTPResponseHead) -> HTTPRequest? {
        guard let modification else { return next }
        return modification.value(next, response)
    }
}
