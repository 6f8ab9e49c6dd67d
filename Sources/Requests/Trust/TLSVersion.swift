// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A version of TLS, the least that a policy asks for.
///
/// Older ones than 1.2 can't be asked for: they are deprecated (RFC 8996), and no server should need them.
public struct TLSVersion: Sendable, Hashable, CustomStringConvertible {
    private enum Version: String, Sendable {
        case tls12 = "TLS 1.2"
        case tls13 = "TLS 1.3"
    }

    private let version: Version

    /// TLS 1.2 (RFC 5246).
    public static let tls12 = TLSVersion(version: .tls12)
    /// TLS 1.3 (RFC 8446).
    public static let tls13 = TLSVersion(version: .tls13)

    /// The name of the version.
    public var description: String { version.rawValue }
}
