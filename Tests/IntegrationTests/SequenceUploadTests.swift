// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// Bodies of asynchronous sequences over each transport: framing, failures, pressure, and the end.
    @Suite(.bounded) struct SequenceUploadTests {
        private struct Broken: Error, Equatable {}

        private final class Token: Sendable {
            private let gate: Gate

            init(_ gate: Gate) { self.gate = gate }

            deinit { gate.open() }
        }

        /// The same chunk a number of times, and then an error, if there is one.
        private struct Chunks: AsyncSequence, AsyncIteratorProtocol, Sendable {
            var chunk = Data.pattern(50_000)
            var left = Int.max
            var error: Broken?
            /// Opens its gate when the sequence is released.
            var token: Token?

            func makeAsyncIterator() -> Chunks { self }

            mutating func next() async throws -> Data? {
                if left == 0, let error { throw error }
                guard left > 0 else { return nil }
                left -= 1
                // A copy, so that each element takes memory.
                return Data([UInt8](chunk))
            }
        }

        /// A sequence of one chunk that never ends, and opens the gate when it is released.
        private static func endless(released: Gate) -> AsyncStream<Data> {
            AsyncStream { continuation in
                continuation.onTermination = { _ in released.open() }
                continuation.yield(Data.pattern(100))
            }
        }

        @Test(arguments: TransportUnderTest.all, [nil, 100_000])
        func sequenceIsSentWithOneFraming(_ transport: TransportUnderTest, length: Int64?) async throws {
            let server = try MockServer { .text("\($0.body.count)") }

            for body in [
                HTTPBody.stream(Chunks(left: 2), length: length), .stream(length: length) { Chunks(left: 2) },
            ] {
                let response = try await transport.send(Call(server.url, method: .post, body: body))
                #expect(response.text == "100000")
            }

            for request in server.requests {
                #expect(request.body == Data.pattern(50_000) + Data.pattern(50_000))
                let framings = request.headers[values: .contentLength] + request.headers[values: .transferEncoding]
                let isChunked = length == nil || transport.runsOverURLSessionOfLinux
                #expect(framings == [isChunked ? "chunked" : "100000"])
                #expect(!request.headers.contains(.expect))
            }
        }

        @Test(arguments: TransportUnderTest.all, [nil, 0])
        func emptySequenceSendsEmptyBody(_ transport: TransportUnderTest, length: Int64?) async throws {
            let server = try MockServer { .text("\($0.body.count)") }
            let body = HTTPBody.stream(Chunks(left: 0), length: length)

            #expect(try await transport.send(Call(server.url, method: .post, body: body)).text == "0")
        }

        @Test(arguments: TransportUnderTest.all)
        func formWithSequenceIsSent(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { .text("\($0.body.count)") }
            let body = HTTPBody.multipart(boundary: "b") { form in
                form.add("1", for: "a")
                form.add(.stream(Chunks(left: 2), length: 100_000), for: "b")
            }
            let length = try #require(try body.resolved().length)

            #expect(try await transport.send(Call(server.url, method: .post, body: body)).text == "\(length)")
        }

        // MARK: Failures

        /// The transports, and bodies that fail before or after the first of their bytes are sent.
        static let failures: [(name: String, code: RequestError.Code, body: @Sendable () -> HTTPBody)] = [
            ("too short", .invalidRequest, { .stream(Chunks(left: 2), length: 100_001) }),
            ("too long", .invalidRequest, { .stream(Chunks(left: 2), length: 99_999) }),
            ("not empty", .invalidRequest, { .stream(Chunks(left: 2), length: 0) }),
            ("an error", .encoding, { .stream(Chunks(left: 2, error: Broken())) }),
            ("an error at once", .encoding, { .stream(Chunks(left: 0, error: Broken())) }),
            ("an error after the length", .encoding, { .stream(Chunks(left: 2, error: Broken()), length: 100_000) }),
        ]

        @Test(arguments: TransportUnderTest.all, failures.map(\.name))
        func failedBodyNeverLooksComplete(_ transport: TransportUnderTest, name: String) async throws {
            let row = try #require(Self.failures.first { $0.name == name })
            let server = try MockServer { _ in .text("thanks") }
            let session = transport.makeSession()

            _ = await transport.run(Call(server.url("/before")), over: session)
            let run = await transport.run(Call(server.url("/body"), method: .put, body: row.body()), over: session)
            let next = await transport.run(Call(server.url("/after")), over: session)

            #expect(run.error?.code == row.code, "\(String(describing: run.error))")
            let isBroken = run.error?.underlying as? Broken == Broken()
            #expect(isBroken == (row.code == .encoding))
            #expect(next.value == Data("thanks".utf8))
            #expect(server.requests.map(\.path) == ["/before", "/after"])
        }

        @Test(arguments: TransportUnderTest.all)
        func sequenceWithoutElementsTimesOut(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .text("thanks") }
            let released = Gate()
            var call = Call(server.url, method: .put, body: .stream(Self.endless(released: released)))
            call.http.timeout = .milliseconds(200)

            let run = await transport.run(call)

            #expect(run.error?.code == .timedOut, "\(String(describing: run.error))")
            #expect(run.error?.reason == "the request body provided no data")
            try await released.wait()
        }

        @Test(arguments: TransportUnderTest.all)
        func cancelledRequestReleasesItsSequence(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .text("thanks") }
            let (begun, released) = (Gate(), Gate())
            let body = HTTPBody.stream(
                Self.endless(released: released).map { chunk in
                    begun.open()
                    return chunk
                }
            )

            let task = Task { try await transport.send(Call(server.url, method: .put, body: body)) }
            try await begun.wait()
            task.cancel()

            let error = await #expect(throws: RequestError.self) { try await task.value }
            #expect(error?.code == .cancelled)
            try await released.wait()
            #expect(server.requests.isEmpty)
        }

        /// A sequence that ignores the cancellation of its task doesn't keep its request from its end.
        @Test(arguments: TransportUnderTest.all)
        func stuckSequenceDoesNotDelayCancellation(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .text("thanks") }
            let (begun, gate) = (Gate(), Gate())
            let body = HTTPBody.stream { () async throws -> AsyncStream<Data> in
                begun.open()
                await withUnsafeContinuation { waiter in DispatchQueue.global().async { waiter.resume() } }
                try await Task { try await gate.wait() }.value
                return AsyncStream { $0.finish() }
            }

            let task = Task { try await transport.send(Call(server.url, method: .put, body: body)) }
            try await begun.wait()
            task.cancel()

            let error = await #expect(throws: RequestError.self) { try await task.value }
            #expect(error?.code == .cancelled)
            gate.open()
        }

        /// The response decides, before the body has ended: it never does.
        @Test func earlyResponseStopsReadingSequence() async throws {
            let server = try RawListener { connection in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                _ = connection.skip(1 << 20)
            }
            let released = Gate()
            let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))

            let body = HTTPBody.stream(Chunks(token: Token(released)))
            let run = await TransportUnderTest.standard.run(Call(url, method: .post, body: body))

            #expect(run.error?.response?.status.code == 413, "\(String(describing: run.error))")
            try await released.wait()
        }

        // MARK: Pressure

        /// The size of the content: more than the buffers of a connection.
        private static let size = Scale.pick(48 << 20, whole: 1 << 30)

        @Test(.tags(.alone), arguments: TransportUnderTest.all, [16 * 1024, 1 << 20])
        func slowServerLimitsSequenceBuffering(_ transport: TransportUnderTest, chunk: Int) async throws {
            let server = try RawListener { connection in
                while let head = connection.readHead() {
                    let isSized = head.contains("Content-Length")
                    guard isSized ? connection.skipSlowly(Self.size) : connection.skipChunks() else { return }
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                }
            }
            let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))

            let isFlat = try await Usage.isBelow(32 << 20) {
                let chunks = Chunks(chunk: Data(repeating: 1, count: chunk), left: Self.size / chunk)
                let body = HTTPBody.stream(chunks, length: Int64(Self.size))
                _ = try await transport.send(Call(url, method: .post, body: body))
            }

            #expect(isFlat)
        }

        /// The sequence of each upload needs a transfer that the same thread of libcurl, or the same queue of sessions,
        /// runs.
        @Test(arguments: TransportUnderTest.all, TransportUnderTest.all)
        func proxiesManyResponses(_ source: TransportUnderTest, _ target: TransportUnderTest) async throws {
            let content = Data.pattern(200_000)
            let origin = try MockServer { _ in .data(content) }
            let server = try MockServer { .text("\($0.body == content)") }
            let reader = HTTPClient(transport: source.makeSession())
            let writer = HTTPClient(transport: target.makeSession())
            let count = Scale.pick(24, whole: 200)

            let replies = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        let stream = try await reader.stream(Call(origin.url))
                        let body = HTTPBody.stream(stream, length: stream.headers[.contentLength].flatMap { Int64($0) })
                        return try await writer.send(Call(server.url, method: .post, body: body)).text
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }

            #expect(replies == Array(repeating: "true", count: count))
        }
    }
}

extension RawConnection {
    /// Reads chunked content to its end; `false` if the client disconnects before.
    fileprivate func skipChunks() -> Bool {
        while let line = readLine(), let size = Int(line, radix: 16) {
            guard skipSlowly(size + 2) else { return false }
            if size == 0 { return true }
        }
        return false
    }

    /// Reads a number of bytes in small parts, which takes longer than to make them.
    fileprivate func skipSlowly(_ count: Int) -> Bool {
        stride(from: 0, to: count, by: 4096).allSatisfy { skip(min(4096, count - $0)) }
    }

    private func readLine() -> String? {
        var line: [UInt8] = []
        while let byte = read(1) {
            if byte == [10] { return String(decoding: line.dropLast(), as: UTF8.self) }
            line += byte
        }
        return nil
    }
}
#endif
