// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

extension MockServer {
    /// Adds the routes that ``TransportConformance`` documents.
    func addConformanceRoutes() {
        route(.get, "/text", .text("text"))
        route(.get, "/stalled", .never)
        route(.get, "/begun", .partial(then: .stall))
        route(.get, "/drip", .drip)
        route(.get, "/flood/{count}") { .flood(count: Int($0["count"] ?? "") ?? 0) }
        for method in [HTTPMethod.get, .post, .put, .patch, .delete] {
            route(method, "/echo") { .data($0.body) }
        }
        route(.post, "/upload", .never.early)
        route(.get, "/seen") { request in
            .text(request.headers.map { "\($0.name): \($0.value)\n" }.joined())
        }
        route(.get, "/status/{code}") { request in
            let status = HTTPStatus(Int(request["code"] ?? "") ?? 500)
            return status.mayHaveContent ? .text("why", status: status) : .status(status)
        }
        route(.get, "/redirect/{code}") { request in
            .redirect(to: "/text", status: HTTPStatus(Int(request["code"] ?? "") ?? 302))
        }
        route(.get, "/fields", .status(.ok, headers: ["X-A": "1", "X-B": "3", "X-A": "2"]))
        route(.get, "/login", .status(.ok, headers: [.setCookie: "conformance=1; Path=/"]))
        route(.get, "/gzip", .data(.compressedPancakes, headers: [.contentEncoding: "gzip"]))
    }
}

extension StubResponse {
    /// Creates a response that starts with a head and the first 10 of 100 content bytes, and continues with these
    /// steps.
    static func partial(then steps: Step...) -> StubResponse {
        .script([.send(Data("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789".utf8))] + steps)
    }

    /// Creates a response with a body of `count` blocks of 64 KiB, which are sent as fast as possible.
    static func flood(count: Int) -> StubResponse {
        let piece = Data(repeating: 0x78, count: 1 << 16)
        let head = Data("HTTP/1.1 200 OK\r\nContent-Length: \(count << 16)\r\n\r\n".utf8)
        return .script([.send(head)] + [Step](repeating: .send(piece), count: count))
    }

    /// A response with a body of eight bytes, which are sent one every tenth of a second.
    fileprivate static var drip: StubResponse {
        let head = Data("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n".utf8)
        let drops = (0..<8).flatMap { [Step.pause(.milliseconds(100)), .send(Data("\($0)".utf8))] }
        return .script([.send(head)] + drops)
    }
}

extension Data {
    /// `{"name":"Pancakes"}`, compressed with gzip.
    static let compressedPancakes = Data([
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xAB, 0x56, 0xCA, 0x4B, 0xCC, 0x4D, 0x55, 0xB2,
        0x52, 0x0A, 0x48, 0xCC, 0x4B, 0x4E, 0xCC, 0x4E, 0x2D, 0x56, 0xAA, 0x05, 0x00, 0x4A, 0xA4, 0xF9, 0xC3, 0x13,
        0x00, 0x00, 0x00,
    ])
}
