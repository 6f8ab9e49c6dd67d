// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request as it goes on the wire: the value that the whole pipeline works on.
///
/// Every way of describing a request ends in one of these. It carries what Foundation's `URLRequest` loses: repeated and
/// ordered headers, a body that is a file, a stream of known length, whether the body can be sent again.
public struct HTTPRequest: Sendable {
    /// The address, absolute.
    public var url: URL
    /// What is asked of the resource.
    public var method: HTTPMethod
    /// The header fields, without those that frame the message: the transport makes these from the body.
    public var headers: HTTPHeaders
    /// The content.
    public var body: HTTPBody
    /// How long the transfer may stay silent; nil leaves that to the environment.
    public var timeout: Duration?
    /// How far a transport with a cache of its own may answer from it.
    public var cachePolicy: URLRequest.CachePolicy
    /// Whether a cellular network may carry the request, where the platform knows of one.
    public var allowsCellularAccess: Bool

    /// Makes a request; by default one that gets the resource.
    public init(
        url: URL,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [],
        body: HTTPBody = .none,
        timeout: Duration? = nil
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.timeout = timeout
        cachePolicy = .useProtocolCachePolicy
        allowsCellularAccess = true
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
