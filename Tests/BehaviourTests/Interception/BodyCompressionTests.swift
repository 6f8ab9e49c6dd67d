// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct BodyCompressionTests {
    private static let text = String(repeating: "Add the flour, and stir. ", count: 200)

    private func adapted(
        _ body: HTTPBody,
        headers: HTTPHeaders = [],
        by compression: ClosureInterceptor = .compressingBodies()
    ) async throws -> HTTPRequest {
        var request = HTTPRequest(url: home)
        request.method = .post
        request.headers = headers
        request.body = body
        try await compression.adapt(&request, context: InterceptorChain.Context(identifier: "", attempt: 1))
        return request
    }

    @Test func compressedBodiesDeclareGzipEncoding() async throws {
        let request = try await adapted(.text(Self.text))

        let body = try #require(try request.body.data())
        #expect(request.headers[.contentEncoding] == "gzip")
        #expect(body.starts(with: [0x1F, 0x8B, 8]) && body.count < 200)
        #expect(request.body.isReplayable)
        #expect(request.body.headers[.contentType]?.hasPrefix("text/plain") == true)
    }

    @Test func contentLengthMatchesCompressedBody() async throws {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport) { $0.interceptors = [.compressingBodies()] }
        var request = WireRequest()
        request.http.method = .post
        request.http.body = .text(Self.text)
        request.http.headers[.contentLength] = "\(Self.text.utf8.count)"

        let error = await Probe(request, on: queue).run(on: queue).ended().first?.error

        #expect(error == nil && transport.requests.first?.headers[.contentEncoding] == "gzip")
    }

    @Test func compressionIsDeterministic() async throws {
        let bodies = try await [adapted(.text(Self.text)), adapted(.text(Self.text))].map { try $0.body.data() }

        #expect(bodies[0] == bodies[1])
    }

    @Test func smallBodiesAreNotCompressed() async throws {
        let request = try await adapted(.text("flour"))

        #expect(try request.body.data() == Data("flour".utf8))
        #expect(!request.headers.contains(.contentEncoding))
        #expect(try await adapted(.text(Self.text), by: .compressingBodies(from: .max)).body.length == 5000)
    }

    @Test func incompressibleBodiesAreUnchanged() async throws {
        var fuzz = Fuzz()
        let noise = Data((0..<4096).map { _ in UInt8.random(in: 0...255, using: &fuzz) })
        let request = try await adapted(.data(noise))

        #expect(try request.body.data() == noise)
        #expect(!request.headers.contains(.contentEncoding))
    }

    @Test(arguments: [HTTPField.Name.contentEncoding, .contentRange])
    func encodedAndPartialBodiesAreUnchanged(name: HTTPField.Name) async throws {
        let request = try await adapted(.text(Self.text), headers: [name: "x"])

        #expect(try request.body.data() == Data(Self.text.utf8))
        #expect(request.headers[values: name] == ["x"])
    }

    @Test func streamsAreNotCompressed() async throws {
        let request = try await adapted(.stream(HTTPBody.Stream { InputStream(data: Data(Self.text.utf8)) }))

        guard case .stream = request.body.content else {
            Issue.record("the stream is gone")
            return
        }
        #expect(!request.headers.contains(.contentEncoding))
    }

    @Test func bodyUsesEnvironmentsEncoder() async throws {
        struct Recipe: Codable, Hashable, Sendable { var firstSteps = Array(repeating: "stir", count: 500) }
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport) {
            $0.interceptors = [.compressingBodies()]
            $0.makeEncoder = {
                let encoder = JSONEncoder()
                encoder.keyEncodingStrategy = .convertToSnakeCase
                return encoder
            }
        }
        var request = WireRequest()
        request.http.method = .post
        request.http.body = .json(Recipe())

        _ = await Probe(request, on: queue).run(on: queue).ended()

        let sent = try #require(transport.requests.first)
        let steps = Recipe().firstSteps.map { "\"\($0)\"" }.joined(separator: ",")
        let expected = Data("{\"first_steps\":[\(steps)]}".utf8)
        #expect(sent.headers[.contentEncoding] == "gzip")
        #expect(sent.headers[.contentType] == "application/json")
        let compressed = try await adapted(.data(expected)).body.data()
        #expect(sent.body == compressed)
    }

    @Test func encodingErrorFailsRequest() async throws {
        let body = HTTPBody { throw SampleError() }

        await #expect(throws: RequestError.self) { try await adapted(body) }
    }
}
