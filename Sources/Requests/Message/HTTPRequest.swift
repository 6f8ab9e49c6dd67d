// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request as it goes on the wire: the value that the whole pipeline works on.
///
/// Every way of describing a request ends in one of these. It carries what Foundation's `URLRequest` loses: repeated
/// and ordered headers, a body that is a file, a stream of known length, whether the body can be sent again.
///
/// ```swift
/// HTTPRequest("https://api.example.com/todos/1")
/// HTTPRequest(URI: "/posts/{postId}{?page}", variables: ["postId": 1])
/// HTTPRequest { $0.path = "login"; $0.method = .post; $0.body = .json(credentials) }
/// ```
///
/// Its pieces aren't checked when they are set, since neither a setter nor a chain of modifiers can throw well; they
/// are checked when the request is built, and a bad one is a typed error then. Nothing bad is sent.
public struct HTTPRequest: Sendable {
    /// Where it goes.
    var address: Address
    /// The query parameters, appended to those that the address has, and encoded once.
    public var query: Query = []
    /// What is asked of the resource.
    public var method: HTTPMethod
    /// The header fields, without those that frame the message: the transport makes these from the body.
    public var headers: HTTPHeaders
    /// The content.
    public var body: HTTPBody
    /// What adds the caller's credentials whenever the request is sent.
    public var authentication = AuthenticationProvider.none
    /// How long the transfer may stay silent; nil leaves that to the environment.
    public var timeout: Duration?
    /// How far a transport with a cache of its own may answer from it.
    public var cachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    /// Whether a cellular network may carry the request, where the platform knows of one.
    public var allowsCellularAccess = true
    /// Which generation of whose credentials it bears: an answer is judged by what was sent, not by what is there by
    /// then.
    var credentialGenerations: [ObjectIdentifier: Int] = [:]
    /// Whether redirects have led to another origin on the way here, and be it back from there.
    ///
    /// Kept with the request, and not read off what was sent before: what a cache answers isn't sent.
    var hasLeftOrigin = false

    /// Makes a request; by default one that gets the resource.
    ///
    /// - Parameters:
    ///   - url: The address; one without a scheme is appended to the base URL of wherever the request runs.
    ///   - method: What is asked of the resource.
    ///   - headers: The header fields.
    ///   - body: The content.
    ///   - timeout: How long the transfer may stay silent; nil leaves that to the environment.
    public init(
        url: URL,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [],
        body: HTTPBody = .none,
        timeout: Duration? = nil
    ) {
        self.init(.url(url), method: method, headers: headers, body: body, timeout: timeout)
    }

    init(
        _ address: Address,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [],
        body: HTTPBody = .none,
        timeout: Duration? = nil
    ) {
        self.address = address
        self.method = method
        self.headers = headers
        self.body = body
        self.timeout = timeout
    }
}

extension HTTPRequest: CustomStringConvertible {
    /// The method and the address, without credentials and query: nothing in it is a secret.
    public var description: String {
        "\(method.rawValue.shortened(to: 16)) \(url.redactedDescription)"
    }
}

extension URL {
    /// The address without user, password, query and fragment, where secrets are kept; for descriptions.
    package var redactedDescription: String {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
            return "<unreadable URL>"
        }
        components.user = nil
        components.password = nil
        components.query = nil
        components.fragment = nil
        return (components.string ?? "<unreadable URL>").shortened(to: 200)
    }
}
