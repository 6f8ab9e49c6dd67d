// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The reason why a connection isn't trusted, or a server doesn't trust the client.
enum Distrust: Sendable, Hashable, CaseIterable {
    case wrongPin
    case rejected
    case wrongHost
    case expired
    case notYetValid
    case revoked
    case selfSigned
    case unknownAuthority
    case noAuthorities
    case badCertificate
    case unchecked
    case oldProtocol
    case noTLS
    case ownCertificateUnusable
    case ownCertificateRequired
    case ownCertificateRejected
    case noAgreement

    /// The reason as a text; the libraries that report it don't always have one.
    var reason: String {
        switch self {
        case .wrongPin: "the server's key isn't one of those that are pinned"
        case .rejected: "the evaluator of the trust policy refuses the server's certificate"
        case .wrongHost: "the server's certificate is for another host"
        case .expired: "the server's certificate has expired"
        case .notYetValid: "the server's certificate isn't valid yet"
        case .revoked: "the server's certificate was revoked"
        case .selfSigned: "the server's certificate is self-signed"
        case .unknownAuthority: "the server's certificate is of an unknown authority"
        case .noAuthorities: "there are no authorities to check the server's certificate by"
        case .badCertificate: "the server's certificate isn't good"
        case .unchecked: "the server's certificate wasn't checked"
        case .oldProtocol: "the two sides have no version of TLS in common"
        case .noTLS: "the server doesn't speak TLS"
        case .ownCertificateUnusable: "the client certificate or its key can't be used"
        case .ownCertificateRequired: "the server requires a client certificate"
        case .ownCertificateRejected: "the server rejects the client certificate"
        case .noAgreement: "the TLS handshake failed; the server may require a client certificate"
        }
    }

    /// The nearest code of Foundation.
    var urlCode: URLError.Code {
        switch self {
        case .wrongPin, .rejected, .wrongHost, .revoked, .selfSigned, .badCertificate, .unchecked:
            .serverCertificateUntrusted
        case .expired: .serverCertificateHasBadDate
        case .notYetValid: .serverCertificateNotYetValid
        case .unknownAuthority, .noAuthorities: .serverCertificateHasUnknownRoot
        case .oldProtocol, .noTLS, .noAgreement: .secureConnectionFailed
        case .ownCertificateRequired: .clientCertificateRequired
        case .ownCertificateUnusable, .ownCertificateRejected: .clientCertificateRejected
        }
    }
}

// MARK: - Distrust

extension RequestError {
    /// Makes the error of an untrusted connection.
    init(_ distrust: Distrust, phase: Phase) {
        self.init(.untrusted, phase: phase, reason: distrust.reason, underlying: URLError(distrust.urlCode))
    }
}
