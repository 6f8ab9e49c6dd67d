// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import RequestsTesting
import TestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct CurlBodyTests {
    private static func body(_ body: HTTPBody) throws -> Reader {
        Reader(try #require(try CurlBody(body) {}))
    }

    @Test func noContentIsNoBody() throws {
        #expect(try CurlBody(.none) {} == nil)
    }

    @Test(arguments: [1, 2, 3, 100])
    func dataAndFilesAreReadInPiecesOfTheBuffer(_ size: Int) throws {
        let file = try TemporaryFile(Data("hello".utf8))
        // A slice: its indices don't begin at 0.
        for content in [HTTPBody.data(Data("__hello".utf8).dropFirst(2)), .file(file.url)] {
            let body = try Self.body(content)

            #expect(body.length == 5)
            #expect(body.readAll(size) == "hello")
            #expect(body.sent == 5)
        }
    }

    @Test func emptyContentHasALengthAndAnEnd() throws {
        let file = try TemporaryFile(Data())
        for content in [HTTPBody.data(Data()), .file(file.url)] {
            let body = try Self.body(content)
            #expect(body.length == 0)
            #expect(body.readAll(10) == "")
        }
    }

    @Test func fileThatHasGrownIsSentAsItWasAnnounced() throws {
        let file = try TemporaryFile(Data("hello".utf8))
        let body = try Self.body(.file(file.url))

        let handle = try FileHandle(forWritingTo: file.url)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(" world".utf8))
        try handle.close()

        #expect(body.length == 5)
        #expect(body.readAll(3) == "hello")
    }

    @Test func fileThatHasShrunkFails() throws {
        let file = try TemporaryFile(Data("hello".utf8))
        let body = try Self.body(.file(file.url))

        #expect(body.read(upTo: 2) == "he")
        let handle = try FileHandle(forWritingTo: file.url)
        try handle.truncate(atOffset: 3)
        try handle.close()

        #expect(body.read(upTo: 2) == "l")
        #expect(body.read(upTo: 2) == "failed")
    }

    @Test(arguments: ["/nowhere/at/all", "/tmp", "/dev/null"])
    func unreadableFileIsAnInvalidRequest(_ path: String) {
        #expect(throws: InvalidRequest.self) { _ = try CurlBody(.file(URL(fileURLWithPath: path))) {} }
    }

    @Test func dataAndFilesCanBeRewound() throws {
        let file = try TemporaryFile(Data("hello".utf8))
        for content in [HTTPBody.data(Data("hello".utf8)), .file(file.url)] {
            let body = try Self.body(content)
            _ = body.readAll(2)
            #expect(body.seek(to: 0))
            #expect(body.readAll(2) == "hello")
            #expect(body.seek(to: 3))
            #expect(body.readAll(2) == "lo")
            #expect(!body.seek(to: 6))
            #expect(!body.seek(to: -1))
        }
    }

    @Test func streamThatCannotBeOpenedSaysWhy() {
        let stream = BodyStream { throw CocoaError(.fileNoSuchFile) }
        #expect(throws: CocoaError.self) { _ = try CurlBody(.stream(stream)) {} }
    }

    struct Stream: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let length: Int64?
        let read: String
    }

    @Test(arguments: [
        Stream(testDescription: "of unknown length", length: nil, read: "hello"),
        Stream(testDescription: "of its length", length: 5, read: "hello"),
        Stream(testDescription: "longer than announced", length: 3, read: " failed"),
        Stream(testDescription: "shorter than announced", length: 9, read: "hello failed"),
    ])
    func streamIsReadToItsEnd(_ row: Stream) async throws {
        let readable = Signal()
        let stream = BodyStream(length: row.length) { InputStream(data: Data("hello".utf8)) }
        let body = Reader(try #require(try CurlBody(.stream(stream)) { readable.signal() }))

        #expect(body.length == row.length)
        #expect(await body.readAll(2, waitingFor: readable) == row.read)
    }

    @Test func oneStreamThatHasBegunCannotBeRewound() async throws {
        let readable = Signal()
        let stream = BodyStream(InputStream(data: Data("hello".utf8)))
        let body = Reader(try #require(try CurlBody(.stream(stream)) { readable.signal() }))

        #expect(body.seek(to: 0))
        _ = await body.readAll(2, waitingFor: readable)
        #expect(!body.seek(to: 0))
        #expect(body.seek(to: 5))
    }

    @Test func streamThatCanBeMadeAgainIsReadFromItsBeginning() async throws {
        let (readable, made) = (Signal(), Locked(0))
        let stream = BodyStream(length: 5) {
            made.withLock { $0 += 1 }
            return InputStream(data: Data("hello".utf8))
        }
        let body = Reader(try #require(try CurlBody(.stream(stream)) { readable.signal() }))

        _ = await body.readAll(2, waitingFor: readable)
        #expect(!body.seek(to: 3))
        #expect(body.seek(to: 0))
        #expect(await body.readAll(2, waitingFor: readable) == "hello")
        #expect(body.sent == 5 && made.withLock { $0 } == 2)
    }

    @Test func streamThatCannotBeMadeAgainAfterAllFails() async throws {
        let (readable, made) = (Signal(), Locked(0))
        let stream = BodyStream {
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
        #expect(body.seek(to: 0))
        #expect(await body.readAll(2, waitingFor: readable) == " failed")
    }

    @Test func streamThatFailsFails() async throws {
        let readable = Signal()
        let stream = BodyStream { InputStream(fileAtPath: "/nowhere/at/all") ?? InputStream(data: Data()) }
        let body = Reader(try #require(try CurlBody(.stream(stream)) { readable.signal() }))

        #expect(await body.readAll(2, waitingFor: readable) == " failed")
    }

    /// A pipe without any data yet: the read blocks, but only the pump's own thread.
    @Test(arguments: [false, true])
    func streamThatBlocksIsReadLater(goesOn: Bool) async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try #require(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        // Opens both ends, so that opening doesn't block.
        let writer = open(path, O_RDWR)
        try #require(writer >= 0)
        var isOpen = true
        defer { if isOpen { close(writer) } }
        let readable = Signal()
        let stream = BodyStream(length: 5) {
            guard let input = InputStream(fileAtPath: path) else { throw CocoaError(.fileNoSuchFile) }
            return input
        }
        let body = Reader(try #require(try CurlBody(.stream(stream)) { readable.signal() }))

        #expect(body.read(upTo: 10) == "later")
        #expect(body.read(upTo: 10) == "later")
        _ = Array("hello".utf8).withUnsafeBytes { write(writer, $0.baseAddress, $0.count) }
        await readable.wait()
        // The last byte is held back until it is known to be the last.
        #expect(body.read(upTo: 10) == "hell")
        #expect(body.read(upTo: 10) == "later")
        if goesOn { _ = Array("!".utf8).withUnsafeBytes { write(writer, $0.baseAddress, $0.count) } }
        close(writer)
        isOpen = false
        await readable.wait()
        #expect(body.read(upTo: 10) == (goesOn ? "failed" : "o"))
        #expect(body.read(upTo: 10) == (goesOn ? "failed" : ""))
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

    init(_ body: CurlBody) { self.body = body }

    deinit { body.close() }

    var length: Int64? { body.length }
    var sent: Int64 { body.sent }

    func seek(to offset: Int64) -> Bool { body.seek(to: offset) }

    /// Returns the text that one read gives, or the name of another outcome.
    func read(upTo count: Int) -> String {
        var buffer = [UInt8](repeating: 0, count: count)
        switch buffer.withUnsafeMutableBytes({ body.read(into: $0) }) {
        case .bytes(let count): return String(decoding: buffer[..<count], as: UTF8.self)
        case .later: return "later"
        case .failed: return "failed"
        }
    }

    func readAll(_ size: Int) -> String {
        var text = ""
        while case let piece = read(upTo: size), !piece.isEmpty { text += piece }
        return text
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
