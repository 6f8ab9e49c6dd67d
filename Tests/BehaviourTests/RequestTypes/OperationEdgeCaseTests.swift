// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Edge cases of an operation: the objects that it retains, its reports and its limits.
@Suite(.bounded) struct OperationEdgeCaseTests {
    @Test(arguments: [Duration.seconds(Int64.max), .seconds(1e15), .zero, .seconds(-1)])
    func extremeDeadlinesDoNotTrap(_ duration: Duration) async {
        let queue = TestQueue(InMemoryTransport { _ in .never }) { $0.deadline = duration }
        let probe = Probe(adding: TextRequest(), to: queue)
        probe.operation.cancel()
        #expect(await probe.ended().count == 1)
    }

    @Test func failurePropagatesThroughLongDependencyChain() async {
        let queue = TestQueue(InMemoryTransport { _ in .status(.notFound) }, width: 1, isSuspended: true)
        var last = queue.addRequest(TextRequest())
        for _ in 0..<Scale.requests { last = queue.addRequest(after: last) { _ in TextRequest() } }
        queue.base.isSuspended = false
        await last.end()

        #expect(last.result?.error?.code == .dependencyFailed)
        #expect((last.result?.error?.underlying as? RequestError)?.code == .unacceptableStatus)
    }

    @Test func droppedTransferFailsAsConnectionLost() async {
        let probe = Probe(adding: TextRequest(), to: TestQueue(ForgetfulTransport()))
        #expect(await probe.ended().map(\.error?.code) == [.connectionLost])
    }

    @Test func cancellingDuringBuildSendsNothing() async throws {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport)
        let kept = Recorder<BuildCompletion>()
        let isKept = Gate()
        var request = TextRequest()
        request.make = { completion in
            kept.record(completion)
            isKept.open()
        }
        let probe = Probe(adding: request, to: queue)
        try await isKept.wait()
        probe.operation.cancel()
        for completion in kept.elements { completion(.success(URLRequest(url: home))) }

        #expect(await probe.ended().map(\.error?.code) == [.cancelled])
        #expect(transport.requests.isEmpty)
    }

    @Test func sensitiveHeadersAreDroppedAcrossOrigins() async throws {
        let transport = InMemoryTransport { request in
            request.url.host() == "elsewhere.example"
                ? .status(.ok) : .status(.found, headers: [.location: "https://elsewhere.example/"])
        }
        var options = RequestOptions()
        options.sensitiveHeaders = ["X-My-Token"]
        var request = WireRequest(options: options)
        request.http.headers["x-my-token"] = "s3cret"
        request.http.headers["X-Plain"] = "open"
        let probe = Probe(adding: request, to: TestQueue(transport))
        _ = await probe.ended()

        #expect(transport.requests.map { $0.headers["X-My-Token"] } == ["s3cret", nil])
        #expect(transport.requests.map { $0.headers["X-Plain"] } == ["open", nil])
        let first = try #require(transport.requests.first)
        #expect(!"\(first.headers)".contains("s3cret"))
    }

    @Test func descriptionsRedactQueryAndCredentials() async throws {
        let url = try #require(URL(string: "https://user:pw@example.com/a?token=SECRET"))
        let head = HTTPResponseHead(status: .ok, headers: [.setCookie: "SECRET"], url: url)
        let request = HTTPRequest(url: url, headers: [.authorization: "SECRET"])
        let texts = [
            "\(head)", "\(HTTPResponse(head: head, body: 1))", "\(TransportRequest(request))",
            "\(TransferRecord(cause: .initial, request: request, response: head))",
        ]
        for text in texts {
            #expect(text.contains("example.com/a") && !text.contains("SECRET") && !text.contains("pw"))
        }
    }

    @Test func notModifiedFailsWhenContentIsRequired() async {
        struct Conditional: DecodableRequest {
            typealias Success = [Int]
            typealias Failure = RequestError
            var identifier: String { "conditional" }
            func makeURLRequest(completion: @escaping BuildCompletion) {
                var request = URLRequest(url: home)
                request.setValue("\"1\"", forHTTPHeaderField: "If-None-Match")
                completion(.success(request))
            }
        }
        let probe = Probe(adding: Conditional(), to: TestQueue(InMemoryTransport { _ in .status(.notModified) }))
        let error = await probe.ended().first?.error
        #expect(error?.code == .notModified)
        #expect(error?.response?.status == .notModified)
    }
}
