// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The request that a transport sends: all its pieces have been checked, and the response is limited.
public struct TransportRequest: Sendable {
    /// The address, absolute, http or https, without credentials.
    public var url: URL
    /// The method, a token.
    public var method: HTTPMethod
    /// The header fields, without those that frame the message: the transport makes these from the body.
    public var headers: HTTPHeaders
    /// The content.
    public var body: HTTPBody
    /// The maximum time without data, in either direction, to the millisecond.
    ///
    /// With `nil` the transport decides: by its configuration, or else 60 seconds.
    public var timeout: Duration?
    /// The timeout if nothing else decides it, that of `URLSession`.
    static let defaultTimeout = Duration.seconds(60)
    /// The maximum byte count of the content, after decoding.
    ///
    /// A transport may end a larger transfer itself, with an error of code `bodyTooLarge`; the operation does so in any
    /// case.
    public var maximumBodySize: Int
    /// The maximum byte count of one head of the response, from the status line to the empty line.
    ///
    /// A transport that sees the raw fields may end a transfer with a larger head itself, with an error of code
    /// `headTooLarge`; the operation does so in any case if it gets the raw fields.
    public var maximumHeadSize: Int
    /// The cache policy, for a transport with a cache of its own.
    public var cachePolicy: URLRequest.CachePolicy
    /// Whether a cellular network may carry the request, if the platform has one.
    public var allowsCellularAccess: Bool
    /// Whether compressed content is decoded.
    ///
    /// Otherwise it is delivered encoded, and a coding is requested only by a header field of the request. A transport
    /// that always decodes refuses the request with an error of code `unsupported`, before it connects.
    public var decodesContent: Bool
    /// Whether the request may be sent over HTTP/2; a transport that can't choose the version ignores it.
    public var usesHTTP2: Bool
    /// The trust policy for the connection.
    ///
    /// A transport that doesn't support it refuses the request with an error of code `unsupported`, before it connects.
    public var trust: TrustPolicy
    /// Whether redirects have led to another origin, for this request or before it; false by default.
    ///
    /// A transport with credentials of its own, such as headers, client certificates or answers to challenges, then
    /// doesn't send them. The library does the same with those of the request.
    public var hasLeftOrigin: Bool {
        get { originChange != .none }
        set { originChange = newValue ? .other : .none }
    }

    /// How far redirects have led from the first origin.
    var originChange: OriginChange
    /// Whether a transport with cookies of its own adds them, and stores those of the response; true by default.
    public var usesCookies: Bool
    /// The priority of the transfer among those of one connection, from 0 to 1; `nil`, the default, is the usual one.
    ///
    /// It is a hint: HTTP/1.1 has no priorities.
    public var priority: Double?
    /// Changes the task of a `URLSession` before it is resumed; other transports don't call it.
    public var configureTask: (@Sendable (URLSessionTask) -> Void)?
    /// Whether the content goes to a file or a stream rather than to memory, so that it may be large; false by default.
    ///
    /// A transport that collects content before it delivers it may then use larger pieces.
    public var isStreamed = false
    /// Whether the content may have no end, as that of a feed: such a transfer has its connection for long; false by
    /// default.
    public var isOpenEnded = false
    /// Whether the caller limits the number of concurrent requests: by the width of a client or of an operation queue,
    /// or by a ``HostLimiter``; false by default.
    ///
    /// The default limit of a transport for connections to a host doesn't apply then, since it might be lower. A limit
    /// that was set for the transport does.
    public var hasOwnLimit = false
    /// The bytes to send if the server switches to another protocol, which the header fields ask for; `nil`, the
    /// default, asks for none.
    ///
    /// Such a request is a GET without content over HTTP/1.1, on a connection of its own. If the response isn't a 101,
    /// no bytes are taken from the source. Only for a transport with the capability ``TransportCapabilities/upgrades``.
    public var upgrade: TransportRequest.UpgradeSource?
    /// Further settings of a caller's `URLRequest`, for a `URLSession`.
    var template: URLRequest?
    /// The control that pauses the transfer.
    ///
    /// A transport that delivers on other threads attaches the transfer before the first event: the caller can attach
    /// it only after `send` has returned, when much may have been delivered already.
    var flow: FlowControl?

    /// Makes a transport request of a request that has been checked.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - timeout: The maximum time without data, if the request has none; `nil`, the default, lets the transport
    ///     decide.
    ///   - maximumBodySize: The maximum byte count of the content.
    ///   - maximumHeadSize: The maximum byte count of one head of the response.
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
    /// The method and the address, without credentials and query: it has no secrets.
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
    /// The host whose trust rules apply to the connection; `nil` if only the system's rules apply.
    ///
    /// - Throws: A ``RequestError`` for a name beyond ASCII for which Foundation has no form on the wire.
    func hostWithRules() throws(RequestError) -> String? {
        guard trust != .system, url.scheme?.lowercased() == "https" else { return nil }
        let host = url.wireHost ?? ""
        guard host.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "%") }) || host.contains(":") else {
            let reason = "a host that rules of trust are to be found for has to be in ASCII"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
        return host
    }

    /// The requirements for a connection to a host; `nil` for the defaults.
    func hostTrust(for host: String) -> HostTrust? {
        var rules = trust.trust(for: host)
        if hasLeftOrigin { rules?.identity = nil }
        return rules
    }
}
