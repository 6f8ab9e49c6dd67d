// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// Successful exchanges: requests and responses arrive unchanged.
    @Suite(.bounded) struct ExchangeTests {
        struct Recipe: Codable, Hashable, Sendable {
            var name: String
        }

        struct RecipeRequest: DecodableRequest {
            typealias Success = Recipe
            let url: URL
            var identifier: String { url.absoluteString }

            func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
                completion(.success(URLRequest(url: url)))
            }
        }

        @Test(arguments: TransportUnderTest.all)
        func jsonIsDecoded(_ transport: TransportUnderTest) async throws {
            let server = try MockServer()
            server.route(.get, "/recipes/1", .json(#"{"name":"Pancakes"}"#))

            let recipe = try await OperationQueue().fetch(
                RecipeRequest(url: server.url("/recipes/1?full=%20yes")),
                session: transport.makeSession()
            )

            #expect(recipe == Recipe(name: "Pancakes"))
            #expect(server.requests.map(\.target) == ["/recipes/1?full=%20yes"])
            let request = try #require(server.requests.first)
            #expect(request.rawBytes.starts(with: Data("GET /recipes/1?full=%20yes HTTP/1.1\r\n".utf8)))
        }

        @Test(arguments: TransportUnderTest.all, [HTTPMethod.post, .put, .patch, .delete])
        func dataIsSentWithContentLength(_ transport: TransportUnderTest, _ method: HTTPMethod) async throws {
            let server = try MockServer { .text($0.text) }

            let response = try await transport.send(
                Call(server.url, method: method, headers: [.contentType: "text/plain"], body: .data(Data("abc".utf8)))
            )

            #expect(response.text == "abc")
            let request = try #require(server.requests.first)
            #expect(request.method == method)
            #expect(request.headers[values: .contentLength] == ["3"])
            #expect(!request.headers.contains(.transferEncoding))
            #expect(request.headers[values: .contentType] == ["text/plain"])
            #expect(!request.headers.contains(.expect))
        }

        @Test(arguments: TransportUnderTest.all)
        func fileIsSentWithContentLength(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { .text("\($0.body.count)") }
            let file = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
            let content = Data.pattern(100_000)
            try content.write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }

            let response = try await transport.send(Call(server.url("/file"), method: .put, body: .file(file)))

            #expect(response.text == "100000")
            let request = try #require(server.requests.first)
            #expect(request.method == .put)
            #expect(request.body == content)
            #expect(request.headers[values: .contentLength] == ["100000"])
            #expect(!request.headers.contains(.transferEncoding))
            #expect(!request.headers.contains(.expect))
        }

        @Test(arguments: TransportUnderTest.all)
        func missingFileFailsBeforeSending(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .noContent }
            let file = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)

            let run = await transport.run(Call(server.url, method: .put, body: .file(file)))

            #expect(run.error?.code == .invalidRequest)
            #expect(server.requests.isEmpty)
        }

        @Test(arguments: TransportUnderTest.all, [nil, 100_000])
        func streamIsSentWithOneFraming(_ transport: TransportUnderTest, length: Int64?) async throws {
            let server = try MockServer { .text("\($0.body.count)") }
            let content = Data.pattern(100_000)
            let once = HTTPBody.Stream(InputStream(data: content), length: length)
            let again = HTTPBody.Stream(length: length) { InputStream(data: content) }

            for body in [once, again, again] {
                let response = try await transport.send(Call(server.url, method: .post, body: .stream(body)))
                #expect(response.text == "100000")
            }

            for request in server.requests {
                #expect(request.body == content)
                // With both framings, servers may disagree where the next request begins.
                let framings = request.headers[values: .contentLength] + request.headers[values: .transferEncoding]
                let isChunked = length == nil || transport.runsOverURLSessionOfLinux
                #expect(framings == [isChunked ? "chunked" : "100000"])
                #expect(!request.headers.contains(.expect))
            }
        }

        @Test(arguments: TransportUnderTest.all)
        func consumedStreamIsNotSentEmpty(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .noContent }
            let body = HTTPBody.stream(HTTPBody.Stream(InputStream(data: Data("abc".utf8))))

            _ = try await transport.send(Call(server.url, method: .post, body: body))
            let run = await transport.run(Call(server.url, method: .post, body: body))

            #expect(run.error?.code == .bodyNotReplayable)
            #expect(server.requests.map(\.text) == ["abc"])
        }

        @Test(arguments: TransportUnderTest.all)
        func responseToHEADHasNoBody(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .text("content") }

            let response = try await transport.send(Call(server.url, method: .head))

            #expect(response.status == .ok)
            #expect(response.headers[.contentLength] == "7")
            #expect(response.body.isEmpty)
            #expect(server.requests.map(\.method) == [.head])
        }

        @Test(arguments: TransportUnderTest.all)
        func noContentResponseIsReturned(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .noContent }

            let response = try await transport.send(Call(server.url, method: .delete))

            #expect(response.status == .noContent)
            #expect(response.body.isEmpty)
        }

        @Test(arguments: TransportUnderTest.all)
        func chunksAreCombinedIntoBody(_ transport: TransportUnderTest) async throws {
            let chunks = ["a", "bc", String(repeating: "d", count: 70_000)].map { Data($0.utf8) }
            let server = try MockServer { _ in .chunked(chunks) }

            let response = try await transport.send(Call(server.url))

            #expect(response.body == chunks.reduce(Data(), +))
        }

        @Test(arguments: TransportUnderTest.all)
        func compressedContentIsDecoded(_ transport: TransportUnderTest) async throws {
            // {"name":"Pancakes"}, compressed with gzip.
            let gzip = try #require(
                Data(base64Encoded: "H4sIAAAAAAACA6tWykvMTVWyUgpIzEtOzE4tVqoFAEqk+cMTAAAA")
            )
            let server = try MockServer { _ in .data(gzip, headers: [.contentEncoding: "gzip"]) }

            let response = try await transport.send(Call(server.url))

            #expect(response.text == #"{"name":"Pancakes"}"#)
            #expect(server.requests.first?.headers[.acceptEncoding]?.contains("gzip") == true)
        }

        @Test(arguments: TransportUnderTest.all)
        func largeBodyIsReceivedCompletely(_ transport: TransportUnderTest) async throws {
            let content = Data.pattern(Scale.pick(2 << 20, whole: 8 << 20))
            let server = try MockServer { .data($0.body) }

            let response = try await transport.send(Call(server.url, method: .post, body: .data(content)))

            #expect(response.body == content)
            let request = try #require(server.requests.first)
            #expect(!request.headers.contains(.expect))
        }

        @Test(arguments: TransportUnderTest.all)
        func interimResponsesAreNotFinal(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in
                .raw(
                    "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
                    keepsAlive: true
                )
            }

            let response = try await transport.send(Call(server.url))

            #expect(response.status == .ok)
            #expect(response.text == "ok")
        }

        @Test(arguments: TransportUnderTest.all)
        func connectionIsReused(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { .text($0.path) }
            let queue = OperationQueue()
            let session = transport.makeSession()

            for number in 0..<10 {
                let data = try await queue.fetch(Call(server.url("/\(number)")), session: session)
                #expect(String(decoding: data, as: UTF8.self) == "/\(number)")
            }

            // A session of the whole process also keeps the connections of other tests, and has few places.
            let isAlone = TransportUnderTest.configurable.contains(transport)
            #expect(server.connectionCount <= (isAlone ? 1 : 9))
        }

        @Test(arguments: TransportUnderTest.all)
        func concurrentRequestsGetTheirOwnResponses(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { .text("\($0.path) \($0.text)") }
            let queue = OperationQueue()
            let session = transport.makeSession()

            let answers = try await withThrowingTaskGroup(of: (Int, String).self) { group in
                for number in 0..<30 {
                    group.addTask {
                        let body = HTTPBody.data(Data("body \(number)".utf8))
                        let call = Call(server.url("/\(number)"), method: .post, body: body)
                        return (number, String(decoding: try await queue.fetch(call, session: session), as: UTF8.self))
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }

            #expect(answers == Dictionary(uniqueKeysWithValues: (0..<30).map { ($0, "/\($0) body \($0)") }))
            #expect(server.requests.count == 30)
        }
    }
}
