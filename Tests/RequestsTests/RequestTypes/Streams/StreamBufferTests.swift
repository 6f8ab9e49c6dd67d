// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct StreamBufferTests {
    private var buffer = StreamBuffer<Int>(limit: 4)

    private func text(_ due: StreamBuffer<Int>.Delivery?) -> String {
        guard let (waiter, reply) = due else { return "" }
        return switch reply {
        case .success(let data?): "\(waiter): \(String(decoding: data, as: UTF8.self))"
        case .success(nil): "\(waiter): end"
        case .failure(let error): "\(waiter): \(error.code)"
        }
    }

    private func data(_ text: String) -> Data { Data(text.utf8) }

    @Test mutating func contentIsDeliveredInOrder() throws {
        #expect(text(try buffer.put(data("a"))) == "")
        #expect(text(try buffer.put(data("b"))) == "")
        #expect(text(buffer.take(for: 1)) == "1: a")
        #expect(text(buffer.take(for: 2)) == "2: b")
        #expect(text(buffer.take(for: 3)) == "")
        #expect(text(try buffer.put(data("c"))) == "3: c")
        #expect(text(buffer.take(for: 4)) == "")
        #expect(text(buffer.end(nil)) == "4: end")
        #expect(text(buffer.take(for: 5)) == "5: end")
    }

    @Test mutating func pausesAboveLimitAndResumesAtHalf() throws {
        _ = try buffer.put(data("abc"))
        #expect(!buffer.isFull)
        _ = try buffer.put(data("de"))
        #expect(buffer.isFull)
        _ = try buffer.put(data("f"))
        #expect(text(buffer.take(for: 1)) == "1: abc" && buffer.isFull)
        #expect(text(buffer.take(for: 2)) == "2: de" && !buffer.isFull)
        #expect(text(buffer.take(for: 3)) == "3: f")
    }

    @Test mutating func completionFollowsContent() throws {
        _ = try buffer.put(data("a"))
        #expect(text(buffer.end(RequestError(.connectionLost, phase: .receiving))) == "")
        #expect(text(buffer.end(nil)) == "")
        #expect(text(try buffer.put(data("late"))) == "")
        #expect(text(buffer.take(for: 1)) == "1: a")
        #expect(text(buffer.take(for: 2)) == "2: connectionLost")
    }

    @Test mutating func abandonedContentIsReleased() throws {
        _ = try buffer.put(data("a"))
        #expect(text(buffer.abandon()) == "")
        #expect(text(buffer.take(for: 1)) == "1: cancelled")
        #expect(text(try buffer.put(data("b"))) == "")
    }

    @Test mutating func concurrentConsumerIsRejected() {
        #expect(text(buffer.take(for: 1)) == "")
        #expect(text(buffer.take(for: 2)) == "2: alreadyConsumed")
        #expect(text(buffer.abandon()) == "1: cancelled")
    }

    @Test mutating func consumerStartedAfterEndReceivesEnd() throws {
        _ = try buffer.put(data("a"))
        #expect(text(buffer.end(nil)) == "")
        #expect(text(buffer.take(isFirstCall: true, for: 1)) == "1: a")
        #expect(text(buffer.take(isFirstCall: true, for: 2)) == "2: end")
        #expect(text(buffer.take(for: 2)) == "2: end")
        #expect(text(buffer.take(isFirstCall: true, for: 3)) == "3: alreadyConsumed")
    }

    @Test mutating func endIsConsumedByFirstConsumer() {
        #expect(text(buffer.take(isFirstCall: true, for: 1)) == "")
        #expect(text(buffer.end(nil)) == "1: end")
        #expect(text(buffer.take(isFirstCall: true, for: 2)) == "2: alreadyConsumed")
    }

    @Test mutating func takingLineLeavesRestOfChunk() throws {
        _ = try buffer.put(data("a\r\nb\r"))
        _ = try buffer.put(data("\nc"))
        #expect(text(buffer.take(.line, for: 1)) == "1: a\r\n")
        #expect(text(buffer.take(.line, for: 2)) == "2: b\r")
        // The LF belongs to the line before.
        #expect(text(buffer.take(for: 3)) == "3: c" && !buffer.isFull)
    }

    @Test mutating func waitingLineReaderGetsFirstLineOnly() throws {
        #expect(text(buffer.take(.line, for: 1)) == "")
        #expect(text(try buffer.put(data("a\nbcdefg"))) == "1: a\n")
        #expect(buffer.isFull)
        #expect(text(buffer.take(for: 2)) == "2: bcdefg" && !buffer.isFull)
    }

    @Test mutating func bufferSizeIsBounded() throws {
        #expect(throws: RequestError.self) {
            for _ in 0..<5 { _ = try buffer.put(Data(count: 1 << 20)) }
        }
    }
}
