// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A validated request for a transport, with limits for the response.
public struct TransportRequest: Sendable {
    /// The absolute `http` or `https` URL, without credentials.
    public var url: URL
    /// The method; it is a valid token.
    public var method: HTTPMethod
    /// The header fields, without message framing such as `Content-Length`, which the transport adds itself, based on
    /// the body.
    public var headers: HTTPHeaders
    /// The body.
    public var body: HTTPBody
    /// The maximum time without data in either direction, with millisecond precision.
    ///
    /// If this is `nil`, the transport uses the timeout of its configuration, or 60 seconds if there is none.
    public var timeout: Duration?
    /// The timeout if neither the request nor the transport sets one; `URLSession` has the same default.
    static let defaultTimeout = Duration.seconds(60)
    /// The maximum size of the response's content in bytes, after decoding.
    ///
    /// A transport may end a larger transfer itself, with the error code `bodyTooLarge`. The operation enforces the
    /// limit in any case.
    public var maximumBodySize: Int
    /// The maximum size of each head of the response in bytes, from the status line to the empty line.
    ///
    /// A transport with access to the raw fields may end a transfer with a larger head itself, with the error code
    /// `headTooLarge`. The operation enforces the limit in any case if it receives the raw fields.
    public var maximumHeadSize: Int
    /// The cache policy for transports that have their own cache.
    public var cachePolicy: URLRequest.CachePolicy
    /// Whether the request may use a cellular network, on platforms that have one.
    public var allowsCellularAccess: Bool
    /// Whether the transport decodes compressed content.
    ///
    /// If this is `false`, content is delivered encoded, and a content coding is requested only if the request has a
    /// header field for that. A transport that always decodes content then fails with the error code `unsupported`
    /// before it connects.
    public var decodesContent: Bool
    /// Whether the request may be sent over HTTP/2; ignored by transports that can't choose the version.
    public var usesHTTP2: Bool
    /// The trust policy for the connection.
    ///
    /// A transport that doesn't support the policy fails with the error code `unsupported` before it connects.
    public var trust: TrustPolicy
    /// Whether redirects have led to another origin, with this request or an earlier one; `false` by default.
    ///
    /// If so, a transport doesn't send its own credentials, such as header fields, client certificates or responses to
    /// challenges. The library likewise removes the credentials of the request.
    public var hasLeftOrigin: Bool {
        get { originChange != .none }
        set { originChange = newValue ? .other : .none }
    }

    /// How redirects have changed the origin.
    var originChange: OriginChange
    /// Whether a transport with its own cookie storage adds cookies, and stores the cookies of the response; `true` by
    /// default.
    public var usesCookies: Bool
    /// The priority of the transfer relative to other transfers on the same connection, from 0 to 1; `nil`, the
    /// default, is the normal priority.
    ///
    /// The priority is a hint, because HTTP/1.1 has no priorities.
    public var priority: Double?
    /// A closure that configures the task of a `URLSession` before it is resumed; other transports don't call it.
    public var configureTask: (@Sendable (URLSessionTask) -> Void)?
    /// Whether the content is written to a file or a stream rather than to memory, and may therefore be large; `false`
    /// by default.
    ///
    /// A transport that buffers content before it delivers it may then use larger chunks.
    public var isStreamed = false
    /// Whether the content may never end, as with a feed, in which case the transfer occupies its connection for a long
    /// time; `false` by default.
    public var isOpenEnded = false
    /// Whether the caller limits concurrent requests by the width of a client or operation queue, or by a
    /// ``HostLimiter``; `false` by default.
    ///
    /// If so, the transport's default limit of connections to a host doesn't apply, because it might be lower. A limit
    /// that was set explicitly for the transport still applies.
    public var hasOwnLimit = false
    /// The source of the bytes to send if the server switches to the protocol that the header fields request; `nil`,
    /// the default, requests no upgrade.
    ///
    /// An upgrade request is a GET without a body over HTTP/1.1, and uses a separate connection. If the response isn't
    /// a 101, no bytes are read from the source. The transport must have the capability
    /// ``TransportCapabilities/upgrades``.
    public var upgrade: TransportRequest.UpgradeSource?
    /// The caller's `URLRequest`, from which a `URLSession` takes all settings that aren't properties of this type.
    var template: URLRequest?
    /// The flow control that pauses the transfer.
    ///
    /// A transport that delivers events on other threads attaches its handle before the first event. The caller can
    /// attach the handle only after `send` has returned, when much content may already have been delivered.
    var flow: FlowControl?

    /// Creates a transport request from a validated request.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - timeout: The maximum time without data, if the request has no timeout; `nil`, the default, lets the
    ///     transport decide.
    ///   - maximumBodySize: The maximum size of the response's content in bytes.
    ///   - maximumHeadSize: The maximum size of each head of the response in bytes.
    ///   - trust: The trust policy for the connection.
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
        usesHTTP2 = request.usesHTTP2
        originChange = request.fields.notes.originChange
        usesCookies = request.usesCookies
        template = request.fields.template
    }
}

extension TransportRequest: CustomStringConvertible {
    /// The method and the URL, without secrets such as credentials and the query.
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
    /// Returns the host whose trust rules apply to the connection; `nil` if only the system's rules apply.
    ///
    /// - Throws: A ``RequestError`` for a non-ASCII name that Foundation can't convert to ASCII.
    func hostWithRules() throws(RequestError) -> String? {
        guard trust != .system, url.scheme?.lowercased() == "https" else { return nil }
        let host = url.wireHost ?? ""
        guard host.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "%") }) || host.contains(":") else {
            let reason = "the host name must be ASCII, so that the trust policy can be applied"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
        return host
    }

    /// Returns the requirements for a connection to a host; `nil` for the defaults.
    func hostTrust(for host: String) -> HostTrust? {
        var rules = trust.trust(for: host)
        if hasLeftOrigin { rules?.identity = nil }
        return rules
    }
}
