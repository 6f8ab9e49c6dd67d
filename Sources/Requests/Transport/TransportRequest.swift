// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What a transport is given to send: a request whose pieces have all been checked, and the limits of its answer.
public struct TransportRequest: Sendable {
    /// The address, absolute, http or https, without credentials.
    public var url: URL
    /// The method, a token.
    public var method: HTTPMethod
    /// The header fields, without those that frame the message: these are the transport's, made from the body.
    public var headers: HTTPHeaders
    /// The content.
    public var body: HTTPBody
    /// How long the transfer may stay silent, in either direction, to the millisecond; nil leaves it to the transport,
    /// which takes what it is configured with, or else 60 seconds.
    public var timeout: Duration?
    /// How many bytes of content are wanted at most, after decoding.
    ///
    /// A transport may end a larger transfer itself, with an error of code `bodyTooLarge`; the operation does so in any
    /// case.
    public var maximumBodySize: Int
    /// How many bytes one head of the answer may have at most, from the status line to the empty line.
    ///
    /// A transport that sees them may end a transfer with a larger one itself, with an error of code `headTooLarge`;
    /// the operation does so in any case where it is told the fields as they came.
    public var maximumHeadSize: Int
    /// How far a transport with a cache of its own may answer from it.
    public var cachePolicy: URLRequest.CachePolicy
    /// Whether a cellular network may carry the request, where the platform knows of one.
    public var allowsCellularAccess: Bool
    /// Whether compressed content is decoded; else it is delivered as it comes, and no coding is asked for but by a
    /// header field of the request.
    ///
    /// A transport that can't do without decoding refuses the request with an error of code `unsupported`, before it
    /// connects.
    public var decodesContent: Bool
    /// Whom the connection trusts.
    ///
    /// A transport that can't go by it refuses the request with an error of code `unsupported`, before it connects.
    public var trust: TrustPolicy
    /// Whether redirects have led to another origin, on this request's way or before it; false by default.
    ///
    /// A transport with credentials of its own, such as headers, client certificates or answers to challenges, keeps them
    /// to itself then, as the pipeline does with those of the request.
    public var hasLeftOrigin: Bool
    /// Whether a transport with cookies of its own adds them, and keeps those of the answer; true by default.
    public var usesCookies: Bool
    /// How urgent the transfer is among those of one connection, from 0 to 1; nil, the default, is as urgent as any.
    ///
    /// It is a hint: HTTP/1.1 has no such thing.
    public var priority: Double?
    /// Changes the task of a `URLSession` before it is resumed; other transports don't call it.
    public var configureTask: (@Sendable (URLSessionTask) -> Void)?
    /// Whether the content goes to a file or a stream rather than to memory, so that there may be much of it; false by
    /// default.
    ///
    /// A transport that collects content before it delivers it may do so in larger pieces then.
    public var isStreamed = false
    /// What a caller's `URLRequest` says besides, for a `URLSession`.
    var template: URLRequest?
    /// What holds the transfer back.
    ///
    /// A transport that delivers on other threads attaches the transfer before the first event: the caller can do so only
    /// when `send` has returned, and much may have come by then.
    var flow: FlowControl?

    /// Makes a transport request of a request that has been checked.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - timeout: How long the transfer may stay silent, where the request itself doesn't say; nil, the default,
    ///     leaves it to the transport.
    ///   - maximumBodySize: How many bytes of content are wanted at most.
    ///   - maximumHeadSize: How many bytes one head of the answer may have at most.
    ///   - trust: Whom the connection trusts.
    public init(
        _ request: HTTPRequest,
        timeout: Duration? = nil,
        maximumBodySize: Int = .max,
        maximumHeadSize: Int = .max,
        trust: TrustPolicy = .system
    ) {
        url = request.url
        method = request.method
        headers = request.headers
        body = request.body
        self.timeout = request.timeout ?? timeout
        self.maximumBodySize = maximumBodySize
        self.maximumHeadSize = maximumHeadSize
        self.trust = trust
        cachePolicy = request.cachePolicy
        allowsCellularAccess = request.allowsCellularAccess
        decodesContent = request.decodesContent
        hasLeftOrigin = request.hasLeftOrigin
        usesCookies = request.usesCookies
        template = request.template
    }
}

extension TransportRequest: CustomStringConvertible {
    /// The method and the address, without credentials and query: nothing in it is a secret.
    public var description: String { "\(method.rawValue.shortened(to: 16)) \(url.redactedDescription)" }
}

extension TransportRequest: CustomReflectable {
    /// A mirror without secrets.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": description, "headers": headers, "body": body])
    }
}

// MARK: - Trust

extension TransportRequest {
    /// The host whose rules the connection has to keep to; nil where it has to keep to none but the system's.
    ///
    /// - Throws: A ``RequestError`` for a name beyond ASCII, which Foundation has found no form for that goes on the wire.
    func hostWithRules() throws(RequestError) -> String? {
        guard trust != .system, url.scheme?.lowercased() == "https" else { return nil }
        let host = url.wireHost ?? ""
        guard host.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "%") }) || host.contains(":") else {
            let reason = "a host that rules of trust are to be found for has to be in ASCII"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
        return host
    }

    /// What is asked of a connection to a host; nil for what is asked by default.
    func hostTrust(for host: String) -> HostTrust? {
        var rules = trust.trust(for: host)
        if hasLeftOrigin { rules?.identity = nil }
        return rules
    }
}
