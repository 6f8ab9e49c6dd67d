// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// Uploaded content that changes, ends or comes late while it is sent; ``CurlUploadTests`` has content that is there.
    @Suite(.bounded) struct CurlContentTests {
        private let transport = CurlTransport()

        /// A slice: its indices don't begin at 0.
        @Test func aSliceArrivesAsItIs() async throws {
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

        /// More than fits into the buffers of a connection, so that some of it is read after the change.
        private static let size = 16 << 20

        @Test(arguments: [size + 1000, 0])
        func fileThatChangesIsSentAsItWasAnnouncedOrNotAtAll(newSize: Int) async throws {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try Data.pattern(Self.size).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let (begun, changed, body) = (Gate(), Gate(), Locked<[UInt8]?>(nil))
            let server = try RawListener { connection in
                guard connection.readHead() != nil else { return }
                begun.open()
                guard changed.wait(), let read = connection.read(Self.size) else { return }
                body.withLock { $0 = read }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
            let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))

            async let running = transport.run(url, method: .put, body: .file(file))
            await begun.wait()
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
        func streamThatBlocksIsReadLater(content: String) async throws {
            let server = try MockServer { _ in .text("thanks") }
            let pipe = Pipe()
            let path = "/proc/self/fd/\(pipe.fileHandleForReading.fileDescriptor)"
            let body = BodyStream(length: 5) {
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
