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
    /// What the verification of the certificate came to, in OpenSSL's numbers; 0 where nothing was wrong, or nothing
    /// known.
    var verification = 0

    /// The error, or nil for success.
    func error(phase: RequestError.Phase) -> RequestError? {
        guard code != 0 else { return nil }
        if let distrust { return error(distrust, phase: phase) }
        let (code, urlCode) = Self.codes[specificCode] ?? (.other, .unknown)
        return RequestError(code, phase: phase, reason: "\(text) (curl \(self.code))", underlying: urlError(urlCode))
    }

    // A broken chunk has no code of its own before libcurl 8, nor has a head beyond the limit of libcurl itself, or a
    // proxy that makes no tunnel.
    private var specificCode: Int32 {
        switch code {
        case 35 where isLostHandshake: 56
        case 56 where text.contains("CONNECT"): 97
        case 56 where text.contains("chunk"): 8
        case 56 where text.contains("headers"): 100
        default: code
        }
    }

    private func error(_ distrust: Distrust, phase: RequestError.Phase) -> RequestError {
        let reason = "\(distrust.reason): \(text) (curl \(code))"
        return RequestError(.untrusted, phase: phase, reason: reason, underlying: urlError(distrust.urlCode))
    }

    private func urlError(_ urlCode: URLError.Code) -> URLError {
        URLError(urlCode, userInfo: [NSLocalizedDescriptionKey: text, "CurlCode": Int(code)])
    }

    /// libcurl's codes that an http transfer can end with, but for those of ``Distrust``; every other is `other`.
    private static let codes: [Int32: (RequestError.Code, URLError.Code)] = [
        // Unsupported protocol: HTTP/0.9 and garbage. A scheme that isn't supported doesn't come as far as here.
        1: (.badResponse, .badServerResponse),
        2: (.other, .unknown),  // failed to initialise
        3: (.invalidRequest, .badURL),
        5: (.cannotConnect, .cannotFindHost),  // proxy not resolved
        6: (.cannotConnect, .cannotFindHost),
        7: (.cannotConnect, .cannotConnectToHost),
        8: (.badResponse, .badServerResponse),  // weird server reply
        16: (.badResponse, .badServerResponse),  // HTTP/2 framing
        18: (.connectionLost, .networkConnectionLost),  // partial content
        23: (.badResponse, .cannotDecodeContentData),  // a decoder said no: where our callback did, the state knows why
        25: (.connectionLost, .networkConnectionLost),  // a chunked body, and a kept connection to an HTTP/1.0 server
        26: (.bodyNotReplayable, .requestBodyStreamExhausted),  // our read callback said no
        27: (.headTooLarge, .dataLengthExceedsMaximum),  // out of memory: a header line without end
        28: (.timedOut, .timedOut),
        42: (.cancelled, .cancelled),
        43: (.badResponse, .badServerResponse),  // a trailer that is no field
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
#endif
