// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The handling of redirects (RFC 9110, 15.4).
///
/// The library follows redirects itself on every platform, since platforms differ in the fields that they send: some
/// send an `Authorization` field to any host that a `Location` names, some lose the body of a 307.
///
/// 307 and 308 keep the method and the body; 303 changes the method to GET, as do 301 and 302 after POST. On the first
/// hop to another origin, only harmless fields and those in `crossOriginHeaders` follow, and later hops don't restore
/// the others: <doc:SecuringConnections>. A body is sent to another origin only if the policy allows it, because it may
/// be meant for the first server only.
///
/// A redirect is followed at its head: at most 4 KB of its content are read, for at most 200 ms, so that its connection
/// can be reused; otherwise the connection is closed. A policy with a closure reads the whole content first, since the
/// closure may use the redirect as the response.
public struct RedirectPolicy: Sendable, Hashable {
    /// Changes the next request, or returns `nil` to use the redirect as the response.
    public typealias Modification = @Sendable (_ next: HTTPRequest, _ response: HTTPResponseHead) -> HTTPRequest?

    /// The maximum number of redirects; `nil` to follow none, and use the redirect as the response.
    public let limit: Int?
    /// Whether the method and the body are kept for every status, as some servers expect for 301 and 302.
    public var keepsMethod = false
    /// Whether a body is sent again to another origin; false by default, which makes such a redirect an error of code
    /// `redirectRefused`.
    public var sendsBodyToOtherOrigins = false
    /// Whether a redirect that leaves the origin isn't followed, but is the response; false by default.
    ///
    /// From `http` to `https` on the same host, with the default ports, is allowed.
    public var staysWithinOrigin = false
    private var modification: IdentityEquatable<Modification>?

    private init(limit: Int?) {
        self.limit = limit
    }

    /// Follows redirects up to a limit; one more is an error of code `tooManyRedirects`.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of redirects; 10 by default.
    ///   - keepingMethod: Whether the method and the body are kept for every status.
    ///   - sendingBodyToOtherOrigins: Whether a body is sent again to another origin.
    ///   - withinOrigin: Whether a redirect that leaves the origin isn't followed: it is then judged like any other
    ///     response, so its status is an error of code `unacceptableStatus` unless the request accepts it.
    /// - Returns: The policy.
    public static func follow(
        limit: Int = 10,
        keepingMethod: Bool = false,
        sendingBodyToOtherOrigins: Bool = false,
        withinOrigin: Bool = false
    ) -> RedirectPolicy {
        var policy = RedirectPolicy(limit: max(0, limit))
        policy.keepsMethod = keepingMethod
        policy.sendsBodyToOtherOrigins = sendingBodyToOtherOrigins
        policy.staysWithinOrigin = withinOrigin
        return policy
    }

    /// Follows no redirect: it is judged like any other response.
    public static let refuse = RedirectPolicy(limit: nil)

    /// Returns the same policy, with a closure that changes the next request, or refuses it.
    ///
    /// The closure gets the request that the policy makes, without the fields that don't belong to its origin, and may
    /// add some. If it leads to another origin than the redirect, that is judged like a redirect there: of the fields
    /// that it was given, only harmless and released ones follow, and a body is sent only if the policy allows it.
    /// Policies with closures are equal only if one is a copy of the other.
    public func modifying(_ modification: @escaping Modification) -> RedirectPolicy {
        var policy = self
        policy.modification = IdentityEquatable(modification)
        return policy
    }

    /// Whether a response is a redirect that is followed, or an error, whatever its content is.
    func ignoresContent(of head: HTTPResponseHead) -> Bool {
        // Read the content if the policy may return the redirect as the response.
        guard limit != nil, modification == nil, !staysWithinOrigin else { return false }
        return Self.statuses.contains(head.status) && head[.location] != nil
    }

    // 300 and 304 leave the choice to the caller; 305 and 306 are obsolete.
    static let statuses: Set<HTTPStatus> = [
        .movedPermanently, .found, .seeOther, .temporaryRedirect, .permanentRedirect,
    ]

    func modified(_ next: HTTPRequest, after response: HTTPResponseHead) -> HTTPRequest? {
        guard let modification else { return next }
        return modification.value(next, response)
    }
}

extension RequestOptions {
    private enum Redirect: RequestOption {
        static let unset: RedirectPolicy? = nil
        static let isPartOfFingerprint = false
    }

    /// The handling of redirects.
    public var redirect: RedirectPolicy? {
        get { self[Redirect.self] }
        set { self[Redirect.self] = newValue }
    }
}
