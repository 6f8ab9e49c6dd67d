// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Bodies in the pipeline: encoded at each attempt, with their fields, and complete each time.
@Suite(.bounded) struct BodyTests {
    private func request(_ body: HTTPBody, headers: HTTPHeaders = []) -> WireRequest {
        WireRequest(http: HTTPRequest(url: home, method: .post, headers: headers, body: body))
    }

    private func retrying(_ count: Int) -> ClosureInterceptor {
        ClosureInterceptor(retry: { _, context in context.attempt < count ? .retry : .fail })
    }

    @Test func bodyIsEncodedAndSetsContentType() async throws {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport) { $0.headers = [.contentType: "client/x", .accept: "a/b"] }

        _ = await Probe(request(.json(["a": 1])), on: queue).run(on: queue).ended()

        let sent = try #require(transport.requests.first)
        let data = sent.body
        #expect(String(decoding: data, as: UTF8.self) == #"{"a":1}"#)
        #expect(sent.headers[values: .contentType] == ["application/json"])
        #expect(sent.headers[.accept] == "a/b")
    }

    @Test func encodingFailureSendsNothing() async {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport)

        let failed = await Probe(request(HTTPBody { throw SampleError() }), on: queue).run(on: queue).ended().first?
            .error
        let json = await Probe(request(.json(Double.nan)), on: queue).run(on: queue).ended().first?.error

        #expect(failed?.code == .encoding && failed?.phase == .building)
        #expect(failed?.underlying as? SampleError == SampleError())
        #expect(json?.code == .encoding && json?.underlying is EncodingError)
        #expect(transport.requests.isEmpty)
    }

    @Test func invalidFormPartHeaderFailsRequest() async {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport)
        let body = HTTPBody.multipart { $0.add("a", for: "a", headers: ["X-A": "a\r\nX-Evil: 1"]) }

        let error = await Probe(request(body), on: queue).run(on: queue).ended().first?.error

        #expect(error?.code == .invalidRequest && error?.phase == .building && transport.requests.isEmpty)
        #expect((error?.underlying as? InvalidValue)?.kind == .headerValue)
    }

    @Test func bodyIsReencodedForEachAttempt() async {
        let count = Recorder<Void>()
        let body = HTTPBody(headers: [.contentType: "a/b"]) {
            count.record(())
            return .data(Data("\(count.count)".utf8))
        }
        let transport = InMemoryTransport { _ in .status(503) }
        let queue = TestQueue(transport) { $0.interceptors = [retrying(3)] }

        _ = await Probe(request(body), on: queue).run(on: queue).ended()

        #expect(transport.requests.map(\.text) == ["1", "2", "3"])
        #expect(transport.requests.map { $0.headers[values: .contentType] } == [["a/b"], ["a/b"], ["a/b"]])
    }

    @Test func retryResendsFormWithSameBoundary() async throws {
        let file = try TemporaryFile(Data(repeating: 0x78, count: 100_000))
        let body = HTTPBody.multipart { form in
            form.add("grün", for: "text")
            form.add(.file(file.url), for: "file")
            form.add(.stream(HTTPBody.Stream { InputStream(data: Data("stream".utf8)) }), for: "stream")
        }
        let transport = InMemoryTransport { _ in .status(503) }
        let queue = TestQueue(transport) { $0.interceptors = [retrying(3)] }

        _ = await Probe(request(body), on: queue).run(on: queue).ended()

        let expected = try body.bytes()
        #expect(expected.count > 100_000)
        #expect(transport.requests.count == 3)
        for sent in transport.requests {
            #expect(sent.headers[.contentType] == body.mandatoryHeaders[.contentType])
            #expect(sent.body == expected)
        }
    }

    @Test func redirectReusesEncodedBody() async {
        let count = Recorder<Void>()
        let body = HTTPBody(headers: [.contentType: "a/b"]) {
            count.record(())
            return .data(Data("\(count.count)".utf8))
        }
        let transport = InMemoryTransport { request in
            request.url.path == "/end" ? .status(.ok) : .status(.temporaryRedirect, headers: [.location: "/end"])
        }
        let queue = TestQueue(transport)

        _ = await Probe(request(body), on: queue).run(on: queue).ended()

        #expect(transport.requests.map(\.text) == ["1", "1"])
        #expect(transport.requests.map { $0.headers[.contentType] } == ["a/b", "a/b"])
    }

    @Test func formWithOneShotStreamIsNotRetried() async {
        let body = HTTPBody.multipart { $0.add(.stream(HTTPBody.Stream(InputStream(data: Data("x".utf8)))), for: "a") }
        let transport = InMemoryTransport { _ in .status(503) }
        let queue = TestQueue(transport) { $0.interceptors = [retrying(3)] }

        let error = await Probe(request(body), on: queue).run(on: queue).ended().first?.error

        #expect(error?.code == .unacceptableStatus && transport.requests.count == 1)
        #expect((error?.underlying as? RequestError)?.code == .bodyNotReplayable)
    }

    @Test func requestContentTypeWinsExceptForMultipart() async {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport) {
            $0.interceptors = [
                ClosureInterceptor(adapt: { request, _ in request.headers["X-Type"] = request.headers[.contentType] })
            ]
        }

        for body in [HTTPBody.json([]), .multipart(boundary: "b") { _ in }, .none] {
            _ = await Probe(request(body, headers: [.contentType: "own/x"]), on: queue).run(on: queue).ended()
        }

        let types = transport.requests.map { $0.headers[values: .contentType] }
        #expect(types == [["own/x"], ["multipart/form-data; boundary=b"], ["own/x"]])
        #expect(transport.requests.map { $0.headers["X-Type"] } == types.map(\.first))
    }

    @Test func interceptorCanReplaceBody() async {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport) {
            $0.interceptors = [
                ClosureInterceptor(adapt: { request, _ in
                    request.body = .data(Data("packed:".utf8) + (try request.body.data() ?? Data()), type: nil)
                    request.headers[.contentEncoding] = "x-packed"
                })
            ]
        }

        _ = await Probe(request(.json([1])), on: queue).run(on: queue).ended()

        #expect(transport.requests.map(\.text) == ["packed:[1]"])
        #expect(transport.requests.map { $0.headers[.contentType] } == ["application/json"])
    }

    /// The components that may read a body before it is sent.
    enum Reader: CaseIterable {
        case provider
        case interceptor
    }

    @Test(arguments: Reader.allCases) func signedBytesMatchSentBytes(reader: Reader) async throws {
        let (signed, encoded) = (Recorder<Data?>(), Recorder<Void>())
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport) {
            $0.makeEncoder = {
                let encoder = JSONEncoder()
                encoder.dateEncodingStrategy = .iso8601
                return encoder
            }
            if reader == .interceptor { $0.interceptors = [.signing { signed.record(try $0.body.data()) }] }
        }
        var http = HTTPRequest(url: home)
        http.method = .post
        http.body = .json(["at": Date(timeIntervalSince1970: 86_400)])
        if reader == .provider { http.authentication = AuthenticationProvider { signed.record(try $0.body.data()) } }
        await queue.addRequest(WireRequest(http: http)).end()

        #expect(signed.elements == [transport.requests.first?.body])
        #expect(signed.elements == [Data(#"{"at":"1970-01-02T00:00:00Z"}"#.utf8)])

        // A body that is encoded differently each time is signed and sent the same, too.
        http.body = HTTPBody {
            encoded.record(())
            return .data(Data("\(encoded.count)".utf8))
        }
        await queue.addRequest(WireRequest(http: http)).end()

        #expect(signed.elements.last == transport.requests.last?.body && encoded.count == 1)
    }
}
