// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ReplayTests {
    private func recorded(
        _ url: String,
        _ answer: String,
        _ method: HTTPMethod = .get,
        body: String = "",
        type: String = "application/json",
        status: HTTPStatus = .ok
    ) -> Exchange {
        let headers: HTTPHeaders = body.isEmpty ? [] : [.contentType: type]
        let request = ReceivedRequest(
            url: URL(string: url)!,
            method: method,
            headers: headers,
            body: Data(body.utf8)
        )
        return Exchange(
            request: request,
            response: Exchange.Response(status: status, body: Data(answer.utf8))
        )
    }

    private func fetch(
        _ url: String,
        _ method: HTTPMethod = .get,
        body: HTTPBody = .none,
        on transport: any HTTPTransport
    ) async throws -> String {
        let request = HTTPRequest(url: URL(string: url)!, method: method, body: body)
        return String(decoding: try await request.fetch(on: HTTPClient(transport: transport)), as: UTF8.self)
    }

    private func refuses(
        _ url: String,
        _ method: HTTPMethod = .get,
        body: HTTPBody = .none,
        on stubber: HTTPStubber
    ) async -> String? {
        let error = await #expect(throws: RequestError.self) {
            try await fetch(url, method, body: body, on: stubber)
        }
        return error?.underlying.map { "\($0)" }
    }

    @Test func repeatedRequestReplaysInOrder() async throws {
        let archive = HTTPArchive([
            recorded("https://a/x", "1"), recorded("https://a/y", "other"), recorded("https://a/x", "2"),
            recorded("https://a/x", "posted", .post),
        ])
        let stubber = HTTPStubber()
        let stubs = stubber.replay(archive)

        #expect(try await fetch("https://a/x", on: stubber) == "1")
        #expect(try await fetch("https://a/x", .post, on: stubber) == "posted")
        #expect(try await fetch("https://a/x", on: stubber) == "2")
        #expect(try await fetch("https://a/y", on: stubber) == "other")
        #expect(stubs.map(\.callCount) == [2, 1, 1])
        #expect(try await fetch("https://a/x", on: stubber) == "2")
    }

    @Test func unrecordedRequestFailsWithNearestMatch() async throws {
        let stubber = HTTPStubber()
        let archive = HTTPArchive([recorded("https://a/x?page=1", "1"), recorded("https://b/z", "1", .post)])
        stubber.replay(archive, line: 1)

        let reason = await refuses("https://a/x?page=2", on: stubber)

        #expect(
            reason == """
                no stub matches GET https://a/x?page=…
                - stub method GET, URL https://a/x?page=… (\(#fileID):1): the parameter page is "2", not "1"
                - stub method POST, URL https://b/z (\(#fileID):1): the method is GET; \
                the host is a, not b, the path is /x, not /z, the parameter page isn't expected
                """
        )
    }

    @Test func equivalentURLsMatch() async throws {
        let stubber = HTTPStubber()
        stubber.replay(
            HTTPArchive([
                recorded("https://A:443/%2f?b=2&a=1%2C", "1"), recorded("https://a/%2F?a=1,&b=2", "2"),
            ])
        )

        #expect(stubber.stubs.count == 1)
        #expect(try await fetch("https://a/%2F?a=1,&b=2", on: stubber) == "1")
        #expect(try await fetch("https://a/%2F?b=2&a=1%2c", on: stubber) == "2")
    }

    @Test func secretsAreIgnoredWhenMatching() async throws {
        let live = HTTPArchive([
            recorded("https://a/x?token=first", "1", .post, body: #"{"password":"hush","name":"Ada"}"#)
        ])
        let archive = try HTTPArchive(data: live.data())
        let stubber = HTTPStubber()
        stubber.replay(archive, matchingBodies: true)

        let body = HTTPBody.json(["password": "other", "name": "Ada"])
        #expect(try await fetch("https://a/x?token=second", .post, body: body, on: stubber) == "1")
        let reason = await refuses("https://a/x?token=second", .post, body: .json(["name": "Ada"]), on: stubber)
        #expect(reason?.contains("the JSON differs: password is missing") == true)
    }

    /// Compressed content isn't in the archive.
    @Test func requestWithOmittedCompressedBodyReplays() async throws {
        let gzip: HTTPHeaders = [.contentEncoding: "gzip"]
        let request = ReceivedRequest(
            url: try #require(URL(string: "https://a/x")),
            method: .post,
            headers: gzip,
            body: Data("a, compressed".utf8)
        )
        let answer = Exchange.Response(status: .ok, body: Data("1".utf8))
        let archive = HTTPArchive([Exchange(request: request, response: answer)])
        let stubber = HTTPStubber()
        stubber.replay(try HTTPArchive(data: archive.data()), matchingBodies: true)
        var other = HTTPRequest(url: request.url, method: .post, body: .text("b"))
        #expect(await refuses("https://a/x", .post, on: stubber) != nil)

        other.headers[.contentEncoding] = "gzip"
        _ = try await other.fetch(on: HTTPClient(transport: stubber))
    }

    /// Content that can't be parsed isn't in the archive, but its request must still be answered.
    @Test func requestWithOmittedSecretBodyReplays() async throws {
        let form = "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhush\r\n--b--\r\n"
        let type = "multipart/form-data; boundary=b"
        let data = HTTPArchive([recorded("https://a/x", "1", .post, body: form, type: type)]).data()
        let stubber = HTTPStubber()
        stubber.replay(try HTTPArchive(data: data), matchingBodies: true)

        let body = HTTPBody.data(
            Data(form.replacing("hush", with: "another").utf8),
            type: try MediaType(parsing: type)
        )

        #expect(!String(decoding: data, as: UTF8.self).contains("hush"))
        #expect(try await fetch("https://a/x", .post, body: body, on: stubber) == "1")
        #expect(await refuses("https://a/x", .post, on: stubber) != nil)
    }

    @Test(arguments: [true, false])
    func truncatedRequestBodyMatchesAnyContent(isStored: Bool) async throws {
        let network = HTTPStubber()
        network.stub(.any).respond(with: .text("1"))
        let recorder = ExchangeRecorder(network, maximumBodySize: 4)
        _ = try await fetch("https://a/x", .post, body: .text("0123456789"), on: recorder)
        var archive = recorder.archive
        if isStored { archive = try HTTPArchive(data: archive.data()) }
        let stubber = HTTPStubber()
        stubber.replay(archive, matchingBodies: true)

        #expect(try await fetch("https://a/x", .post, body: .text("other"), on: stubber) == "1")
    }

    @Test func hostCanBeIgnored() async throws {
        let stubber = HTTPStubber()
        let archive = HTTPArchive([recorded("https://live.example.com/x?a=1", "1")])
        stubber.replay(archive, ignoring: [.scheme, .host, .port])

        #expect(try await fetch("http://127.0.0.1:8080/x?a=1", on: stubber) == "1")
        _ = await refuses("http://127.0.0.1:8080/y?a=1", on: stubber)
    }

    @Test func bodiesDistinguishRequestsIfMatched() async throws {
        let stubber = HTTPStubber()
        stubber.replay(
            HTTPArchive([
                recorded("https://a/x", "one", .post, body: #"{"id":1,"x":2}"#),
                recorded("https://a/x", "two", .post, body: #"{"id":2}"#),
                recorded("https://a/x", "text", .post, body: "plain", type: "text/plain"),
            ]),
            matchingBodies: true
        )

        #expect(try await fetch("https://a/x", .post, body: .json(["id": 2]), on: stubber) == "two")
        #expect(try await fetch("https://a/x", .post, body: .json(["x": 2, "id": 1]), on: stubber) == "one")
        #expect(try await fetch("https://a/x", .post, body: .text("plain"), on: stubber) == "text")
        _ = await refuses("https://a/x", .post, body: .text("other"), on: stubber)
    }

    @Test func multipartBoundaryIsIgnored() async throws {
        func form() -> HTTPBody {
            var form = MultipartForm()
            form.add(.text("Ada"), for: "name")
            return .multipart(form)
        }
        let network = HTTPStubber()
        network.stub(.any).respond(with: .text("1"))
        let recorder = ExchangeRecorder(network)
        _ = try await HTTPRequest(url: URL(string: "https://a/x")!, method: .post, body: form())
            .fetch(on: HTTPClient(transport: recorder))

        let stubber = HTTPStubber()
        stubber.replay(try HTTPArchive(data: recorder.archive.data()), matchingBodies: true)

        #expect(try await fetch("https://a/x", .post, body: form(), on: stubber) == "1")
    }

    @Test func failuresAreReplayed() async throws {
        var cut = recorded("https://a/cut", "012")
        cut.response?.headers = [.contentLength: "10"]
        cut.error = RequestError(.connectionLost, phase: .receiving)
        let request = ReceivedRequest(url: URL(string: "https://a/off")!)
        let offline = Exchange(request: request, error: RequestError(.offline, phase: .sending))
        let stubber = HTTPStubber()
        stubber.replay(try HTTPArchive(data: HTTPArchive([cut, offline]).data()))

        for (url, code) in [("https://a/cut", RequestError.Code.connectionLost), ("https://a/off", .offline)] {
            let error = await #expect(throws: RequestError.self) { try await fetch(url, on: stubber) }
            #expect(error?.code == code)
        }
    }

    @Test func missingContentFailsItsRequest() async throws {
        let text = #"""
            {"log":{"entries":[{"request":{"method":"GET","url":"https://a/x"},"response":{"status":200,
            "content":{"size":1234,"mimeType":"image/png"}}}]}}
            """#
        let stubber = HTTPStubber()
        stubber.replay(try HTTPArchive(data: Data(text.utf8)))

        let reason = await refuses("https://a/x", on: stubber)

        #expect(reason == "entry 0 (GET https://a/x): response.content.text has 0 of 1234 bytes")
    }

    @Test func redirectContentCanBeMissing() async throws {
        let text = #"""
            {"log":{"entries":[{"request":{"method":"GET","url":"https://a/x"},"response":{"status":302,
            "headers":[{"name":"location","value":"/y"}],"content":{"size":12,"mimeType":"x-unknown"}}}]}}
            """#
        let stubber = HTTPStubber()
        stubber.replay(try HTTPArchive(data: Data(text.utf8)))
        stubber.stub(.path("/y")).respond(with: .text("there"))

        #expect(try await fetch("https://a/x", on: stubber) == "there")
    }

    @Test func archiveIsRecordedOnceThenReplayed() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).har")
        defer { try? FileManager.default.removeItem(at: file) }
        let server = try MockServer { .text("from \($0.path)") }
        let url = server.url("/x").absoluteString
        func run(_ mode: ArchiveTransport.Mode = .automatic) async throws -> (String, Bool) {
            let archive = try ArchiveTransport(file, mode: mode)
            let request = HTTPRequest(url: URL(string: url)!)
            let data = try await request.fetch(on: HTTPClient(transport: archive))
            #expect(archive.requests.map(\.path) == ["/x"])
            try archive.save()
            return (String(decoding: data, as: UTF8.self), archive.isRecording)
        }

        #expect(throws: (any Error).self) { try ArchiveTransport(file, mode: .replay) }
        #expect(try await run() == ("from /x", true))
        #expect(try await run() == ("from /x", false))
        #expect(try await run(.replay) == ("from /x", false))
        #expect(server.requests.count == 1)
        #expect(try await run(.record) == ("from /x", true))
        #expect(server.requests.count == 2)
    }
}
