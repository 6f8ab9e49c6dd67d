// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// The result of a transfer: libcurl's code, from which the errors for the library and for Foundation are derived.
struct CurlResult: Sendable, Hashable {
    /// The code of a transfer that couldn't be added to libcurl.
    static let failedToStart: Int32 = 2
    /// The code of an unknown host.
    static let unknownHost: Int32 = 6
    /// The code for a host that refuses connections, or can't be reached.
    static let cannotConnect: Int32 = 7
    /// The code of a transfer that has timed out.
    static let timedOut: Int32 = 28
    /// The code of a stopped transfer.
    static let stopped: Int32 = 42
    /// The code for a handle without a connection, which can't be paused and needn't be resumed.
    static let noConnection: Int32 = 43

    /// libcurl's code; 0 is success.
    let code: Int32
    /// libcurl's message for this failure, or the general message for the code.
    let text: String
    /// The result of certificate verification, as OpenSSL's code; 0 for success, or if unknown.
    var verification = 0
    /// The status of the proxy's response to the tunnel request; 0 if there was no response.
    var tunnelStatus = 0
    /// Whether libcurl has reported a message in addition to the code.
    var hasMessage = true

    /// Returns the transfer's error; `nil` for success.
    func error(phase: RequestError.Phase) -> RequestError? {
        guard code != 0 else { return nil }
        if isTunnelRefused {
            let reason = "the proxy refused to open a tunnel (curl \(code))"
            return RequestError(.proxyRefused, phase: phase, reason: reason, underlying: urlError(.cannotConnectToHost))
        }
        if let trustFailure { return error(trustFailure, phase: phase) }
        let (code, urlCode) = Self.codes[specificCode] ?? (.other, .unknown)
        let reason = "\(reasonPrefix)\(text) (curl \(self.code))"
        return RequestError(code, phase: phase, reason: reason, underlying: urlError(urlCode))
    }

    private var reasonPrefix: String {
        guard !lacksCommonProtocol else {
            return "the server supports only HTTP/2, but HTTP/2 is disabled, or the request head is too large for it: "
        }
        return code == 27 ? "a header line exceeds the limit of libcurl, or memory is exhausted: " : ""
    }

    /// Whether the proxy has refused to open a tunnel.
    var isTunnelRefused: Bool { code != 0 && tunnelStatus >= 300 }

