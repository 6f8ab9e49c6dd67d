// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The features of a transport beyond sending a request and reporting the response.
///
/// They must be exact on every platform: a missing feature is refused with an error, or known not to happen; it is
/// never supported partially.
public struct TransportCapabilities: OptionSet, Sendable {
    /// The set as bits.
    public let rawValue: Int

    /// Makes a set of bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Events are delivered on threads where a slow receiver delays no other transfer, so that content may be decoded
    /// there.
    ///
    /// Without this, the operation moves to a global queue of its quality of service before it decodes.
    public static let concurrentDelivery = TransportCapabilities(rawValue: 1 << 0)
    /// ``TransferHandle/pause()`` stops the peer.
    public static let pausing = TransportCapabilities(rawValue: 1 << 1)
    /// A GET or HEAD request may have a body.
    public static let bodyWithAnyMethod = TransportCapabilities(rawValue: 1 << 2)
    /// Bodies that are streams of a known length are sent with `Content-Length` rather than in chunks.
    public static let sizedStreams = TransportCapabilities(rawValue: 1 << 3)
    /// Repeated header fields are sent one by one, in their order.
    public static let orderedHeaders = TransportCapabilities(rawValue: 1 << 4)
    /// `Proxy-Authorization` of a request goes to the proxy, and never to the origin.
    ///
    /// Without this, ``ChallengeInterceptor`` doesn't answer challenges of proxies.
    public static let proxyAuthorization = TransportCapabilities(rawValue: 1 << 5)
    /// A connection can be upgraded to another protocol, such as WebSocket, if ``TransportRequest/upgrade`` asks for it
    /// and the server agrees.
    public static let upgrades = TransportCapabilities(rawValue: 1 << 6)
}
