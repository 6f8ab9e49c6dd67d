// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The status line and the fields of a response that follows the rules; ``MockResponse/raw(_:keepsAlive:)`` needs none.
struct ResponseHead: Sendable {
    var status: HTTPStatus
    var headers: HTTPHeaders

    /// Adds a `Content-Length`, where one is due and the headers say nothing about the framing.
    init(status: HTTPStatus, headers: HTTPHeaders, length: Int?) {
        self.status = status
        self.headers = headers
        guard let length, allowsBody, !headers.contains(.contentLength), !headers.contains(.transferEncoding) else {
            return
        }
        self.headers.add(String(length), for: .contentLength)
    }

    /// Whether a response of the status may have a body (RFC 9110, 6.4.1).
    var allowsBody: Bool {
        status != .noContent && status != .notModified && status.category != .informational
    }

    /// The bytes up to and including the empty line.
    func bytes(closes: Bool) -> Data {
        let connection = closes && !headers.contains(.connection) ? "Connection: close\r\n" : ""
        return Data("HTTP/1.1 \(status.code) \(status.name ?? "")\r\n\(headers.wireText)\(connection)\r\n".utf8)
    }
}

extension HTTPHeaders {
    /// The fields as they stand on the wire, a line each.
    var wireText: String {
        map { "\($0.name.rawValue): \($0.value)\r\n" }.joined()
    }
}

extension MockResponse {
    /// A response of a head and the pieces of a body; the first piece leaves together with the head, in one write.
    ///
    /// The steps of a connection that stays open are made once, and not for every request.
    static func message(_ head: ResponseHead, body pieces: [Data]) -> MockResponse {
        let pieces = head.allowsBody ? pieces : []
        @Sendable func steps(closes: Bool) -> [Step] {
            [.send(head.bytes(closes: closes) + (pieces.first ?? Data()))] + pieces.dropFirst().map(Step.send)
        }
        let usual = steps(closes: false)
        return MockResponse(keepsAlive: !head.headers.askForClose) { request, closes in
            guard request.method != .head else { return [.send(head.bytes(closes: closes))] }
            return closes ? steps(closes: true) : usual
        }
    }
}
