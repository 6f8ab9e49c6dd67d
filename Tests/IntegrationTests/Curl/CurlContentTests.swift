// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Glibc
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// Uploaded content that changes, ends or comes late while it is sent; ``CurlUploadTests`` has content that is
    /// there.
    @Suite(.bounded) struct CurlContentTests {
        private let transport = CurlTransport()

        /// A slice: its indices don't begin at 0.
        @Test func dataSliceIsSentUnchanged() async throws {
            let server = try MockServer { _ in .text("thanks") }

            let slice = Data("__hello".utf8).dropFirst(2)
            let transcript = await transport.run(server.url, method: .post, body: .data(slice))

            #expect(transcript.result == "success" && server.requests.map(\.text) == ["hello"])
        }

        @Test(arguments: ["/nowhere/at/all", "/tmp", "/dev/null"])
        func unreadableFileIsAnInvalidRequest(_ path: String) async throws {
            let server = try MockServer { _ in .text("thanks") }

            let body = HTTPBody.file(URL(fileURLWithPath: path))
            let transcript = await transport.run(server.url, method: .post, body: body)

            #expect(transcript.result == "invalidRequest" && server.requests.isEmpty)
        }

        /// Opening a pipe waits for a writer, which may never come.
        @Test func namedPipeAsBodyIsAnInvalidRequest() async throws {
            let server = try MockServer { _ in .text("thanks") }
            let folder = try DownloadFolder()
            let pipe = folder.url.appendingPathComponent("pipe")
            #expect(mkfifo(pipe.path, 0o600) == 0)

            let transcript = await transport.run(server.url, method: .post, body: .file(pipe))

            #expect(transcript.result == "invalidRequest" && server.requests.isEmpty)
        }

        /// A lease of a file keeps all others from opening it, for 45 seconds.
        @Test func blockingFileDelaysNoSender() async throws {
            let server = try MockServer { _ in .text("thanks") }
            let folder = try DownloadFolder()
            let file = folder.url.appendingPathComponent("large")
            try Data.pattern(1 << 20).write(to: file)
            signal(SIGIO, SIG_IGN)
            let lease = open(file.path, O_RDWR)
            defer { close(lease) }
            let setLease: Int32 = 1024
            // A process that another test spawns just now may still have the file open.
            try await eventually { fcntl(lease, setLease, Int32(F_WRLCK)) == 0 }
            let transcript = Transcript()

            let duration = ContinuousClock().measure {
                transport.send(server.url("/slow"), method: .post, body: .file(file), to: transcript)
            }
            let others = [await transport.run(server.url), await transport.run(server.url)]
            let before = server.requests.map(\.path)
            _ = fcntl(lease, setLease, Int32(F_UNLCK))
            try await transcript.ended.wait()

            #expect(duration < .seconds(20))
            #expect(others.map(\.text) == ["thanks", "thanks"])
            #expect(before == ["/", "/"])
            #expect(transcript.result == "success", "\(String(describing: transcript.error))")
            #expect(server.requests.first { $0.path == "/slow" }?.body == Data.pattern(1 << 20))
        }

        /// Thousands may wait, for a connection or for an address.
        @Test(.tags(.alone)) func bodyOfQueuedRequestIsNotOpened() async throws {
            let gate = Gate()
            let server = try MockServer { _ in .text("thanks").held(by: gate) }
            let folder = try DownloadFolder()
            let file = folder.url.appendingPathComponent("large")
            try Data.pattern(100_000).write(to: file)
            let opened = Locked(0)
            let stream = HTTPBody.Stream(length: 100_000) {
                opened.withLock { $0 += 1 }
                return InputStream(data: Data.pattern(100_000))
            }
            let transport = CurlTransport.configured { $0.maximumConnectionsPerHost = 1 }
            let transcripts = (0..<200).map { _ in Transcript() }

            transport.send(server.url, to: transcripts[0])
            try await server.awaitRequest()
            let before = Usage.descriptors
            for (index, transcript) in transcripts.enumerated().dropFirst() {
                let body: HTTPBody = index % 2 == 0 ? .file(file) : .stream(stream)
                transport.send(server.url, method: .post, body: body, to: transcript)
            }
            let (descriptors, streams) = (Usage.descriptors, opened.withLock { $0 })
            gate.open()
            for transcript in transcripts { try await transcript.ended.wait() }

            #expect(descriptors < before + 50)
            #expect(streams == 0)
            #expect(transcripts.allSatisfy { $0.text == "thanks" })
            #expect(server.requests.dropFirst().allSatisfy { $0.body == Data.pattern(100_000) })
        }

        /// More than fits into the buffers of a connection, so that some of it is read after the change.
        private static let size = 16 << 20

        @Test(arguments: [size + 1000, 0])
        func changedFileNeverExceedsAnnouncedLength(newSize: Int) async throws {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try Data.pattern(Self.size).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let (begun, changed, body) = (Gate(), Gate(), Locked<[UInt8]?>(nil))
            let server = try RawListener { connection in
                guard connection.readHead() != nil else { return }
                begun.open()
                guard (try? changed.wait()) != nil, let read = connection.read(Self.size) else { return }
                body.withLock { $0 = read }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
            let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))

            async let running = transport.run(url, method: .put, body: .file(file))
            try await begun.wait()
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: UInt64(newSize))
            try handle.close()
            changed.open()
            let transcript = await running

            let isWhole = newSize > Self.size
            #expect(
                transcript.result == (isWhole ? "success" : "invalidRequest"),
                "\(String(describing: transcript.error))"
            )
            #expect(body.withLock { $0 }.map { Data($0) == Data.pattern(Self.size) } == (isWhole ? true : nil))
        }

        /// A pipe without any data yet: reading it blocks, but no other transfer.
        @Test(arguments: ["hello", "hello!"])
        func blockedStreamIsReadLater(content: String) async throws {
            let server = try MockServer { _ in .text("thanks") }
            let pipe = Pipe()
            let path = "/proc/self/fd/\(pipe.fileHandleForReading.fileDescriptor)"
            let body = HTTPBody.Stream(length: 5) {
                guard let input = InputStream(fileAtPath: path) else { throw CocoaError(.fileNoSuchFile) }
                return input
            }

            async let running = transport.run(server.url("/slow"), method: .post, body: .stream(body))
            let (first, second) = (await transport.run(server.url("/1")), await transport.run(server.url("/2")))
            try pipe.fileHandleForWriting.write(contentsOf: Data(content.utf8))
            try pipe.fileHandleForWriting.close()
            let transcript = await running

            #expect([first, second].map(\.text) == ["thanks", "thanks"])
            #expect(transcript.result == (content.count == 5 ? "success" : "invalidRequest"))
            // No part of a body counts as the whole.
            #expect(server.requests.filter { $0.path == "/slow" }.map(\.text) == (content.count == 5 ? ["hello"] : []))
        }
    }
}
#endif
