// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// What a transport can do beyond sending a request and reporting the response.
///
/// Honest on every platform: what isn't here is refused with an error, or is known not to happen; it never happens by
/// half.
public struct TransportCapabilities: OptionSet, Sendable {
    /// The set as bits.
    public let rawValue: Int

    /// Makes a set of bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Events come on threads where a slow receiver delays no other transfer, so that content may be decoded there.
    ///
    /// Without this, the operation moves to a global queue of its quality of service before it decodes.
    public static let concurrentDelivery = TransportCapabilities(rawValue: 1 << 0)
    /// ``Transfer/pause()`` stops the peer.
    public static let pausing = TransportCapabilities(rawValue: 1 << 1)
    /// A GET or HEAD request may have a body.
    public static let bodyWithAnyMethod = TransportCapabilities(rawValue: 1 << 2)
    /// Bodies that are streams of a known length are sent with `Content-Length` rather than in chunks.
    public static let sizedStreams = TransportCapabilities(rawValue: 1 << 3)
    /// Repeated header fields are sent one by one, in their order.
    public static let orderedHeaders = TransportCapabilities(rawValue: 1 << 4)
}
