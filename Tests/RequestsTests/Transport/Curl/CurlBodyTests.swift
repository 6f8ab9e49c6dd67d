// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct CurlBodyTests {
    @Test func streamThatCannotReopenFails() async throws {
        let (readable, made) = (Signal(), Locked(0))
        let stream = HTTPBody.Stream {
            guard
                made.withLock({
                    $0 += 1
                    return $0
                }) == 1
            else { throw CocoaError(.fileNoSuchFile) }
            return InputStream(data: Data("hello".utf8))
        }
        let body = Reader(try #require(try CurlBody(.stream(stream)) { readable.signal() }))

        _ = await body.readAll(2, waitingFor: readable)
        #expect(body.rewind())
        #expect(await body.readAll(2, waitingFor: readable) == " failed")
    }
}

/// Signals that are awaited one by one.
private final class Signal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func signal() { continuation.yield() }

    func wait() async {
        for await _ in stream { return }
    }
}

/// A body whose reads can be used in an expectation; it is closed with its test.
private final class Reader {
    private var body: CurlBody

    init(_ body: CurlBody) {
        self.body = body
        _ = body.open()
    }

    deinit { body.close() }

    func rewind() -> Bool { body.rewind() }

    /// Returns the text that one read gives, or the name of another outcome.
    func read(upTo count: Int) -> String {
        var buffer = [UInt8](repeating: 0, count: count)
        switch buffer.withUnsafeMutableBytes({ body.read(into: $0) }) {
        case .bytes(let count): return String(decoding: buffer[..<count], as: UTF8.self)
        case .later: return "later"
        case .failed: return "failed"
        }
    }

    func readAll(_ size: Int, waitingFor readable: Signal) async -> String {
        var text = ""
        while true {
            switch read(upTo: size) {
            case "": return text
            case "failed": return text + " failed"
            case "later": await readable.wait()
            case let piece: text += piece
            }
        }
    }
}
#endif
