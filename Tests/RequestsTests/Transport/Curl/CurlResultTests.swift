// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct CurlResultTests {
    @Test func successCodeIsNotAnError() {
        #expect(CurlResult(code: 0, text: "").error(phase: .sending) == nil)
    }

    static let codes: [(Int32, RequestError.Code, URLError.Code)] = [
        (1, .badResponse, .badServerResponse),
        (3, .invalidRequest, .badURL),
        (5, .cannotConnect, .cannotFindHost),
        (6, .cannotConnect, .cannotFindHost),
        (7, .cannotConnect, .cannotConnectToHost),
        (8, .badResponse, .badServerResponse),
        (16, .badResponse, .badServerResponse),
        (18, .connectionLost, .networkConnectionLost),
        (23, .badResponse, .cannotDecodeContentData),
        (27, .headTooLarge, .dataLengthExceedsMaximum),
        (28, .timedOut, .timedOut),
        (35, .untrusted, .secureConnectionFailed),
        (42, .cancelled, .cancelled),
        (43, .badResponse, .badServerResponse),
        (52, .connectionLost, .networkConnectionLost),
        (55, .connectionLost, .networkConnectionLost),
        (56, .connectionLost, .networkConnectionLost),
        (60, .untrusted, .serverCertificateUntrusted),
        (61, .badResponse, .cannotDecodeContentData),
        (90, .untrusted, .serverCertificateUntrusted),
        (92, .connectionLost, .networkConnectionLost),
        (100, .headTooLarge, .dataLengthExceedsMaximum),
        (9999, .other, .unknown),
    ]

    @Test(arguments: codes)
    func curlCodesMapToRequestAndURLErrors(
        _ code: Int32,
        _ expected: RequestError.Code,
        _ foundation: URLError.Code
    ) throws {
        let error = try #require(CurlResult(code: code, text: "why").error(phase: .receiving))

        #expect(error.code == expected)
        #expect(error.phase == .receiving)
        #expect((error.underlying as? URLError)?.code == foundation)
        #expect((error.underlying as? URLError)?.errorUserInfo["CurlCode"] as? Int == Int(code))
        #expect(error.reason?.hasSuffix("why (curl \(code))") == true)
    }

    @Test(arguments: [
        ("Illegal or missing hexadecimal sequence in chunked-encoding", RequestError.Code.badResponse),
        ("Too large response headers: 307201 > 307200", .headTooLarge),
    ])
    func errorTextDistinguishesBadResponse(_ text: String, _ code: RequestError.Code) {
        #expect(CurlResult(code: 56, text: text).error(phase: .receiving)?.code == code)
    }

    /// The system's texts for a socket error during a handshake, as reported by libcurl, and OpenSSL's.
    @Test(arguments: [
        "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to localhost:1 ",
        "OpenSSL SSL_connect: Connection reset by peer",
        "OpenSSL SSL_connect: Broken pipe in connection to localhost:1",
        "error:0A000126:SSL routines::unexpected eof while reading",
    ])
    func connectionClosedInHandshakeIsLost(_ text: String) {
        #expect(CurlResult(code: 35, text: text).error(phase: .sending)?.code == .connectionLost)
    }

    @Test(arguments: [
        "CONNECT tunnel failed, response 407", "Received HTTP code 407 from proxy after CONNECT",
        "Proxy CONNECT aborted",
    ])
    func rejectedTunnelMeansCannotConnect(_ text: String) {
        #expect(CurlResult(code: 56, text: text).error(phase: .sending)?.code == .cannotConnect)
    }

    /// With OpenSSL 3.0, and with 1.1.1, which has no text for it.
    @Test(arguments: [
        "OpenSSL/3.0.19: error:0A000460:SSL routines::tlsv1 alert no application protocol",
        "error:14094460:SSL routines:ssl3_read_bytes:reason(1120)",
    ])
    func http2OnlyServerIsUnsupportedNotUntrusted(_ text: String) {
        let error = CurlResult(code: 35, text: text).error(phase: .sending)

        #expect(error?.code == .unsupported)
        #expect(error?.reason?.contains("the server supports only HTTP/2") == true)
    }

    @Test func nonzeroCodesAreErrors() {
        for code: Int32 in 1...200 {
            #expect(CurlResult(code: code, text: "").error(phase: .sending)?.underlying is URLError, "code \(code)")
        }
    }
}
#endif
