// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import AsyncHTTPClientTransport
import Foundation
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import HummingbirdTLS
import Requests
import RequestsTesting
import Synchronization
import Testing

/// The recipe with an independent server: HTTP/1.1, and HTTP/2 over TLS.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HummingbirdTests {
    @Test func plainConnectionSpeaksHTTP1() async throws {
        try await ConformanceServer.run(.http1()) { port in
            let transport = AsyncHTTPClientTransport()
            try await exchange(over: transport, "http://localhost:\(port)", expecting: "http/1.1")
            try await control(over: transport, "http://localhost:\(port)")
        }
    }

    @Test func secureConnectionSpeaksHTTP2() async throws {
        let identity = try ServerIdentity()
        let server = try HTTPServerBuilder.http2Upgrade(tlsConfiguration: identity.ofServer)
        try await ConformanceServer.run(server) { port in
            var configuration = AsyncHTTPClientTransport.Client.Configuration()
            configuration.tlsConfiguration = identity.ofClient
            let transport = AsyncHTTPClientTransport(configuration: configuration)
            try await exchange(over: transport, "https://localhost:\(port)", expecting: "h2")
            try await control(over: transport, "https://localhost:\(port)")
        }
    }

    @Test func strangerIsUntrusted() async throws {
        let server = try HTTPServerBuilder.http2Upgrade(tlsConfiguration: ServerIdentity().ofServer)
        try await ConformanceServer.run(server) { port in
            let answer = try await Answer(over: AsyncHTTPClientTransport(), "https://localhost:\(port)/text")
            #expect(answer.error?.code == .untrusted)
        }
    }

    /// Sends one request, then 64 at once, each with its own content.
    private func exchange(over transport: AsyncHTTPClientTransport, _ base: String, expecting: String) async throws {
        let first = try await Answer(over: transport, "\(base)/text")
        #expect(first.error == nil)
        #expect(first.text == "text")
        #expect(first.networkProtocol == expecting)

        let answers = try await withThrowingTaskGroup(of: (Int, Answer).self) { group in
            for number in 0..<64 {
                group.addTask {
                    let body = HTTPBody.data(Data("\(number)".utf8) + Data(repeating: 0x78, count: 20_000))
                    return (number, try await Answer(over: transport, "\(base)/echo", .post, body: body))
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        for (number, answer) in answers {
            #expect(answer.error == nil)
            #expect(answer.text == "\(number)" + String(repeating: "x", count: 20_000))
            #expect(answer.networkProtocol == expecting)
        }

        // A status that would end the process in the client alone; the request after it shows that it didn't.
        #expect(try await Answer(over: transport, "\(base)/unfit").error?.code == .badResponse)
        #expect(try await Answer(over: transport, "\(base)/text").text == "text")
    }

    /// Tests a response that never comes, and one that comes too fast.
    private func control(over transport: AsyncHTTPClientTransport, _ base: String) async throws {
        let late = try Call(over: transport, "\(base)/stalled", timeout: .milliseconds(200))
        #expect(await late.answer().error?.code == .timedOut)
        let unwanted = try Call(over: transport, "\(base)/stalled")
        unwanted.transfer.cancel()
        #expect(await unwanted.answer().error?.code == .cancelled)

        let flood = try Call(over: transport, "\(base)/flood/1024")
        flood.transfer.pause()
        // Other transfers continue; without the pause, the flood would have ended meanwhile.
        for _ in 0..<64 { #expect(try await Answer(over: transport, "\(base)/text").text == "text") }
        #expect(flood.size < Self.floodSize / 2)
        flood.transfer.resume()
        #expect(await flood.answer().error == nil)
        #expect(flood.size == Self.floodSize)

        let dammed = try Call(over: transport, "\(base)/flood/1024")
        dammed.transfer.pause()
        dammed.transfer.cancel()
        #expect(await dammed.answer().error?.code == .cancelled)
        #expect(try await Answer(over: transport, "\(base)/text").text == "text")
    }

    private static let floodSize = 64 << 20
}

/// One request under way.
private final class Call: Sendable {
    let transfer: any TransferHandle
    private let log: Log

    private final class Log: Sendable {
        let answer = Mutex(Answer())
        let end = AsyncStream.makeStream(of: Answer.self)
    }

    init(
        over transport: any HTTPTransport,
        _ url: String,
        _ method: HTTPMethod = .get,
        body: HTTPBody = .none,
        timeout: Duration? = nil
    ) throws {
        let request = Requests.HTTPRequest(url: try #require(URL(string: url)), method: method, body: body)
        let log = Log()
        self.log = log
        transfer = transport.send(TransportRequest(request, timeout: timeout)) { event in
            log.answer.withLock { $0.note(event) }
            if case .end = event { log.end.continuation.yield(log.answer.withLock { $0 }) }
        }
    }

    /// The byte count of the content so far.
    var size: Int { log.answer.withLock { $0.content.count } }

    func answer() async -> Answer {
        await log.end.stream.first { _ in true } ?? Answer()
    }
}

/// The outcome of one request.
private struct Answer: Sendable {
    var content = Data()
    var error: RequestError?
    var networkProtocol: String?

    var text: String { String(decoding: content, as: UTF8.self) }

    init() {}

    init(
        over transport: any HTTPTransport,
        _ url: String,
        _ method: HTTPMethod = .get,
        body: HTTPBody = .none
    ) async throws {
        self = try await Call(over: transport, url, method, body: body).answer()
    }

    mutating func note(_ event: TransferEvent) {
        switch event {
        case .data(let data): content += data
        case .metrics(let metrics): networkProtocol = metrics.networkProtocol
        case .end(let error): self.error = error
        case .informational, .sent, .head, .trailers: break
        }
    }
}
