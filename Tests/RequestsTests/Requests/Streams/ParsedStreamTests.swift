// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

@testable import Requests

@Suite(.bounded, .tags(.behaviour)) struct ParsedStreamTests {
    /// What comes of a sequence: its elements, and what ended it.
    private func collect<Element>(_ stream: ParsedStream<Element>) async -> (elements: [Element], error: (any Error)?) {
        var elements: [Element] = []
        do {
            for try await element in stream { elements.append(element) }
            return (elements, nil)
        } catch {
            return (elements, error)
        }
    }

    @Test func linesComeAsTheyAreComplete() async {
        let stream = ResponseStream([Data("a\r".utf8), Data("\nb\nc".utf8)])

        #expect(await collect(stream.lines).elements == ["a", "b", "c"])
    }

    /// However they were cut on their way.
    @Test(arguments: [["1\n2\nx\n4\n"], ["1\n", "2\nx\n4\n"], ["1\n2\nx", "\n4\n"], ["1\n2\nx"]])
    func valuesBeforeABrokenOneAreGivenAndThoseBehindItAreNot(_ chunks: [String]) async {
        let stream = ResponseStream(chunks.map { Data($0.utf8) })

        let (values, error) = await collect(stream.jsonLines(Int.self))

        #expect(values == [1, 2] && error is DecodingError)
    }

    @Test func linesBeforeOneThatIsTooLongAreGiven() async {
        let stream = ResponseStream([Data("a\nb\n".utf8) + Data(repeating: 0x78, count: 1 << 21)])

        let (lines, error) = await collect(stream.lines)

        #expect(lines == ["a", "b"] && error is OversizedElement)
    }

    @Test func secondLoopOverAStreamThatWasConsumedIsAnError() async throws {
        let stream = ResponseStream([Data("a\nb\n".utf8)])
        #expect(await collect(stream.lines).elements == ["a", "b"])

        let again = await collect(stream.lines)
        #expect(again.elements == [] && again.error is ResponseStream.AlreadyConsumed)
        await #expect(throws: ResponseStream.AlreadyConsumed.self) { for try await _ in stream {} }
    }

    @Test func secondLoopOverAStreamContinuesWhereTheFirstStopped() async throws {
        let stream = ResponseStream(["a", "b", "c"].map { Data($0.utf8) })
        for try await _ in stream { break }
        var rest = ""
        for try await chunk in stream { rest += String(decoding: chunk, as: UTF8.self) }

        #expect(rest == "bc")
    }

    @Test func aSequenceThatFailedIsOver() async throws {
        var values = ResponseStream([Data("x\n1\n".utf8)]).jsonLines(Int.self).makeAsyncIterator()

        await #expect(throws: DecodingError.self) { try await values.next() }
        #expect(try await values.next() == nil)
    }
}
