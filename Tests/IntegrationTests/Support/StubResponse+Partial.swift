// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTesting

extension StubResponse {
    /// The head of a response of 100 bytes and the first 10 of them, sent at once, then these steps.
    static func partial(then steps: Step...) -> StubResponse {
        .script([.send(Data("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789".utf8))] + steps)
    }

    /// The beginning of a chunked response, then these steps.
    static func partialChunks(then steps: Step...) -> StubResponse {
        .script([.send(Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n".utf8))] + steps)
    }

    /// A response in pieces of 1 KiB that lasts longer than any test, until the client disconnects.
    static func endless(pausing pause: Duration?, pieces: Int) -> StubResponse {
        let piece = Data(repeating: 0x78, count: 1024)
        let steps: [Step] = pause.map { [.send(piece), .pause($0)] } ?? [.send(piece)]
        let head = Data("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n".utf8)
        return .script([.send(head)] + (0..<pieces).flatMap { _ in steps }, keepsAlive: false)
    }
}
