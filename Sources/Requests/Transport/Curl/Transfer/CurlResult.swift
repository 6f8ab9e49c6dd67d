// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// The result of a transfer, with libcurl's code, and its error for the library and for Foundation.
struct CurlResult: Sendable, Hashable {
    /// The code of a transfer that libcurl doesn't accept.
    static let failedToBegin: Int32 = 2
    /// The code of an unknown host.
    static let unknownHost: Int32 = 6
    /// The code of a host that refuses connections, or isn't reached.
    static let cannotConnect: Int32 = 7
    /// The code of a transfer that took too long.
    static let timedOut: Int32 = 28
    /// The code of a stopped transfer.
    static let stopped: Int32 = 42
    /// The code of a handle without a connection, which can't be paused and needn't be resumed.
    static let noConnection: Int32 = 43

    /// libcurl's code; 0 is success.
    let code: Int32
    /// libcurl's text, if it has one for this failure.
    let text: String
    /// The result of verifying the certificate, in OpenSSL's numbers; 0 for success, or if nothing is known.
    var verification = 0
    /// The status that a proxy answered to the request for a tunnel; 0 if there was none.
    var tunnelStatus = 0
    /// Whether libcurl has reported more than the code.
    var hasMessage = true

    /// The error, or nil for success.
    func error(phase: RequestError.Phase) -> RequestError? {
        guard code != 0 else { return nil }
        if isTunnelRefused {
            let reason = "the proxy makes no tunnel (curl \(code))"
            return RequestError(.proxyRefused, phase: phase, reason: reason, underlying: urlError(.cannotConnectToHost))
        }
        if let trustFailure { return error(trustFailure, phase: phase) }
        let (code, urlCode) = Self.codes[specificCode] ?? (.other, .unknown)
        let reason = "\(reasonPrefix)\(text) (curl \(self.code))"
        return RequestError(code, phase: phase, reason: reason, underlying: urlError(urlCode))
    }

    private var reasonPrefix: String {
        guard !hasNoProtocol else {
            return "the server speaks only HTTP/2, for which the head of the request is too large, or which is off: "
        }
        return code == 27 ? "a line of the head is larger than libcurl takes, or memory is short: " : ""
    }

    /// Whether the proxy has refused to make a tunnel.
    var isTunnelRefused: Bool { code != 0 && tunnelStatus >= 300 }

    // libcurl has no code of its own for a broken chunk, a head beyond its own limit, a proxy that refuses a tunnel,
    // and HTTP versions that don't match: even 8.22 reports them only as texts.
    private var specificCode: Int32 {
        switch code {
        case 5...7 where text.contains("Unsupported proxy"): 4
        case _ where hasNoProtocol: 4
        case 35 where isLostHandshake: 56
        case 56 where text.contains("CONNECT"): 97
        case 56 where text.contains("chunk"): 8
        case 56 where text.contains("headers"): 100
        // A head of HTTP/2 for which libcurl has no room.
        case 56 where text.contains("returned -902"): 100
        default: code
        }
    }

    private func error(_ trustFailure: TrustFailure, phase: RequestError.Phase) -> RequestError {
        let reason = "\(trustFailure.reason): \(text) (curl \(code))"
        return RequestError(.untrusted, phase: phase, reason: reason, underlying: urlError(trustFailure.urlCode))
    }

    private func urlError(_ urlCode: URLError.Code) -> URLError {
        URLError(urlCode, userInfo: [NSLocalizedDescriptionKey: text, "CurlCode": Int(code)])
    }

    /// libcurl's codes at the end of an HTTP transfer, except those of ``TrustFailure``; every other is `other`.
    private static let codes: [Int32: (RequestError.Code, URLError.Code)] = [
        // Unsupported protocol: HTTP/0.9 and garbage. An unsupported scheme is refused before.
        1: (.badResponse, .badServerResponse),
        2: (.other, .unknown),  // failed to initialise
        3: (.invalidRequest, .badURL),
        4: (.unsupported, .unsupportedURL),  // not built in, and a proxy of a scheme that isn't known
        5: (.cannotConnect, .cannotFindHost),  // proxy not resolved
        6: (.cannotConnect, .cannotFindHost),
        7: (.cannotConnect, .cannotConnectToHost),
        8: (.badResponse, .badServerResponse),  // weird server reply
        16: (.badResponse, .badServerResponse),  // HTTP/2 framing
        18: (.connectionLost, .networkConnectionLost),  // partial content
        23: (.badResponse, .cannotDecodeContentData),  // a decoder failed; the state knows if our callback did
        25: (.connectionLost, .networkConnectionLost),  // a chunked body, and a kept connection to an HTTP/1.0 server
        26: (.bodyNotReplayable, .requestBodyStreamExhausted),  // our read callback failed
        27: (.headTooLarge, .dataLengthExceedsMaximum),  // out of memory: a header line without end
        28: (.timedOut, .timedOut),
        42: (.cancelled, .cancelled),
        43: (.badResponse, .badServerResponse),  // a trailer that is no field
        45: (.cannotConnect, .cannotConnectToHost),  // an address of this machine that it doesn't have
        47: (.tooManyRedirects, .httpTooManyRedirects),
        52: (.connectionLost, .networkConnectionLost),  // nothing received
        55: (.connectionLost, .networkConnectionLost),
        56: (.connectionLost, .networkConnectionLost),
        61: (.badResponse, .cannotDecodeContentData),
        65: (.bodyNotReplayable, .requestBodyStreamExhausted),  // rewind failed
        80: (.connectionLost, .networkConnectionLost),
        92: (.connectionLost, .networkConnectionLost),  // HTTP/2 stream error
        97: (.cannotConnect, .cannotConnectToHost),  // proxy handshake
        100: (.headTooLarge, .dataLengthExceedsMaximum),  // a head beyond the limit of libcurl itself
    ]
}