    // libcurl has no separate code for an invalid chunk, a head beyond its limit, a refused tunnel, or incompatible
    // HTTP versions. Even 8.22 reports them only as messages.
    private var specificCode: Int32 {
        switch code {
        case 5...7 where text.contains("Unsupported proxy"): 4
        case _ where lacksCommonProtocol: 4
        case 35 where isLostHandshake: 56
        case 56 where text.contains("CONNECT"): 97
        case 56 where text.contains("chunk"): 8
        case 56 where text.contains("headers"): 100
        // An HTTP/2 head that exceeds libcurl's buffer.
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

    /// The errors for libcurl's codes at the end of an HTTP transfer, except those of ``TrustFailure``.
    ///
    /// Any other code is reported as `other`.
    private static let codes: [Int32: (RequestError.Code, URLError.Code)] = [
        // Unsupported protocol, that is, HTTP/0.9 or garbage. An unsupported scheme is rejected earlier.
        1: (.badResponse, .badServerResponse),
        2: (.other, .unknown),  // failed to initialize
        3: (.invalidRequest, .badURL),
        4: (.unsupported, .unsupportedURL),  // a feature that isn't built in, or an unknown proxy scheme
        5: (.cannotConnect, .cannotFindHost),  // proxy not resolved
        6: (.cannotConnect, .cannotFindHost),
        7: (.cannotConnect, .cannotConnectToHost),
        8: (.badResponse, .badServerResponse),  // weird server reply
        16: (.badResponse, .badServerResponse),  // HTTP/2 framing
        18: (.connectionLost, .networkConnectionLost),  // partial content
        // A write error means that one of libcurl's decoders failed, because failures of our own write callback are
        // recorded in the state and handled first.
        23: (.badResponse, .cannotDecodeContentData),
        25: (.connectionLost, .networkConnectionLost),  // a chunked body over a reused HTTP/1.0 connection
        26: (.bodyNotReplayable, .requestBodyStreamExhausted),  // our read callback failed
        27: (.headTooLarge, .dataLengthExceedsMaximum),  // an endless header line, or out of memory
        28: (.timedOut, .timedOut),
        42: (.cancelled, .cancelled),
        43: (.badResponse, .badServerResponse),  // an invalid trailer field
        45: (.cannotConnect, .cannotConnectToHost),  // a local address that this machine doesn't have
        47: (.tooManyRedirects, .httpTooManyRedirects),
        52: (.connectionLost, .networkConnectionLost),  // nothing received
        55: (.connectionLost, .networkConnectionLost),
        56: (.connectionLost, .networkConnectionLost),
        61: (.badResponse, .cannotDecodeContentData),
        65: (.bodyNotReplayable, .requestBodyStreamExhausted),  // rewind failed
        80: (.connectionLost, .networkConnectionLost),
        92: (.connectionLost, .networkConnectionLost),  // HTTP/2 stream error
        97: (.cannotConnect, .cannotConnectToHost),  // proxy handshake
        100: (.headTooLarge, .dataLengthExceedsMaximum),  // a head beyond libcurl's own limit
    ]
}

extension CurlResult {
    /// Returns whether the response was complete although the transfer failed.
    ///
    /// A server may respond before it has received the entire request, and state that it doesn't need the rest (RFC
    /// 9113, 8.1). When libcurl then tries to send more, it ends the transfer without a message. If the stream was
    /// closed for another reason, libcurl reports a message, unless the connection has ended as well. Without a
    /// message, and after the end of the connection, only the length of the content shows whether the content is
    /// complete.
    ///
    /// - Parameter isCompleteByLength: Whether the content has the declared length.
    /// - Returns: Whether the response was complete.
    func indicatesCompleteStream(isCompleteByLength: Bool) -> Bool {
        !hasMessage && (code == 92 || isCompleteByLength && (code == 16 || code == 18))
    }
}

// MARK: - TrustFailure

extension CurlResult {
    /// The reason why the connection wasn't trusted; `nil` if the transfer failed for another reason.
    var trustFailure: TrustFailure? {
        switch code {
        case 60, 83, 91: Self.verificationCodes[verification] ?? match(Self.verificationMessages) ?? .badCertificate
        case 90: .wrongPin
        case 77: .noAuthorities
        case 58: .clientCertificateUnusable
        case 98: .clientCertificateRequired
        case 35, 59: isLostHandshake || lacksCommonProtocol ? nil : match(Self.alerts) ?? .handshakeFailed
        // With TLS 1.3, the server verifies the client's certificate after the client has completed the handshake, so
        // its alert may arrive later.
        case 55, 56: match(Self.alerts.filter { $0.text.hasPrefix("alert ") })
        default: nil
        }
    }

    /// Whether the handshake failed because the connection ended, and not because of an alert.
    var isLostHandshake: Bool {
        code == 35 && Self.lossMessages.contains { text.range(of: $0, options: .caseInsensitive) != nil }
    }

    /// Whether the server supports none of the HTTP versions that were offered (RFC 7301, 3.2).
    ///
    /// OpenSSL may report only a number for this failure.
    private var lacksCommonProtocol: Bool {
        let texts = ["no application protocol", "reason(1120)"]
        return (code == 35 || code == 59) && texts.contains { text.range(of: $0, options: .caseInsensitive) != nil }
    }

    /// libcurl's messages for socket errors, and OpenSSL's messages for an unexpected end of the connection.
    private static let lossMessages = ["SSL_ERROR_SYSCALL", "connection reset", "broken pipe", "unexpected eof"]

    private func match(_ table: [(text: String, TrustFailure)]) -> TrustFailure? {
        table.first { text.range(of: $0.text, options: .caseInsensitive) != nil }?.1
    }

    /// The trust failures for OpenSSL's X509_V_ERR codes.
    private static let verificationCodes: [Int: TrustFailure] = [
        2: .unknownAuthority, 20: .unknownAuthority, 21: .unknownAuthority, 27: .unknownAuthority,
        19: .unknownAuthority,  // an untrusted root that the server sent
        9: .notYetValid, 13: .notYetValid, 10: .expired, 14: .expired,
        18: .selfSigned, 23: .revoked, 62: .wrongHost, 64: .wrongHost,
    ]

    /// The trust failures for messages of libcurl, and of TLS libraries other than OpenSSL.
    private static let verificationMessages: [(text: String, TrustFailure)] = [
        ("subject name", .wrongHost), ("does not match", .wrongHost), ("expired", .expired),
        ("not yet", .notYetValid), ("revoked", .revoked), ("self-signed", .selfSigned), ("self signed", .selfSigned),
        ("issuer", .unknownAuthority), ("CAfile", .unknownAuthority),
    ]

    /// The trust failures for OpenSSL's messages about TLS alerts of either side (RFC 8446, 6.2).
    private static let alerts: [(text: String, TrustFailure)] = [
        ("alert certificate required", .clientCertificateRequired), ("alert unknown ca", .clientCertificateRejected),
        ("alert bad certificate", .clientCertificateRejected),
        ("alert certificate expired", .clientCertificateRejected),
        ("alert certificate revoked", .clientCertificateRejected),
        ("alert certificate unknown", .clientCertificateRejected),
        ("alert unsupported certificate", .clientCertificateRejected),
        ("alert access denied", .clientCertificateRejected),
        ("alert protocol version", .noCommonTLSVersion), ("unsupported protocol", .noCommonTLSVersion),
        ("version too low", .noCommonTLSVersion), ("wrong ssl version", .noCommonTLSVersion),
        ("wrong version number", .noTLS),
    ]
}
#endif
