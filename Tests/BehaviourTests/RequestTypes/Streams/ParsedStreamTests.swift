// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ParsedStreamTests {
    /// Collects the elements of a sequence, and the error that ended it.
    private func collect<Element>(
        _ stream: ResponseStream.Parsed<Element>
    ) async -> (elements: [Element], error: RequestError?) {
        var elements: [Element] = []
        do {
            for try await element in stream { elements.append(element) }
            return (elements, nil)
        } catch {
            return (elements, error as? RequestError)
        }
    }

    @Test func linesSpanChunkBoundaries() async {
        let stream = ResponseStream([Data("a\r".utf8), Data("\nb\nc".utf8)])

        #expect(await collect(stream.lines).elements == ["a", "b", "c"])
    }

    /// For any split of the content into chunks.
    @Test(arguments: [["1\n2\nx\n4\n"], ["1\n", "2\nx\n4\n"], ["1\n2\nx", "\n4\n"], ["1\n2\nx"]])
    func valuesBeforeInvalidLineAreDelivered(_ chunks: [String]) async {
        let stream = ResponseStream(chunks.map { Data($0.utf8) })

        let (values, error) = await collect(stream.jsonLines(Int.self))

        #expect(values == [1, 2] && error?.code == .decoding && error?.underlying is DecodingError)
    }

    @Test func linesBeforeOversizedLineAreDelivered() async {
        let stream = ResponseStream([Data("a\nb\n".utf8) + Data(repeating: 0x78, count: 1 << 21)])

        let (lines, error) = await collect(stream.lines)

        #expect(lines == ["a", "b"] && error?.code == .bodyTooLarge && error?.phase == .receiving)
        #expect(error?.reason == "a single line of the stream exceeds 1048576 bytes")
    }

    @Test func iteratingConsumedStreamFails() async throws {
        let stream = ResponseStream([Data("a\nb\n".utf8)])
        #expect(await collect(stream.lines).elements == ["a", "b"])

        let again = await collect(stream.lines)
        #expect(again.elements == [] && again.error?.code == .alreadyConsumed)
        let error = await #expect(throws: RequestError.self) { for try await _ in stream {} }
        #expect(error?.code == .alreadyConsumed)
    }

    @Test func secondLoopContinuesAfterBreak() async throws {
        let stream = ResponseStream(["a", "b", "c"].map { Data($0.utf8) })
        for try await _ in stream { break }
        var rest = ""
        for try await chunk in stream { rest += String(decoding: chunk, as: UTF8.self) }

        #expect(rest == "bc")
    }

    /// A first line and three values, in one chunk and in several.
    static let cuts = [
        ["head\n1\n2\n3"], ["he", "ad\n1", "\n2\n3"], ["head\n", "1\n2\n", "3\n"], ["head\r\n1\r\n2\r\n3\r\n"],
        ["head\r", "\n1\r\n2\r", "\n3"],
    ]

    /// Reads the first line in a separate loop.
    private func readHead(of chunks: [String]) async throws -> ResponseStream {
        let stream = ResponseStream(chunks.map { Data($0.utf8) })
        for try await line in stream.lines {
            #expect(line == "head")
            break
        }
        return stream
    }

    @Test(arguments: cuts) func secondLineLoopContinuesAfterBreak(_ chunks: [String]) async throws {
        let (lines, error) = await collect(try await readHead(of: chunks).lines)

        #expect(lines == ["1", "2", "3"] && error == nil)
    }

    @Test(arguments: cuts) func decodesJSONLinesAfterFirstLine(_ chunks: [String]) async throws {
        let (values, error) = await collect(try await readHead(of: chunks).jsonLines(Int.self))

        #expect(values == [1, 2, 3] && error == nil)
    }

    @Test(arguments: cuts) func readsChunksAfterFirstLine(_ chunks: [String]) async throws {
        var rest = Data()
        for try await piece in try await readHead(of: chunks) {
            #expect(piece.startIndex == 0)
            rest += piece
        }

        let all = Data(chunks.joined().utf8)
        let head = all.prefix { $0 != UInt8(ascii: "\n") }.count + 1
        #expect(rest == all.dropFirst(head))
    }

    @Test func lastEventIDPersistsAcrossLoops() async throws {
        let stream = ResponseStream([Data("id: 7\ndata: a\n\ndata: b\n\n".utf8)])
        for try await _ in stream.serverSentEvents { break }

        let (events, error) = await collect(stream.serverSentEvents)

        #expect(events.map(\.data) == ["b"] && events.first?.id == "7" && error == nil)
    }

    @Test func loopAfterLastLineIsEmptyThenFails() async throws {
        let stream = ResponseStream([Data("a\nb".utf8)])
        for try await line in stream.lines where line == "b" { break }

        let (lines, error) = await collect(stream.lines)
        #expect(lines.isEmpty && error == nil)
        #expect(await collect(stream.lines).error?.code == .alreadyConsumed)
    }

    @Test func newLoopContinuesAfterInvalidValue() async {
        let stream = ResponseStream([Data("1\nx\n3\n".utf8)])
        #expect(await collect(stream.jsonLines(Int.self)).error?.code == .decoding)

        #expect(await collect(stream.jsonLines(Int.self)).elements == [3])
    }

    @Test func iteratorEndsAfterDecodingError() async throws {
        var values = ResponseStream([Data("x\n1\n".utf8)]).jsonLines(Int.self).makeAsyncIterator()

        let error = await #expect(throws: RequestError.self) { try await values.next() }
        #expect(error?.code == .decoding)
        #expect(try await values.next() == nil)
    }

    @Test func iteratorEndsAfterTransferError() async throws {
        let gate = Gate()
        let response = StubResponse.chunked([Data("a\nbc".utf8)]).held(by: gate, after: 3).reset(after: 3)
        let client = HTTPClient(transport: InMemoryTransport { _ in response })
        var lines = try await client.stream(HTTPRequest(url: home)).lines.makeAsyncIterator()

        #expect(try await lines.next() == "a")
        gate.open()
        await #expect(throws: RequestError.self) { try await lines.next() }
        #expect(try await lines.next() == nil)
    }

    @Test(arguments: [["1\nx\n3\n"], ["1\nx", "\n3"], ["1\n", "x\n3\n"]])
    func invalidLineDoesNotEndResults(_ chunks: [String]) async {
        let stream = ResponseStream(chunks.map { Data($0.utf8) })

        let (results, error) = await collect(stream.jsonLines(Int.self).results)

        #expect(results.map(\.value) == [1, nil, 3] && error == nil)
        #expect(results.map(\.error?.code) == [nil, .decoding, nil])
    }

    @Test func oversizedLineEndsResults() async {
        let stream = ResponseStream([Data("1\nx\n".utf8) + Data(repeating: 0x78, count: 1 << 21)])

        let (results, error) = await collect(stream.jsonLines(Int.self).results)

        #expect(results.map(\.value) == [1, nil] && error?.code == .bodyTooLarge)
    }

    /// Checked at compile time.
    @Test func iteratorsThrowTypedErrors() async throws(RequestError) {
        var chunks = ResponseStream([]).makeAsyncIterator()
        _ = try await chunks.next()
        var lines = ResponseStream([]).lines.makeAsyncIterator()
        _ = try await lines.next()
        let client = HTTPClient(transport: InMemoryTransport { _ in .status(.noContent) })
        var events = client.serverSentEvents(HTTPRequest(url: home)).makeAsyncIterator()
        _ = try await events.next()
        let pages = client.pages(HTTPRequest(url: home))
        var page = pages.makeAsyncIterator()
        _ = try await page.next()
    }
}
