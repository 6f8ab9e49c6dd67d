// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
extension CurlResult {
    /// Why the connection wasn't trusted; nil where that isn't what the transfer failed of.
    var distrust: Distrust? {
        switch code {
        case 60, 83, 91: Self.verifications[verification] ?? find(Self.problems) ?? .badCertificate
        case 90: .wrongPin
        case 77: .noAuthorities
        case 58: .ownCertificateUnusable
        case 98: .ownCertificateRequired
        case 35, 59: isLostHandshake ? nil : find(Self.alerts) ?? .noAgreement
        // With TLS 1.3 the server looks at the client's certificate when for the client the handshake is over.
        case 55, 56: find(Self.alerts.filter { $0.text.hasPrefix("alert ") })
        default: nil
        }
    }

    /// Whether a handshake ended with the connection rather than by what either side said.
    var isLostHandshake: Bool {
        code == 35 && Self.losses.contains { text.range(of: $0, options: .caseInsensitive) != nil }
    }

    /// The texts of libcurl for what the system says of a socket, and OpenSSL's for an end where none may be.
    private static let losses = ["SSL_ERROR_SYSCALL", "connection reset", "broken pipe", "unexpected eof"]

    private func find(_ table: [(text: String, Distrust)]) -> Distrust? {
        table.first { text.range(of: $0.text, options: .caseInsensitive) != nil }?.1
    }

    /// The numbers of X509_V_ERR in OpenSSL.
    private static let verifications: [Int: Distrust] = [
        2: .unknownAuthority, 20: .unknownAuthority, 21: .unknownAuthority, 27: .unknownAuthority,
        19: .unknownAuthority,  // a root that came along, and isn't among the trusted ones
        9: .notYetValid, 13: .notYetValid, 10: .expired, 14: .expired,
        18: .selfSigned, 23: .revoked, 62: .wrongHost, 64: .wrongHost,
    ]

    /// The texts of libcurl, and of TLS libraries other than OpenSSL.
    private static let problems: [(text: String, Distrust)] = [
        ("subject name", .wrongHost), ("does not match", .wrongHost), ("expired", .expired),
        ("not yet", .notYetValid), ("revoked", .revoked), ("self-signed", .selfSigned), ("self signed", .selfSigned),
        ("issuer", .unknownAuthority), ("CAfile", .unknownAuthority),
    ]

    /// What the two sides tell each other (RFC 8446, 6.2), in OpenSSL's texts.
    private static let alerts: [(text: String, Distrust)] = [
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
