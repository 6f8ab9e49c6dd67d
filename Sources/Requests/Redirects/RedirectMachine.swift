// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Decides for each response of an operation whether it is a redirect, and which request to send next.
///
/// Header fields that are removed for one redirect aren't restored for a later one. If a redirect chain leaves an
/// origin and returns to it, the request arrives without its credentials, because the server that redirected back
/// wasn't trusted with them.
struct RedirectMachine: Sendable {
    /// The action for a response.
    enum Action: Sendable {
        /// Deliver the response, because it isn't a redirect or shouldn't be followed.
        case deliver
        /// Send this request.
        case follow(HTTPRequest)
        /// Fail with this error.
        case fail(RequestError.Code, reason: String)
    }

    private let policy: RedirectPolicy
    private(set) var count = 0

    init(policy: RedirectPolicy) {
        self.policy = policy
    }

    /// Returns the action for the response to `request`.
    mutating func handle(_ response: HTTPResponseHead, to request: HTTPRequest) -> Action {
        guard let limit = policy.limit, RedirectPolicy.statuses.contains(response.status),
            let location = response[.location]
        else { return .deliver }
        guard count < limit else {
            return .fail(.tooManyRedirects, reason: "more than \(limit) redirects")
        }
        guard let target = Self.resolve(request.isHandshake ? location.withHTTP : location, against: request.url) else {
            return .fail(
                .badRedirect,
                reason: "the location “\(location.bareAddress.shortened())” isn't an http or https URL"
            )
        }
        if request.isHandshake, request.url.isEncrypted, !target.isEncrypted {
            return .fail(.redirectRefused, reason: "a WebSocket can't be redirected from wss to ws")
        }
        let change = OriginChange(from: request.url, to: target)
        if policy.staysWithinOrigin, change == .other { return .deliver }
        var next = policy.keepsMethod ? request : Self.rewrite(request, for: response.status)
        next.url = target
        next.headers.attribute(to: .caller)
        next.fields.notes.withheldHeaders = []
        guard next.body.isEmpty || policy.sendsBodyToOtherOrigins || change == .none else { return Self.refusal }
        next.leaveOrigin(change)
        let unmodified = next
        guard var next = policy.modified(next, after: response) else { return .deliver }
        if Origin(next.url) != Origin(target), Origin(next.url) != Origin(request.url) {
            guard unmodified.body.isEmpty || next.body.isEmpty || policy.sendsBodyToOtherOrigins else {
                return Self.refusal
            }
            if policy.staysWithinOrigin, OriginChange(from: request.url, to: next.url) == .other { return .deliver }
            // Keep fields that the policy's closure has added, because they are meant for the origin that it has
            // chosen.
            next.leaveOrigin(OriginChange(from: target, to: next.url), except: [.unattributed])
        }
        guard next.body.isReplayable else {
            return .fail(.bodyNotReplayable, reason: "the redirect requires the body, which can't be sent again")
        }
        count += 1
        // Set this last, because the policy's closure may have replaced the request.
        let originChange = max(request.fields.notes.originChange, OriginChange(from: request.url, to: next.url))
        next.fields.notes.originChange = originChange
        return .follow(next)
    }

    private static let refusal = Action.fail(
        .redirectRefused,
        reason: "the redirect would send the body to another origin"
    )

    /// Returns the target of a redirect, which inherits the fragment of the current URL (RFC 9110, 10.2.2).
    private static func resolve(_ location: String, against base: URL) -> URL? {
        guard !location.isEmpty, let target = URL(reference: location, of: base) else { return nil }
        guard target.fragment(percentEncoded: true) == nil, let fragment = base.fragment(percentEncoded: true) else {
            return target
        }
        var components = URLComponents(url: target, resolvingAgainstBaseURL: true)
        components?.percentEncodedFragment = fragment
        return components?.url
    }

    /// Returns the request with the method that the status requires (RFC 9110, 15.4).
    ///
    /// 303 changes the method to GET, and so do 301 and 302 after POST, as in every browser. HEAD stays HEAD.
    private static func rewrite(_ request: HTTPRequest, for status: HTTPStatus) -> HTTPRequest {
        let changesToGet =
            switch status {
            case .seeOther: true
            case .movedPermanently, .found: request.method == .post
            default: false
            }
        guard changesToGet else { return request }
        var next = request
        if request.method != .head { next.method = .get }
        next.body = .none
        next.headers.removeAll(where: \.isAboutContent)
        return next
    }
}

extension HTTPRequest {
    /// Whether the request opens a WebSocket.
    fileprivate var isHandshake: Bool { headers[.upgrade]?.equalsIgnoringASCIICase("websocket") ?? false }
}

extension URL {
    fileprivate var isEncrypted: Bool { scheme?.lowercased() == "https" }
}

extension String {
    /// The URL string with `http` or `https` instead of `ws` or `wss`; any other string is unchanged.
    fileprivate var withHTTP: String {
        guard let colon = firstIndex(of: ":") else { return self }
        return switch self[..<colon].lowercased() {
        case "ws": "http\(self[colon...])"
        case "wss": "https\(self[colon...])"
        default: self
        }
    }
}
