// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The rules for following redirects (RFC 9110, 15.4).
///
/// The library follows redirects itself, because platforms differ in what they send to the target. Some send the
/// `Authorization` field to any host that a `Location` names, and some lose the body of a 307.
///
/// 307 and 308 keep the method and the body. 303 changes the method to GET, and so do 301 and 302 after POST. At the
/// first redirect to another origin, only harmless fields and those in `crossOriginHeaders` are sent on. Later
/// redirects don't restore the other fields (see <doc:SecuringConnections>). A body is sent to another origin only if
/// the policy allows that, because the body may be meant only for the first server.
///
/// The library follows a redirect as soon as its head arrives. It reads at most 4 KB of the content, for at most 200
/// ms, so that the connection can be reused. If the content is longer or takes longer, the library closes the
/// connection. A policy with a closure reads the entire content first, because the closure may use the redirect as the
/// response. A policy that stays within an origin does so for the same reason.
public struct RedirectPolicy: Sendable, Hashable {
    /// Modifies the next request, or returns `nil` to use the redirect as the response.
    public typealias Modification = @Sendable (_ next: HTTPRequest, _ response: HTTPResponseHead) -> HTTPRequest?

    /// The maximum number of redirects.
    ///
    /// If the limit is `nil`, redirects aren't followed, and the redirect itself is used as the response.
    public let limit: Int?
    /// Whether the method and the body are kept for every status, as some servers expect for 301 and 302.
    public var keepsMethod = false
    /// Whether a redirect may resend the body to another origin; `false` by default.
    ///
    /// If this is `false`, a redirect that would have to do so fails with the code `redirectRefused`.
    public var sendsBodyToOtherOrigins = false
    /// Whether a redirect to another origin is used as the response instead of being followed; `false` by default.
    ///
    /// A redirect from `http` to `https` on the same host, with the default ports, is followed anyway.
    public var staysWithinOrigin = false
    private var modification: IdentityEquatable<Modification>?

    private init(limit: Int?) {
        self.limit = limit
    }

    /// Returns a policy that follows redirects up to a limit.
    ///
    /// A request that is redirected more often fails with the code `tooManyRedirects`.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of redirects; 10 by default.
    ///   - keepingMethod: Whether the method and the body are kept for every status.
    ///   - sendingBodyToOtherOrigins: Whether a redirect may resend the body to another origin.
    ///   - withinOrigin: Whether a redirect to another origin is used as the response. Such a response is validated
    ///     like any other, so the request fails with the code `unacceptableStatus` unless it accepts the status.
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

    /// A policy that doesn't follow redirects, but validates them like any other response.
    public static let refuse = RedirectPolicy(limit: nil)

    /// Returns a copy of the policy with a closure that modifies the next request, or uses the redirect as the
    /// response.
    ///
    /// The closure receives the next request without the fields that must not be sent to its origin, and may add
    /// fields. If the closure changes the origin, the change is treated like another redirect. Of the fields that the
    /// closure received, only harmless fields and those in `crossOriginHeaders` are then sent. A body is sent only if
    /// the policy allows that. Policies with closures are equal only if one is a copy of the other.
    public func modifying(_ modification: @escaping Modification) -> RedirectPolicy {
        var policy = self
        policy.modification = IdentityEquatable(modification)
        return policy
    }

    /// Returns whether the content of a response is irrelevant, because the redirect is followed or fails.
    func ignoresContent(of head: HTTPResponseHead) -> Bool {
        // Read the content if the policy may return the redirect as the response.
        guard limit != nil, modification == nil, !staysWithinOrigin else { return false }
        return Self.statuses.contains(head.status) && head[.location] != nil
    }

    // The other 3xx statuses aren't followed: 300 and 304 leave the choice to the caller, and 305 and 306 are obsolete.
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

    /// The rules for following redirects.
    public var redirect: RedirectPolicy? {
        get { self[Redirect.self] }
        set { self[Redirect.self] = newValue }
    }
}