extension CurlResult {
    /// Whether the response was complete when the transfer failed.
    ///
    /// A server may answer before it has the whole request, and then states that it doesn't want the rest (RFC 9113,
    /// 8.1). libcurl ends such a transfer when it tries to send more, without a reason. If a stream was closed for
    /// another reason, libcurl names it; but not if the connection ends as well. Then only the length tells.
    ///
    /// - Parameter isWholeByLength: Whether the content had the announced length.
    /// - Returns: Whether it was complete.
    func saysStreamWasComplete(isWholeByLength: Bool) -> Bool {
        !hasMessage && (code == 92 || isWholeByLength && (code == 16 || code == 18))
    }
}

// MARK: - TrustFailure

extension CurlResult {
    /// The reason why the connection wasn't trusted; `nil` if the transfer failed for another reason.
    var trustFailure: TrustFailure? {
        switch code {
        case 60, 83, 91: Self.verifications[verification] ?? find(Self.problems) ?? .badCertificate
        case 90: .wrongPin
        case 77: .noAuthorities
        case 58: .clientCertificateUnusable
        case 98: .clientCertificateRequired
        case 35, 59: isLostHandshake || hasNoProtocol ? nil : find(Self.alerts) ?? .handshakeFailed
        // With TLS 1.3 the server checks the client's certificate after the client has completed the handshake.
        case 55, 56: find(Self.alerts.filter { $0.text.hasPrefix("alert ") })
        default: nil
        }
    }

    /// Whether a handshake ended with the connection rather than with an alert.
    var isLostHandshake: Bool {
        code == 35 && Self.losses.contains { text.range(of: $0, options: .caseInsensitive) != nil }
    }

    /// Whether the server supports none of the HTTP versions that it was offered (RFC 7301, 3.2); OpenSSL may report
    /// just a number for this.
    private var hasNoProtocol: Bool {
        let texts = ["no application protocol", "reason(1120)"]
        return (code == 35 || code == 59) && texts.contains { text.range(of: $0, options: .caseInsensitive) != nil }
    }

    /// The texts of libcurl for socket errors, and OpenSSL's for an unexpected end.
    private static let losses = ["SSL_ERROR_SYSCALL", "connection reset", "broken pipe", "unexpected eof"]

    private func find(_ table: [(text: String, TrustFailure)]) -> TrustFailure? {
        table.first { text.range(of: $0.text, options: .caseInsensitive) != nil }?.1
    }

    /// The numbers of X509_V_ERR in OpenSSL.
    private static let verifications: [Int: TrustFailure] = [
        2: .unknownAuthority, 20: .unknownAuthority, 21: .unknownAuthority, 27: .unknownAuthority,
        19: .unknownAuthority,  // a root that the server sent, and isn't trusted
        9: .notYetValid, 13: .notYetValid, 10: .expired, 14: .expired,
        18: .selfSigned, 23: .revoked, 62: .wrongHost, 64: .wrongHost,
    ]

    /// The texts of libcurl, and of TLS libraries other than OpenSSL.
    private static let problems: [(text: String, TrustFailure)] = [
        ("subject name", .wrongHost), ("does not match", .wrongHost), ("expired", .expired),
        ("not yet", .notYetValid), ("revoked", .revoked), ("self-signed", .selfSigned), ("self signed", .selfSigned),
        ("issuer", .unknownAuthority), ("CAfile", .unknownAuthority),
    ]

    /// The alerts of both sides (RFC 8446, 6.2), in OpenSSL's texts.
    private static let alerts: [(text: String, TrustFailure)] = [
        ("alert certificate required", .clientCertificateRequired), ("alert unknown ca", .clientCertificateRejected),
        ("alert bad certificate", .clientCertificateRejected), ("alert certificate expired", .clientCertificateRejected),
        ("alert certificate revoked", .clientCertificateRejected),
        ("alert certificate unknown", .clientCertificateRejected),
        ("alert unsupported certificate", .clientCertificateRejected), ("alert access denied", .clientCertificateRejected),
        ("alert protocol version", .noCommonTLSVersion), ("unsupported protocol", .noCommonTLSVersion),
        ("version too low", .noCommonTLSVersion), ("wrong ssl version", .noCommonTLSVersion), ("wrong version number", .noTLS),
    ]
}
#endif
