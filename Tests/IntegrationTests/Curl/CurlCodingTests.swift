// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// Compressed content is decoded in constant memory, whatever its size, and delivered unchanged on request.
    @Suite(.bounded) struct CurlCodingTests {
        /// Content of about a hundred megabytes or more, in a few hundred kilobytes.
        struct Bomb: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let coding: String
            let content: (data: Data, count: Int)

            init(_ coding: String, _ content: (data: Data, count: Int)) {
                (testDescription, self.coding, self.content) = (coding, coding, content)
            }

            var response: StubResponse { .data(content.data, headers: [.contentEncoding: coding]) }
        }

        static let bombs: [Bomb] = {
            let size = Scale.pick(100 << 20, whole: 1 << 30)
            let inner = Deflate.gzipOfZeros(about: size)
            return [
                Bomb("gzip", Deflate.gzipOfZeros(about: Scale.pick(100 << 20, whole: 10_000_000_000))),
                Bomb("gzip, gzip", (Deflate.gzip(members: inner.data), inner.count)),
                Bomb("zstd", Deflate.zstdOfZeros(blocks: size >> 17)),
            ]
        }()

        @Test(.tags(.alone), arguments: bombs)
        func allowedBombIsDecodedInConstantMemory(_ bomb: Bomb) async throws {
            let server = try MockServer { _ in bomb.response }
            let transport = CurlTransport()

            let isFlat = try await Usage.isBelow(48 << 20) {
                let transcript = Transcript(keepsContent: false)
                transport.send(server.url, to: transcript)
                try await transcript.ended.wait(timeout: .seconds(Scale.timeLimit))
                #expect(transcript.result == "success", "\(String(describing: transcript.error))")
                #expect(transcript.contentSize == bomb.content.count)
                #expect(transcript.violations == [])
            }
            transport.close()

            #expect(isFlat)
        }

        @Test(.tags(.alone), arguments: bombs)
        func compressionBombFailsAtDecodedByteLimit(_ bomb: Bomb) async throws {
            let server = try MockServer { _ in bomb.response }
            let transport = CurlTransport()

            let isBounded = await Usage.isBelow(32 << 20) {
                let transcript = await transport.run(server.url, maximumBodySize: 1 << 20)
                #expect(transcript.result == "bodyTooLarge")
                #expect(transcript.contentSize <= 1 << 20)
                #expect(transcript.violations == [])
            }
            transport.close()

            #expect(isBounded)
        }

        @Test(.tags(.alone), arguments: bombs)
        func bombDownloadUsesConstantMemory(_ bomb: Bomb) async throws {
            let server = try MockServer { _ in bomb.response }
            let folder = try DownloadFolder()

            let isFlat = try await Usage.isBelow(48 << 20) {
                let file = folder.url.appendingPathComponent(UUID().uuidString)
                let operation = OperationQueue().addRequest(HTTPRequest(url: server.url).download(to: .file(file)))
                _ = try await operation.value()
                let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int
                #expect(size == bomb.content.count)
                try FileManager.default.removeItem(at: file)
            }

            #expect(isFlat)
        }

        @Test func resumedReceiverGetsRemainingBombContent() async throws {
            let bomb = Deflate.gzipOfZeros(about: 20 << 20)
            let server = try MockServer { _ in .data(bomb.data, headers: [.contentEncoding: "gzip"]) }
            let transport = CurlTransport()
            let transfer = Locked<(any TransferHandle)?>(nil)
            let pauses = Locked(0)
            let transcript = Transcript(keepsContent: false) { event in
                guard case .data = event, let transfer = transfer.withLock({ $0 }) else { return }
                transfer.pause()
                pauses.withLock { $0 += 1 }
                DispatchQueue.global().async { transfer.resume() }
            }

            let started = transport.send(server.url, to: transcript)
            transfer.withLock { $0 = started }
            try await transcript.ended.wait(timeout: .seconds(Scale.timeLimit))
            transport.close()

            #expect(transcript.result == "success", "\(String(describing: transcript.error))")
            #expect(transcript.contentSize == bomb.count)
            #expect(transcript.violations == [])
        }

        @Test func pausedBombCanBeCancelled() async throws {
            let bomb = Deflate.gzipOfZeros(about: 20 << 20)
            let server = try MockServer { _ in .data(bomb.data, headers: [.contentEncoding: "gzip"]) }
            let transport = CurlTransport()
            let transcript = Transcript(keepsContent: false)

            let transfer = transport.send(server.url, to: transcript)
            transfer.pause()
            try await server.awaitRequests(1)
            transfer.cancel()
            try await transcript.ended.wait(timeout: .seconds(Scale.timeLimit))
            transport.close()

            #expect(transcript.result == "cancelled")
            #expect(transcript.contentSize < bomb.count)
            #expect(transcript.violations == [])
        }

        // MARK: Without decoding

        private static let gzip = Deflate.gzip(Data("hello".utf8))

        @Test func requestCanReceiveEncodedContent() async throws {
            let server = try MockServer { _ in
                .data(Self.gzip, headers: [.contentEncoding: "gzip", .cacheControl: "max-age=60"])
            }
            let client = HTTPClient { $0.cache = ResponseCache() }
            let request = HTTPRequest(url: server.url("/"))

            let decoded = try await client.fetch(request)
            let raw = try await client.send(request.decodesContent(false))
            let asked = try await client.fetch(
                request.decodesContent(false).settingHeader(.acceptEncoding("gzip"))
            )
            let again = try await client.fetch(request)

            #expect([decoded, again].map { String(decoding: $0, as: UTF8.self) } == ["hello", "hello"])
            #expect(raw.body == Self.gzip && asked == Self.gzip)
            #expect(raw.headers[.contentEncoding] == "gzip")
            // The cache answers the last one. It doesn't store encoded content.
            #expect(server.requests.map { $0.headers[.acceptEncoding] == nil } == [false, true, false])
            #expect(server.requests.last?.headers[.acceptEncoding] == "gzip")
        }

        @Test func encodedAndDecodedContentAreNotCoalesced() async throws {
            let gate = Gate()
            let server = try MockServer { _ in
                .script([
                    .waitFor(gate),
                    .send(Data("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n".utf8)),
                    .send(Data("Content-Length: \(Self.gzip.count)\r\n\r\n".utf8) + Self.gzip),
                ])
            }
            let request = HTTPRequest(url: server.url("/"))
                .settingHeader(.acceptEncoding("gzip"))
            let queue = OperationQueue()

            let decoded = queue.addRequest(request, coalescing: true)
            let raw = queue.addRequest(request.decodesContent(false), coalescing: true)
            try await server.awaitRequests(2)
            gate.open()

            #expect(try await decoded.value() == Data("hello".utf8))
            #expect(try await raw.value() == Self.gzip)
            #expect(request.identifier != request.decodesContent(false).identifier)
        }

        @Test func urlSessionRejectsRequestForEncodedContent() async throws {
            let server = try MockServer { _ in .data(Self.gzip, headers: [.contentEncoding: "gzip"]) }
            let queue = OperationQueue()
            let request = HTTPRequest(url: server.url("/")).decodesContent(false)

            let error = await #expect(throws: RequestError.self) {
                try await queue.fetch(request, session: URLSession(configuration: .ephemeral))
            }

            #expect(error?.code == .unsupported)
            #expect(server.requests.isEmpty)
        }

        @Test func rangeOfEncodedContentIsNotDecoded() async throws {
            let part = Self.gzip.dropFirst(4)
            let server = try MockServer { _ in
                .data(
                    part,
                    status: .partialContent,
                    headers: [
                        .contentEncoding: "gzip", .contentRange: "bytes 4-\(Self.gzip.count - 1)/\(Self.gzip.count)",
                    ]
                )
            }
            let transport = CurlTransport()

            let transcript = await transport.run(
                server.url,
                headers: [.range: "bytes=4-", .acceptEncoding: "gzip"]
            )

            #expect(transcript.result == "success", "\(String(describing: transcript.error))")
            #expect(transcript.body == part)
        }
    }
}
#endif
