// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// Forms on the wire: the exact bytes of their parts, with a framing that marks their end.
    @Suite(.bounded) struct MultipartTests {
        private static let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

        private func temporaryFile() throws -> URL {
            let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).png")
            try Self.content.write(to: url)
            return url
        }

        private func form(_ file: URL) -> HTTPBody {
            .multipart(boundary: "b") { form in
                form.add("grün", for: "a\"\r\nb")
                form.add(.file(file), for: "f", fileName: "🥞.png")
                form.add(.json(["a": [1, nil]]), for: "j")
            }
        }

        private var expected: Data {
            var data = Data("--b\r\nContent-Disposition: form-data; name=\"a%22%0D%0Ab\"\r\n\r\ngrün\r\n".utf8)
            data += "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"🥞.png\"\r\n".utf8
            data += "Content-Type: image/png\r\n\r\n".utf8 + Self.content + "\r\n".utf8
            data += "--b\r\nContent-Disposition: form-data; name=\"j\"\r\nContent-Type: application/json\r\n\r\n".utf8
            return data + "{\"a\":[1,null]}\r\n--b--\r\n".utf8
        }

        private struct HandedBack: DataRequest {
            typealias Success = Data
            let request: Post<Data>
            var identifier: String { "handed back" }
            func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
                completion(Result { try request.toURLRequest() })
            }
        }

        @Test func formConvertedToURLRequestIsSent() async throws {
            let server = try MockServer { .text("\($0.body.count)") }
            let file = try temporaryFile()
            defer { try? FileManager.default.removeItem(at: file) }
            let post = Post<Data>().modified { $0.http.url = server.url }.body(form(file))

            _ = try await OperationQueue().fetch(HandedBack(request: post))

            #expect(server.requests.first?.body == expected)
        }

        @Test(arguments: TransportUnderTest.all)
        func formWithFileIsSentUnchanged(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { .text("\($0.body.count)") }
            let file = try temporaryFile()
            defer { try? FileManager.default.removeItem(at: file) }

            let response = try await transport.send(Call(server.url, method: .post, body: form(file)))

            let request = try #require(server.requests.first)
            #expect(request.body == expected)
            #expect(response.text == "\(expected.count)")
            #expect(request.headers[values: .contentType] == ["multipart/form-data; boundary=b"])
            if !transport.runsOverURLSessionOfLinux {
                #expect(request.headers[values: .contentLength] == ["\(expected.count)"])
                #expect(!request.headers.contains(.transferEncoding))
            }
        }

        @Test(arguments: TransportUnderTest.all)
        func redirectResendsForm(_ transport: TransportUnderTest) async throws {
            let server = try MockServer {
                $0.path == "/end" ? .text("done") : .status(.permanentRedirect, headers: [.location: "/end"])
            }
            let file = try temporaryFile()
            defer { try? FileManager.default.removeItem(at: file) }

            let response = try await transport.send(Call(server.url, method: .put, body: form(file)))

            #expect(response.text == "done")
            #expect(server.requests.map(\.body) == [expected, expected])
            let types = server.requests.map { $0.headers[.contentType] }
            #expect(types == Array(repeating: "multipart/form-data; boundary=b", count: 2))
        }

        @Test(arguments: TransportUnderTest.all)
        func shrinkingFileFails(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .text("thanks") }
            let file = try temporaryFile()
            defer { try? FileManager.default.removeItem(at: file) }
            // The length is read when the body is resolved; then the file changes.
            let body = try form(file).resolved()
            try Data("short".utf8).write(to: file)

            let run = await transport.run(Call(server.url, method: .post, body: body))

            #expect(run.error != nil)
            #expect(server.requests.isEmpty)
        }

        @Test(arguments: TransportUnderTest.all)
        func multipartInjectionIsRejected(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .noContent }
            let bodies: [HTTPBody] = [
                .multipart { $0.add("", for: "a\0") },
                .multipart { $0.add("", for: "a", headers: ["X-A": "b\r\nX-Evil: 1"]) },
                .multipart { $0.add(.data(Data(), type: "text/plain\r\nX-Evil: 1"), for: "a") },
                .multipart(boundary: "b\r\nX-Evil: 1") { _ in },
                .text("", type: "text/plain\r\nX-Evil: 1"),
            ]

            for body in bodies {
                let run = await transport.run(Call(server.url, method: .post, body: body))
                #expect(run.error?.code == .invalidRequest)
            }

            #expect(server.connectionCount == 0)
        }
    }
}
