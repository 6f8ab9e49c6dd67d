// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct StreamBufferTests {
    private var buffer = StreamBuffer<Int>(limit: 4)

    private func text(_ action: StreamBuffer<Int>.Action) -> String {
        var words: [String] = []
        if let (waiter, reply) = action.reply {
            switch reply {
            case .chunk(let data): words.append("\(waiter): \(String(decoding: data, as: UTF8.self))")
            case .end: words.append("\(waiter): end")
            case .failure(let error): words.append("\(waiter): \(error.code)")
            }
        }
        return words.joined(separator: ", ")
    }

    private func data(_ text: String) -> Data { Data(text.utf8) }

    @Test mutating func contentIsDeliveredInOrder() throws {
        #expect(text(try buffer.put(data("a"))) == "")
        #expect(text(try buffer.put(data("b"))) == "")
        #expect(text(buffer.take(1)) == "1: a")
        #expect(text(buffer.take(2)) == "2: b")
        #expect(text(buffer.take(3)) == "")
        #expect(text(try buffer.put(data("c"))) == "3: c")
        #expect(text(buffer.take(4)) == "")
        #expect(text(buffer.end(nil)) == "4: end")
        #expect(text(buffer.take(5)) == "5: end")
    }

    @Test mutating func transferPausesAboveTheLimitAndResumesAtHalf() throws {
        _ = try buffer.put(data("abc"))
        #expect(!buffer.isFull)
        _ = try buffer.put(data("de"))
        #expect(buffer.isFull)
        _ = try buffer.put(data("f"))
        #expect(text(buffer.take(1)) == "1: abc" && buffer.isFull)
        #expect(text(buffer.take(2)) == "2: de" && !buffer.isFull)
        #expect(text(buffer.take(3)) == "3: f")
    }

    @Test mutating func endComesAfterTheContent() throws {
        _ = try buffer.put(data("a"))
        #expect(text(buffer.end(RequestError(.connectionLost, phase: .receiving))) == "")
        #expect(text(buffer.end(nil)) == "")
        #expect(text(try buffer.put(data("late"))) == "")
        #expect(text(buffer.take(1)) == "1: a")
        #expect(text(buffer.take(2)) == "2: connectionLost")
    }

    @Test mutating func abandonedContentIsReleased() throws {
        _ = try buffer.put(data("a"))
        #expect(text(buffer.abandon()) == "")
        #expect(text(buffer.take(1)) == "1: cancelled")
        #expect(text(try buffer.put(data("b"))) == "")
    }

    @Test mutating func oneWaitsAtATime() {
        #expect(text(buffer.take(1)) == "")
        #expect(text(buffer.take(2)) == "2: alreadyConsumed")
        #expect(text(buffer.abandon()) == "1: cancelled")
    }

    @Test mutating func consumerThatBeginsAfterTheEndGetsIt() throws {
        _ = try buffer.put(data("a"))
        #expect(text(buffer.end(nil)) == "")
        #expect(text(buffer.take(1, isFirst: true)) == "1: a")
        #expect(text(buffer.take(2, isFirst: true)) == "2: end")
        #expect(text(buffer.take(2)) == "2: end")
        #expect(text(buffer.take(3, isFirst: true)) == "3: alreadyConsumed")
    }

    @Test mutating func consumerThatBeginsAfterAnAwaitedEndGetsIt() {
        #expect(text(buffer.take(1, isFirst: true)) == "")
        #expect(text(buffer.end(nil)) == "1: end")
        #expect(text(buffer.take(2, isFirst: true)) == "2: alreadyConsumed")
    }

    @Test mutating func nothingGrowsWithoutBound() throws {
        #expect(throws: RequestError.self) {
            for _ in 0..<5 { _ = try buffer.put(Data(count: 1 << 20)) }
        }
    }
}
