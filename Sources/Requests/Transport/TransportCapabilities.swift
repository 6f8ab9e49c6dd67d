// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The optional features of a transport, beyond sending a request and reporting the response.
///
/// The set must be exact on every platform, because a feature is never supported partially. Without a capability, a
/// request that requires it fails, or the feature reliably has no effect.
public struct TransportCapabilities: OptionSet, Sendable {
    /// The bits of the set.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// A slow receiver of events delays no other transfer, so content may be decoded on the thread that delivers it.
    ///
    /// Without this capability, the operation switches to a global queue of its quality of service before it decodes.
    public static let concurrentDelivery = TransportCapabilities(rawValue: 1 << 0)
    /// ``TransferHandle/pause()`` applies backpressure to the peer.
    public static let pausing = TransportCapabilities(rawValue: 1 << 1)
    /// A GET or HEAD request may have a body.
    public static let bodyWithAnyMethod = TransportCapabilities(rawValue: 1 << 2)
    /// Stream bodies of known length are sent with `Content-Length` rather than chunked.
    public static let sizedStreams = TransportCapabilities(rawValue: 1 << 3)
    /// Repeated header fields are sent as separate lines, in order.
    public static let orderedHeaders = TransportCapabilities(rawValue: 1 << 4)
    /// The `Proxy-Authorization` field of a request is sent to the proxy, and never to the origin.
    ///
    /// Without this capability, ``ChallengeInterceptor`` doesn't respond to challenges of proxies.
    public static let proxyAuthorization = TransportCapabilities(rawValue: 1 << 5)
    /// A connection can be upgraded to another protocol, such as WebSocket, if ``TransportRequest/upgrade`` requests
    /// that and the server accepts.
    public static let upgrades = TransportCapabilities(rawValue: 1 << 6)
}
