// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// Streams whose server is faster than their consumer.
    @Suite(.bounded) struct StreamFloodTests {
        private struct Slow: StreamRequest {
            typealias Success = Int
            typealias Failure = RequestError

            let url: URL
            var identifier: String { "\(url)" }
            var bufferSize: Int { 64 * 1024 }

            func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
                completion(.success(URLRequest(url: url)))
            }

            func process(_ stream: ResponseStream) async throws -> Int {
                var count = 0
                for try await chunk in stream {
                    count += chunk.count
                    // Other tasks run first, so the server is always ahead.
                    for _ in 0..<10 { await Task.yield() }
                }
                return count
            }
        }

        @Test func floodAppliesBackpressure() async throws {
            let size = Scale.pick(32 << 20, whole: 256 << 20)
            let server = try MockServer { _ in .status(.ok, body: Data(count: size)) }

            #expect(try await OperationQueue().fetch(Slow(url: server.url)) == size)
        }

        @Test func wrongContentTypeEndsEventStream() async throws {
            let server = try MockServer { _ in
                .status(.ok, headers: [.contentType: "text/html"], body: Data("log in".utf8))
            }
            let client = HTTPClient(baseURL: server.url) { $0.validators = [.contentType] }

            await #expect(throws: RequestError.self) {
                for try await _ in client.serverSentEvents(HTTPRequest("events")) {}
            }
            #expect(server.requests.count == 1)
        }

        @Test func noContentEndsEventsDespiteContentTypeCheck() async throws {
            let server = try MockServer { _ in .noContent }
            let client = HTTPClient(baseURL: server.url) { $0.validators = [.contentType] }

            for try await _ in client.serverSentEvents(HTTPRequest("events")) {}

            #expect(server.requests.count == 1)
        }
    }
}
