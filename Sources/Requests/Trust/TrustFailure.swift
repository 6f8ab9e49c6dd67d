// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The reason why a connection isn't trusted, or a server doesn't trust the client.
struct TrustFailure: Sendable, Hashable {
    /// The reason as a built-in message, because TLS libraries don't always provide one.
    let reason: String
    /// The corresponding error code of Foundation.
    let urlCode: URLError.Code

    private init(_ reason: String, _ urlCode: URLError.Code = .serverCertificateUntrusted) {
        self.reason = reason
        self.urlCode = urlCode
    }

    static let wrongPin = Self("the server's public key doesn't match any pin")
    static let rejected = Self("the trust policy's evaluator rejected the server's certificate")
    static let wrongHost = Self("the server's certificate is for a different host")
    static let expired = Self("the server's certificate has expired", .serverCertificateHasBadDate)
    static let notYetValid = Self("the server's certificate isn't valid yet", .serverCertificateNotYetValid)
    static let revoked = Self("the server's certificate was revoked")
    static let selfSigned = Self("the server's certificate is self-signed")
    static let badCertificate = Self("the server's certificate is invalid")
    static let unchecked = Self("the server's certificate wasn't verified")
    static let noCommonTLSVersion = Self("the client and the server share no TLS version", .secureConnectionFailed)
    static let noTLS = Self("the server doesn't support TLS", .secureConnectionFailed)
    static let clientCertificateRejected = Self(
        "the server rejected the client certificate",
        .clientCertificateRejected
    )
    static let clientCertificateRequired = Self("the server requires a client certificate", .clientCertificateRequired)
    static let unknownAuthority = Self(
        "the server's certificate was issued by an unknown authority",
        .serverCertificateHasUnknownRoot
    )
    static let noAuthorities = Self(
        "there are no certificate authorities to verify the server's certificate",
        .serverCertificateHasUnknownRoot
    )
    static let clientCertificateUnusable = Self(
        "the client certificate or its key can't be used",
        .clientCertificateRejected
    )
    static let handshakeFailed = Self(
        "the TLS handshake failed; the server may require a client certificate",
        .secureConnectionFailed
    )
}

extension RequestError {
    /// Creates the error of an untrusted connection.
    init(_ trustFailure: TrustFailure, phase: Phase) {
        self.init(.untrusted, phase: phase, reason: trustFailure.reason, underlying: URLError(trustFailure.urlCode))
    }
}
