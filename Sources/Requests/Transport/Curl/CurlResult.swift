// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// How a transfer ended, in libcurl's words, and the same in the library's and in Foundation's.
struct CurlResult: Sendable, Hashable {
    /// libcurl's code; 0 is success.
    let code: Int32
    /// libcurl's text, where it has one for this very failure.
    let text: String

    /// The error, or nil for success.
    func error(phase: RequestError.Phase) -> RequestError? {
        guard code != 0 else { return nil }
        // A broken chunk has no code of its own before libcurl 8.
        let isBadChunk = self.code == 56 && text.contains("chunk")
        let (code, urlCode) = Self.codes[isBadChunk ? 8 : self.code] ?? (.other, .unknown)
        let underlying = URLError(urlCode, userInfo: [NSLocalizedDescriptionKey: text, "CurlCode": Int(self.code)])
        return RequestError(code, phase: phase, reason: "\(text) (curl \(self.code))", underlying: underlying)
    }

    /// libcurl's codes that an http transfer can end with; every other is `other`.
    private static let codes: [Int32: (RequestError.Code, URLError.Code)] = [
        1: (.badResponse, .badServerResponse),  // unsupported protocol: also HTTP/0.9 and garbage
        2: (.other, .unknown),  // failed to initialise
        3: (.invalidRequest, .badURL),
        5: (.cannotConnect, .cannotFindHost),  // proxy not resolved
        6: (.cannotConnect, .cannotFindHost),
        7: (.cannotConnect, .cannotConnectToHost),
        8: (.badResponse, .badServerResponse),  // weird server reply
        16: (.badResponse, .badServerResponse),  // HTTP/2 framing
        18: (.connectionLost, .networkConnectionLost),  // partial content
        23: (.other, .cannotWriteToFile),  // our write callback said no
        26: (.bodyNotReplayable, .requestBodyStreamExhausted),  // our read callback said no
        27: (.badResponse, .badServerResponse),  // out of memory: a header line without end
        28: (.timedOut, .timedOut),
        35: (.untrusted, .secureConnectionFailed),
        42: (.cancelled, .cancelled),
        47: (.tooManyRedirects, .httpTooManyRedirects),
        52: (.connectionLost, .networkConnectionLost),  // nothing received
        55: (.connectionLost, .networkConnectionLost),
        56: (.connectionLost, .networkConnectionLost),
        58: (.untrusted, .clientCertificateRejected),  // our own certificate is bad
        59: (.untrusted, .secureConnectionFailed),  // no common cipher
        60: (.untrusted, .serverCertificateUntrusted),
        61: (.badResponse, .cannotDecodeContentData),
        65: (.bodyNotReplayable, .requestBodyStreamExhausted),  // rewind failed
        77: (.untrusted, .serverCertificateHasUnknownRoot),  // bad CA file
        80: (.connectionLost, .networkConnectionLost),
        83: (.untrusted, .serverCertificateUntrusted),
        90: (.untrusted, .serverCertificateUntrusted),  // pinned key doesn't match
        91: (.untrusted, .serverCertificateUntrusted),
        92: (.connectionLost, .networkConnectionLost),  // HTTP/2 stream error
        97: (.cannotConnect, .cannotConnectToHost),  // proxy handshake
        98: (.untrusted, .clientCertificateRequired),
    ]
}
#endif
