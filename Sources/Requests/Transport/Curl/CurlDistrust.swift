// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// Why a connection isn't trusted, or a server doesn't trust this side.
enum CurlDistrust: Sendable, Hashable, CaseIterable {
    case wrongPin
    case wrongHost
    case expired
    case notYetValid
    case revoked
    case selfSigned
    case unknownAuthority
    case noAuthorities
    case badCertificate
    case oldProtocol
    case noTLS
    case ownCertificateUnusable
    case ownCertificateRequired
    case ownCertificateRejected
    case noAgreement

    /// What it is, in words that libcurl's own don't always have.
    var reason: String {
        switch self {
        case .wrongPin: "the server's key isn't one of those that are pinned"
        case .wrongHost: "the server's certificate is for another host"
        case .expired: "the server's certificate has expired"
        case .notYetValid: "the server's certificate isn't valid yet"
        case .revoked: "the server's certificate was revoked"
        case .selfSigned: "the server's certificate is self-signed"
        case .unknownAuthority: "the server's certificate is of an unknown authority"
        case .noAuthorities: "there are no authorities to check the server's certificate by"
        case .badCertificate: "the server's certificate isn't good"
        case .oldProtocol: "the two sides have no version of TLS in common"
        case .noTLS: "the server doesn't speak TLS"
        case .ownCertificateUnusable: "the client certificate or its key can't be used"
        case .ownCertificateRequired: "the server requires a client certificate"
        case .ownCertificateRejected: "the server rejects the client certificate"
        case .noAgreement: "the TLS handshake failed; the server may require a client certificate"
        }
    }

    /// The nearest that Foundation has.
    var urlCode: URLError.Code {
        switch self {
        case .wrongPin, .wrongHost, .revoked, .selfSigned, .badCertificate: .serverCertificateUntrusted
        case .expired: .serverCertificateHasBadDate
        case .notYetValid: .serverCertificateNotYetValid
        case .unknownAuthority, .noAuthorities: .serverCertificateHasUnknownRoot
        case .oldProtocol, .noTLS, .noAgreement: .secureConnectionFailed
        case .ownCertificateRequired: .clientCertificateRequired
        case .ownCertificateUnusable, .ownCertificateRejected: .clientCertificateRejected
        }
    }
}

extension CurlResult {
    /// Why the connection wasn't trusted; nil where that isn't what the transfer failed of.
    var distrust: CurlDistrust? {
        switch code {
        case 60, 83, 91: Self.verifications[verification] ?? find(Self.problems) ?? .badCertificate
        case 90: .wrongPin
        case 77: .noAuthorities
        case 58: .ownCertificateUnusable
        case 98: .ownCertificateRequired
        case 35, 59: find(Self.alerts) ?? .noAgreement
        // With TLS 1.3 the server looks at the client's certificate when for the client the handshake is over.
        case 55, 56: find(Self.alerts.filter { $0.text.hasPrefix("alert ") })
        default: nil
        }
    }

    private func find(_ table: [(text: String, CurlDistrust)]) -> CurlDistrust? {
        table.first { text.range(of: $0.text, options: .caseInsensitive) != nil }?.1
    }

    /// The numbers of X509_V_ERR in OpenSSL.
    private static let verifications: [Int: CurlDistrust] = [
        2: .unknownAuthority, 20: .unknownAuthority, 21: .unknownAuthority, 27: .unknownAuthority,
        19: .unknownAuthority,  // a root that came along, and isn't among the trusted ones
        9: .notYetValid, 13: .notYetValid, 10: .expired, 14: .expired,
        18: .selfSigned, 23: .revoked, 62: .wrongHost, 64: .wrongHost,
    ]

    /// The texts of libcurl, and of TLS libraries other than OpenSSL.
    private static let problems: [(text: String, CurlDistrust)] = [
        ("subject name", .wrongHost), ("does not match", .wrongHost), ("expired", .expired),
        ("not yet", .notYetValid), ("revoked", .revoked), ("self-signed", .selfSigned), ("self signed", .selfSigned),
        ("issuer", .unknownAuthority), ("CAfile", .unknownAuthority),
    ]

    /// What the two sides tell each other (RFC 8446, 6.2), in OpenSSL's texts.
    private static let alerts: [(text: String, CurlDistrust)] = [
        ("alert certificate required", .ownCertificateRequired), ("alert unknown ca", .ownCertificateRejected),
        ("alert bad certificate", .ownCertificateRejected), ("alert certificate expired", .ownCertificateRejected),
        ("alert certificate revoked", .ownCertificateRejected),
        ("alert certificate unknown", .ownCertificateRejected),
        ("alert unsupported certificate", .ownCertificateRejected), ("alert access denied", .ownCertificateRejected),
        ("alert protocol version", .oldProtocol), ("unsupported protocol", .oldProtocol),
        ("version too low", .oldProtocol), ("wrong ssl version", .oldProtocol), ("wrong version number", .noTLS),
    ]
}
#endif
