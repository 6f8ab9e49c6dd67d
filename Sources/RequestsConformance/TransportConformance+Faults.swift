// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

extension TransportConformance {
    /// The checks of server faults and connection failures.
    static let faults: [Check] = [
        Check("connecting to a port without a listener fails", .complete, needs: .server) { trial in
            let other = try MockServer()
            other.stop()
            let log = try await trial.send("\(other.url.absoluteString)/")
            trial.expectError(log, .cannotConnect)
            trial.expect(log.head == nil, "a head was reported without a server")
        },
        errorCheck("a connection closed before the first byte is an error", [.closed, .reset]),
        errorCheck(
            "a connection closed in the head is an error",
            (1..<completeHead.count).map { .raw(completeHead.prefix($0)) }
        ),
        errorCheck(
            "a connection closed in the content is an error",
            (0..<10).map { .raw(completeHead + digits.prefix($0)) },
            .ok
        ),
        errorCheck(
            "a connection closed in chunked content is an error",
            (0..<chunks.count).map { .raw(chunkedHead + chunks.prefix($0)) },
            .ok
        ),
        // The second pause lets the client read before the RST discards unread bytes.
        errorCheck(
            "a connection reset in the content is an error",
            [Duration.zero, .milliseconds(20)].map { .partial(then: .pause($0), .reset) }
        ),
        errorCheck(
            "invalid chunks are an error",
            ["zz\r\n", "-1\r\n", "5\r\nfirst0\r\n\r\n", "FFFFFFFFFFFFFFFFF\r\nx"].map {
                .raw(chunkedHead + Data($0.utf8))
            }
        ),
        errorCheck(
            "a response that isn't HTTP is an error",
            ["GARBAGE\r\n\r\n", "\r\n\r\n\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 abc\r\n\r\n"].map { .raw($0) }
                + [.raw(Data(repeating: 0xFF, count: 200_000))]
        ),
        Check("an ambiguous response leads to exactly one end", .complete) { trial in
            for (number, text) in ambiguousResponses.enumerated() {
                trial.server.route(.get, "/odd\(number)", .raw(text))
                let log = try await trial.send("/odd\(number)")
                let hasOutcome = log.error != nil || log.head != nil
                trial.expect(hasOutcome, "\(text.prefix(40).debugDescription) resulted in \(log)")
            }
            try await trial.expectStillWorking(after: "ambiguous responses", allowsOneFailure: true)
        },
        Check("bytes beyond the Content-Length aren't content", .complete) { trial in
            trial.server.route(.get, "/more", .raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello"))
            let log = try await trial.send("/more")
            if log.error == nil { trial.expectResponse(log, content: "he") }
            try await trial.expectStillWorking(after: "bytes beyond the Content-Length", allowsOneFailure: true)
        },
    ]
}

extension TransportConformance {
    /// Creates a check that each response leads to an error, that its request is sent once, and that the transport
    /// still works.
    ///
    /// - Parameters:
    ///   - name: The name of the check.
    ///   - responses: The responses.
    ///   - status: The status that must be reported before the error; `nil` if there may be no head.
    /// - Returns: The check.
    private static func errorCheck(_ name: String, _ responses: [StubResponse], _ status: HTTPStatus? = nil) -> Check {
        Check(name, .complete) { trial in
            for (index, response) in responses.enumerated() {
                let (context, count) = ("response \(index)", trial.server.requests.count)
                trial.server.route(.get, "/broken", response)
                let log = try await trial.send("/broken")
                trial.expectError(log, .connectionLost, .badResponse, context: context)
                if let status {
                    trial.expect(log.head?.status == status, "\(context): the received head wasn't reported")
                }
                let sent = trial.server.requests.count - count
                trial.expect(sent == 1, "\(context): \(sent) requests were sent, expected 1")
                // A request that fails on a reused connection may be retried (RFC 9112, 9.3.1), so each request must
                // use a new connection.
                try await trial.expectStillWorking(after: context, thenCloses: true)
            }
        }
    }

    private static let completeHead = Data("HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 10\r\n\r\n".utf8)
    private static let digits = Data("0123456789".utf8)
    private static let chunkedHead = Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
    private static let chunks = Data("5\r\nfirst\r\n6;a=b\r\nsecond\r\n0\r\n".utf8)

    /// Responses that clients interpret differently; each must lead to an error or a response, and must not crash.
    private static let ambiguousResponses = [
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: unheard-of\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nno colon here\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: no name\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX-Folded: a\r\n b\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX-Nul: a\u{0}b\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
        "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.0 200 OK\r\n\r\nx",
        "HTTP/3.7 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 099 What\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
    ]
}
