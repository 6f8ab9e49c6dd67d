// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import RequestsTestSupport
import Testing

@testable import Requests

/// The cases of RFC 9112, 6.3, and their abuse by hostile servers.
@Suite(.bounded) struct ResponseFramingTests {
    static let lengths: [(HTTPHeaders, Int64?)] = [
        ([:], nil), ([.contentLength: "5"], 5), ([.contentLength: "0"], 0), ([.contentLength: " 5 "], 5),
        ([.contentLength: "5, 5"], 5), ([.contentLength: "5", "content-length": "05"], 5),
        ([.contentLength: "9223372036854775807"], .max), ([.transferEncoding: "chunked"], nil),
        ([.transferEncoding: "Chunked"], nil), ([.transferEncoding: "identity"], nil),
        ([.transferEncoding: "identity", .contentLength: "5"], 5), ([.transferEncoding: ""], nil),
    ]

    @Test(arguments: lengths)
    func parsesContentLength(_ headers: HTTPHeaders, _ length: Int64?) throws {
        let framing = try ResponseFraming(HTTPResponseHead(status: .ok, headers: headers), isHeadRequest: false)

        #expect(framing.length == length)
        #expect(framing.isLengthIgnoredByCurl == (headers[.transferEncoding] == "identity" && length != nil))
    }

    static let flaws: [(HTTPHeaders, ResponseFraming.Flaw)] = [
        ([.contentLength: "5x"], .invalidLength), ([.contentLength: ""], .invalidLength),
        ([.contentLength: "-5"], .invalidLength), ([.contentLength: "+5"], .invalidLength),
        ([.contentLength: "5,"], .invalidLength), ([.contentLength: "0x5"], .invalidLength),
        ([.contentLength: "9223372036854775808"], .invalidLength), ([.contentLength: "3, 5"], .severalLengths),
        ([.contentLength: "3", "content-length": "5"], .severalLengths),
        ([.transferEncoding: "chunked", .contentLength: "5"], .lengthAndCoding),
        ([.contentLength: "5", .transferEncoding: "chunked"], .lengthAndCoding),
        ([.transferEncoding: "gzip, chunked"], .unknownCoding), ([.transferEncoding: "gzip"], .unknownCoding),
        ([.transferEncoding: "chunked, \"x"], .unknownCoding), ([.transferEncoding: "\"x, chunked"], .unknownCoding),
        ([.transferEncoding: "chunked, chunked"], .unknownCoding), ([.transferEncoding: "xchunked"], .unknownCoding),
    ]

    @Test(arguments: flaws)
    func ambiguousHeadIsRejected(_ headers: HTTPHeaders, _ flaw: ResponseFraming.Flaw) throws {
        #expect(throws: flaw) {
            _ = try ResponseFraming(HTTPResponseHead(status: .ok, headers: headers), isHeadRequest: false)
        }
        // A response without content has no length, even if it has a length field.
        for status in [HTTPStatus.noContent, .notModified, .earlyHints] {
            let head = HTTPResponseHead(status: status, headers: headers)
            #expect(try ResponseFraming(head, isHeadRequest: false) == ResponseFraming())
        }
        let head = HTTPResponseHead(status: .ok, headers: headers)
        #expect(try ResponseFraming(head, isHeadRequest: true) == ResponseFraming())
    }
}
#endif
