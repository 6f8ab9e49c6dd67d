// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

extension TransportConformance {
    /// The checks of requests and responses on the wire.
    static let messages: [Check] = [
        Check("the request target is sent unchanged", .exact) { trial in
            for target in ["/a%2Fb?x=1%202&y=%C3%BC", "/a//b/;c=d", "/?", "/a?b=c+d%2Be"] {
                try await trial.expectArrival(of: .text("here"), at: target, content: "here", context: target)
                let seen = trial.server.requests.last?.target ?? ""
                trial.expect(seen == target, "\(target) was sent as \(seen)")
            }
        },
        Check("header fields are sent unchanged", .exact) { trial in
            let headers: HTTPHeaders = [
                "X-Plain": "a b", "X-Quoted": #""a,b"; c=d\e"#, "Cookie": "a=b", "X-Percent": "%0d",
            ]
            trial.expectResponse(try await trial.send("/text", headers: headers), content: "text")
            for field in headers {
                let seen = try await trial.awaitRequest().headers[values: field.name]
                trial.expect(seen == [field.value], "\(field.name) was sent as \(seen)")
            }
        },
        Check("repeated header fields keep their values and order", .capabilities) { trial in
            let headers: HTTPHeaders = ["X-B": "1", "X-A": "2", "X-B": "3", "X-C": "4"]
            trial.expectResponse(try await trial.send("/text", headers: headers), content: "text")
            let fields = try await trial.awaitRequest().headers.filter { $0.name.rawValue.hasPrefix("X-") }
            let lines = fields.map { "\($0.name): \($0.value)" }
            if trial.transport.capabilities.contains(.orderedHeaders) {
                trial.expect(lines == ["X-B: 1", "X-A: 2", "X-B: 3", "X-C: 4"], "the fields were sent as \(lines)")
            } else {
                // A field with two values is equivalent to two fields with one value each (RFC 9110, 5.2).
                trial.expect(lines.sorted() == ["X-A: 2", "X-B: 1, 3", "X-C: 4"], "the fields were sent as \(lines)")
            }
        },
        Check("all repeated header fields of a response are reported", .exact, needs: .server) { trial in
            let log = try await trial.send("/fields")
            trial.expectResponse(log)
            trial.expect(log.head?.headers["x-a"] == "1, 2", "X-A arrived as \(log.head?.headers["x-a"] ?? "nothing")")
            trial.expect(log.head?["X-B"] == "3", "X-B arrived as \(log.head?["X-B"] ?? "nothing")")
        },
        Check("any status is reported as a response", .exact, needs: .server) { trial in
            for code in [200, 201, 226, 299, 300, 400, 404, 418, 429, 500, 503, 599] {
                let log = try await trial.send("/status/\(code)")
                trial.expectResponse(log, HTTPStatus(code), content: "why", "\(code)")
            }
        },
        Check("a custom method is sent", .exact) { trial in
            for method in [HTTPMethod.options, .delete, .patch, "REPORT"] {
                try await trial.expectArrival(of: .text("own"), method, content: "own", context: "\(method)")
            }
        },
        Check("the response to HEAD has no content", .exact, needs: .server) { trial in
            let log = try await trial.send("/text", .head)
            trial.expectResponse(log, content: "")
            trial.expect(
                log.head?[.contentLength] == "4",
                "the Content-Length is \(log.head?[.contentLength] ?? "missing")"
            )
            try await trial.expectStillWorking(after: "a HEAD")
        },
        Check("204 and 304 have no content", .exact, needs: .server) { trial in
            for status in [HTTPStatus.noContent, .notModified] {
                let log = try await trial.send("/status/\(status.code)", headers: [.ifNoneMatch: "\"a\""])
                trial.expectResponse(log, status, content: "", "\(status)")
                try await trial.expectStillWorking(after: "\(status)")
            }
        },
        arrivalCheck(
            "chunks are combined into the content",
            .chunked([Data("a".utf8), Data("bc".utf8), Data(repeating: 0x64, count: 70_000)]),
            "abc" + String(repeating: "d", count: 70_000)
        ),
        arrivalCheck(
            "trailers don't affect the content",
            .chunked([Data("chunk".utf8)], trailers: ["X-Sum": "1"]),
            "chunk"
        ),
        arrivalCheck(
            "content without a length ends with the connection",
            .raw("HTTP/1.1 200 OK\r\n\r\nhello"),
            "hello"
        ),
        Check("compressed content is decoded", .decoded, needs: .server) { trial in
            let response = StubResponse.data(.compressedPancakes, headers: [.contentEncoding: "gzip"])
            trial.server.route(.get, "/slow", response.dripping(by: 3, every: .microseconds(200)))
            for target in trial.usesExternalServer ? ["/gzip"] : ["/gzip", "/slow"] {
                trial.expectResponse(try await trial.send(target), content: #"{"name":"Pancakes"}"#, target)
            }
        },
        Check("content that doesn't match its Content-Encoding is an error", .complete) { trial in
            trial.server.route(.get, "/plain", .text("plain", headers: [.contentEncoding: "gzip"]))
            trial.expectError(try await trial.send("/plain"), .badResponse)
            try await trial.expectStillWorking(after: "the error")
        },
    ]
    /// Creates a check that the content of a response arrives, and that the transport still works.
    private static func arrivalCheck(_ name: String, _ response: StubResponse, _ content: String) -> Check {
        Check(name, .exact) { trial in
            try await trial.expectArrival(of: response, content: content)
            try await trial.expectStillWorking(after: "the response")
        }
    }
}
