// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct HTTPStubberSessionTests {
    private let stubber = HTTPStubber()
    private let url = URL(string: "https://api.example.com/users/7")!

    private func configuration(_ stubber: HTTPStubber) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        stubber.install(in: configuration)
        return configuration
    }

    private func load(_ request: URLRequest, in session: URLSession) async throws -> (Data, HTTPURLResponse) {
        try await withCheckedThrowingContinuation { continuation in
            session.dataTask(with: request) { data, response, error in
                if let response = response as? HTTPURLResponse, let data, error == nil {
                    continuation.resume(returning: (data, response))
                } else {
                    continuation.resume(throwing: error ?? URLError(.unknown))
                }
            }.resume()
        }
    }

    @Test func stubsDataTask() async throws {
        stubber.stub(.get, "/users/{id}") { request in
            .json(#"{"id": \#(request["id"] ?? "")}"#, status: .accepted, headers: ["X-Stub": "1"])
        }
        let session = URLSession(configuration: configuration(stubber))
        defer { session.finishTasksAndInvalidate() }

        let (data, response) = try await load(URLRequest(url: url), in: session)

        #expect(String(decoding: data, as: UTF8.self) == #"{"id": 7}"#)
        #expect(response.statusCode == 202)
        #expect(response.value(forHTTPHeaderField: "X-Stub") == "1")
    }

    @Test func drippedContentIsComplete() async throws {
        let content = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0) })
        stubber.stub().respond(with: .data(content).dripping(by: 100, every: .milliseconds(1)))
        let session = URLSession(configuration: configuration(stubber))
        defer { session.finishTasksAndInvalidate() }

        #expect(try await load(URLRequest(url: url), in: session).0 == content)
    }

    @Test func requestContentIsVisible() async throws {
        stubber.stub(.method(.post)).respond(with: .echo)
        let session = URLSession(configuration: configuration(stubber))
        defer { session.finishTasksAndInvalidate() }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"

        request.httpBody = Data("data".utf8)
        let data = try await load(request, in: session).0
        request.httpBody = nil
        request.httpBodyStream = InputStream(data: Data("stream".utf8))
        let streamed = try await load(request, in: session).0

        #expect([data, streamed] == [Data("data".utf8), Data("stream".utf8)])
        #expect(stubber.requests.map(\.text) == ["data", "stream"])
    }

    @Test func cookiesFollowSessionConfiguration() async throws {
        let headers: HTTPHeaders = [
            .setCookie: "a=1; Path=/", .setCookie: "b=2; Path=/; Expires=Thu, 01 Jan 2099 00:00:00 GMT",
        ]
        stubber.stub(.path("/login")).respond(with: .status(.ok, headers: headers))
        stubber.stub().respond(with: .text("in"))
        let configuration = configuration(stubber)
        let (session, other) = (
            URLSession(configuration: configuration), URLSession(configuration: self.configuration(stubber))
        )
        defer { for session in [session, other] { session.finishTasksAndInvalidate() } }

        _ = try await load(URLRequest(url: try #require(URL(string: "/login", relativeTo: url))), in: session)
        for session in [session, other] { _ = try await load(URLRequest(url: url), in: session) }

        // Foundation doesn't document the order.
        let sent = stubber.requests.map { $0.headers[.cookie].map { Set($0.components(separatedBy: "; ")) } }
        #expect(sent == [nil, ["a=1", "b=2"], nil])
        #expect(configuration.httpCookieStorage?.cookies?.map(\.name).sorted() == ["a", "b"])
    }

    /// The client has its own jar in place of the shared storage.
    @Test func clientCookiesStayInItsOwnJar() async throws {
        stubber.stub().respond(with: .status(.ok, headers: [.setCookie: "stubbed=1; Path=/"]))
        let configuration = URLSessionConfiguration.default
        stubber.install(in: configuration)
        let client = HTTPClient(baseURL: url, configuration: configuration)

        for _ in 0..<2 { _ = try await HTTPRequest(url: url).fetch(on: client) }

        #expect(stubber.requests.map { $0.headers[.cookie] } == [nil, "stubbed=1"])
        #expect(HTTPCookieStorage.shared.cookies?.contains { $0.name == "stubbed" } != true)
    }

    @Test func delayIsBoundByRequestTimeout() async throws {
        let (patient, hasty) = (configuration(stubber), URLSessionConfiguration.ephemeral)
        hasty.timeoutIntervalForRequest = 0.02
        stubber.install(in: hasty)
        stubber.stub().respond(with: .text("late").delayed(by: .milliseconds(100)))
        let sessions = [patient, hasty].map { URLSession(configuration: $0) }
        defer { for session in sessions { session.finishTasksAndInvalidate() } }

        let data = try await load(URLRequest(url: url), in: sessions[0]).0
        let error = await #expect(throws: URLError.self) { try await load(URLRequest(url: url), in: sessions[1]) }

        #expect(String(decoding: data, as: UTF8.self) == "late")
        #expect(error?.code == .timedOut)
        let impatient = URLRequest(url: url, timeoutInterval: 0.02)
        let own = await #expect(throws: URLError.self) { try await load(impatient, in: sessions[0]) }
        #expect(own?.code == .timedOut)
    }

    #if canImport(FoundationNetworking)
    @Test func hiddenUploadBodyIsNotTreatedAsEmpty() async throws {
        stubber.stub(.path("/any")).respond(with: .status(.created))
        stubber.stub(.path("/body"), .body(Data())).respond(with: .status(.ok))
        stubber.stub(.path("/body"), .not(.body("x"))).respond(with: .status(.ok))
        stubber.stub(.path("/network")).passThrough()
        let session = URLSession(configuration: configuration(stubber))
        defer { session.finishTasksAndInvalidate() }

        var ends: [String] = []
        for path in ["/any", "/body", "/network"] {
            var request = URLRequest(url: URL(string: path, relativeTo: url)!)
            request.httpMethod = "PUT"
            let sent = request
            ends.append(
                await withCheckedContinuation { continuation in
                    session.uploadTask(with: sent, from: Data("hidden".utf8)) { _, response, error in
                        let status = (response as? HTTPURLResponse)?.statusCode
                        continuation.resume(returning: status.map(String.init) ?? error?.localizedDescription ?? "")
                    }.resume()
                }
            )
        }

        #expect(ends[0] == "201")
        #expect(ends[1].contains("the content of an upload task isn't available on this platform"))
        #expect(ends[2].contains("can't be passed through"))
    }

    @Test func downloadTaskFailsInsteadOfCrashing() async throws {
        stubber.stub()
        let delegate = SessionRecorder()
        let session = URLSession(configuration: configuration(stubber), delegate: delegate, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }

        session.downloadTask(with: url).resume()
        try await delegate.ended.wait()

        #expect(delegate.text.contains("a download task can't be stubbed on this platform"))
    }
    #endif

    @Test func errorsAreURLErrors() async throws {
        stubber.stub(.path("/offline")).respond(with: .offline)
        stubber.stub(.path("/dropped")).respond(with: .text("hello").reset(after: 2))
        let session = URLSession(configuration: configuration(stubber))
        defer { session.finishTasksAndInvalidate() }

        for (path, code) in [
            ("/offline", URLError.Code.notConnectedToInternet), ("/dropped", .networkConnectionLost),
            ("/other", .cannotLoadFromNetwork),
        ] {
            let request = URLRequest(url: URL(string: path, relativeTo: url)!)
            let error = await #expect(throws: URLError.self) { try await load(request, in: session) }
            #expect(error?.code == code)
            if path == "/other" {
                #expect(error?.localizedDescription.contains("): the path is /other, not /offline") == true)
            }
        }
    }

    @Test func authenticationChallengeCompletes() async throws {
        stubber.stub(.path("/basic")).respond(
            with: .status(.unauthorized, headers: [.wwwAuthenticate: #"Basic realm="x""#], body: Data("no".utf8))
        )
        stubber.stub(.path("/bearer")).respond(with: .status(.unauthorized, headers: [.wwwAuthenticate: "Bearer"]))
        let session = URLSession(configuration: configuration(stubber))
        defer { session.finishTasksAndInvalidate() }

        for path in ["/basic", "/bearer"] {
            let (_, response) = try await load(URLRequest(url: URL(string: path, relativeTo: url)!), in: session)
            #expect(response.statusCode == 401)
        }
    }

    @Test func delegateCallbacksArriveInOrder() async throws {
        stubber.stub().respond(with: .text("hello").dripping(by: 2))
        let delegate = SessionRecorder()
        let session = URLSession(configuration: configuration(stubber), delegate: delegate, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }

        session.dataTask(with: url).resume()
        try await delegate.ended.wait()

        #expect(delegate.text == "200 hello end")
    }

    @Test func cancellingTaskStopsResponse() async throws {
        let clock = ManualClock()
        let stubber = HTTPStubber(clock: clock)
        stubber.stub().respond(with: .text("hello").delayed(by: .seconds(5)))
        let delegate = SessionRecorder()
        let session = URLSession(configuration: configuration(stubber), delegate: delegate, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }

        let task = session.dataTask(with: url)
        task.resume()
        try await clock.waitForSleepers()
        task.cancel()
        try await delegate.ended.wait()

        #expect(delegate.text == "cancelled")
        // The session stops the protocol on a thread of its own, with or after the report to the delegate.
        try await eventually { clock.sleeperCount == 0 }
    }

    @Test func suspendedTaskGetsResponseAfterResume() async throws {
        let clock = ManualClock()
        let stubber = HTTPStubber(clock: clock)
        stubber.stub().respond(with: .text("hello").delayed(by: .seconds(5)))
        let delegate = SessionRecorder()
        let session = URLSession(configuration: configuration(stubber), delegate: delegate, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }

        let task = session.dataTask(with: url)
        task.resume()
        try await clock.waitForSleepers()
        task.suspend()
        task.resume()
        task.suspend()
        clock.advance(by: .seconds(5))
        task.resume()
        try await delegate.ended.wait()

        #expect(delegate.text == "200 hello end")
        #expect(stubber.requests.count == 1)
    }

    @Test func clientUsesStubbedSession() async throws {
        stubber.stub(.post, "/a").respond(with: .redirect(to: "/b", status: .temporaryRedirect))
        stubber.stub(.post, "/b").respond(with: .echo)
        let transport = URLSessionTransport(configuration: configuration(stubber))
        let client = HTTPClient(baseURL: url, transport: transport)
        let request = HTTPRequest(url: URL(string: "/a", relativeTo: url)!.absoluteURL, method: .post, body: .text("x"))

        let response = try await request.send(on: client)

        #expect(response.body == Data("x".utf8))
        #expect(stubber.requests.map(\.path) == ["/a", "/b"])
    }

    @Test func passThroughRequestUsesNetwork() async throws {
        let network = InMemoryTransport { .status(.ok, body: $0.body) }
        let stubber = HTTPStubber(unhandledMode: .passThrough, network: network)
        let session = URLSession(configuration: configuration(stubber))
        defer { session.finishTasksAndInvalidate() }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: Data("stream".utf8))

        #expect(try await load(request, in: session).0 == Data("stream".utf8))
    }

    @Test func deallocatedStubberFailsRequest() async throws {
        let configuration = configuration(HTTPStubber())
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }

        let error = await #expect(throws: URLError.self) { try await load(URLRequest(url: url), in: session) }

        #expect(error?.localizedDescription.contains("deallocated") == true)
    }

    @Test func concurrentSessionsUseTheirOwnStubber() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<Scale.pick(8, whole: 64) {
                group.addTask {
                    let stubber = HTTPStubber()
                    stubber.stub(.get, "/{n}") { .text("\(index) \($0["n"] ?? "")") }.expectingCalls(20)
                    let session = URLSession(configuration: configuration(stubber))
                    defer { session.finishTasksAndInvalidate() }
                    try await withThrowingTaskGroup(of: Void.self) { tasks in
                        for round in 0..<20 {
                            tasks.addTask {
                                let request = URLRequest(url: URL(string: "https://a.example/\(round)")!)
                                let (data, _) = try await load(request, in: session)
                                #expect(String(decoding: data, as: UTF8.self) == "\(index) \(round)")
                            }
                        }
                        try await tasks.waitForAll()
                    }
                    try stubber.verify()
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func cancellationRacesResponse() async throws {
        stubber.stub().respond(with: .text("hello").dripping(by: 1))
        for _ in 0..<Scale.races {
            let delegate = SessionRecorder()
            let session = URLSession(configuration: configuration(stubber), delegate: delegate, delegateQueue: nil)
            defer { session.finishTasksAndInvalidate() }
            let task = session.dataTask(with: url)
            task.resume()
            await Task.yield()
            task.cancel()
            try await delegate.ended.wait()
            #expect(["200 hello end", "cancelled", "200 cancelled", "200 hello cancelled"].contains(delegate.text))
        }
    }
}

/// The events that the delegate of a session receives.
private final class SessionRecorder: NSObject, URLSessionDataDelegate, Sendable {
    let ended = Gate()
    private let words = Locked<(status: String, data: Data, end: [String])>(("", Data(), []))

    var text: String {
        words.withLock { words in
            ([words.status, String(decoding: words.data, as: UTF8.self)] + words.end).filter { !$0.isEmpty }
                .joined(separator: " ")
        }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        words.withLock { $0.status = "\(status)" }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        words.withLock { $0.data += data }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let end = error.map { ($0 as? URLError)?.code == .cancelled ? "cancelled" : "\($0)" } ?? "end"
        words.withLock { $0.end.append(end) }
        ended.open()
    }
}
