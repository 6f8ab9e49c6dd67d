// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import AsyncHTTPClientTransport
import Foundation
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import HummingbirdTLS
import NIOSSL
import Requests
import RequestsTesting
import Synchronization
import Testing

/// The recipe against a server that isn't ours: HTTP/1.1, and HTTP/2 over TLS.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HummingbirdTests {
    @Test func plainConnectionSpeaksHTTP1() async throws {
        try await withServer(.http1()) { port in
            let transport = AsyncHTTPClientTransport()
            try await exchange(over: transport, "http://localhost:\(port)", expecting: "http/1.1")
            try await control(over: transport, "http://localhost:\(port)")
        }
    }

    @Test func secureConnectionSpeaksHTTP2() async throws {
        let identity = try Identity()
        let server = try HTTPServerBuilder.http2Upgrade(tlsConfiguration: identity.ofServer)
        try await withServer(server) { port in
            var configuration = AsyncHTTPClientTransport.Client.Configuration()
            configuration.tlsConfiguration = identity.ofClient
            let transport = AsyncHTTPClientTransport(configuration: configuration)
            try await exchange(over: transport, "https://localhost:\(port)", expecting: "h2")
            try await control(over: transport, "https://localhost:\(port)")
        }
    }

    @Test func strangerIsUntrusted() async throws {
        let server = try HTTPServerBuilder.http2Upgrade(tlsConfiguration: Identity().ofServer)
        try await withServer(server) { port in
            let answer = try await Answer(over: AsyncHTTPClientTransport(), "https://localhost:\(port)/text")
            #expect(answer.error?.code == .untrusted)
        }
    }

    /// One request, then 64 at once, each with its own content.
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

        // A status that ends the process in the client alone, and then a sign that it didn't.
        #expect(try await Answer(over: transport, "\(base)/unfit").error?.code == .badResponse)
        #expect(try await Answer(over: transport, "\(base)/text").text == "text")
    }

    /// An answer that doesn't come, and one that comes too fast.
    private func control(over transport: AsyncHTTPClientTransport, _ base: String) async throws {
        let late = try Call(over: transport, "\(base)/stalled", timeout: .milliseconds(200))
        #expect(await late.answer().error?.code == .timedOut)
        let unwanted = try Call(over: transport, "\(base)/stalled")
        unwanted.transfer.cancel()
        #expect(await unwanted.answer().error?.code == .cancelled)

        let flood = try Call(over: transport, "\(base)/flood")
        flood.transfer.pause()
        // Other transfers go on, and while they do, the flood would have come to its end.
        for _ in 0..<64 { #expect(try await Answer(over: transport, "\(base)/text").text == "text") }
        #expect(flood.size < Self.floodSize / 2)
        flood.transfer.resume()
        #expect(await flood.answer().error == nil)
        #expect(flood.size == Self.floodSize)

        let dammed = try Call(over: transport, "\(base)/flood")
        dammed.transfer.pause()
        dammed.transfer.cancel()
        #expect(await dammed.answer().error?.code == .cancelled)
        #expect(try await Answer(over: transport, "\(base)/text").text == "text")
    }

    private static let floodSize = 64 << 20

    private func withServer(_ server: HTTPServerBuilder, _ body: (Int) async throws -> Void) async throws {
        let router = Router()
        router.get("/text") { _, _ in "text" }
        router.get("/stalled") { _, _ in
            for await _ in AsyncStream<Never>.makeStream().stream {}
            return ""
        }
        router.get("/flood") { _, _ in
            let piece = ByteBuffer(repeating: 0x78, count: 1 << 16)
            return Response(
                status: .ok,
                body: .init { writer in
                    for _ in 0..<(Self.floodSize / piece.readableBytes) { try await writer.write(piece) }
                    try await writer.finish(nil)
                }
            )
        }
        router.get("/unfit") { _, _ in Response(status: .init(code: 99)) }
        router.post("/echo") { request, _ in Response(status: .ok, body: .init(asyncSequence: request.body)) }
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: router,
            server: server,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) }
        )
        let running = Task { try await application.run() }
        defer { running.cancel() }
        let port = try #require(await ports.first { _ in true })
        try await body(port)
    }
}

/// One request on its way.
private final class Call: Sendable {
    let transfer: any Transfer
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

    /// How much has come.
    var size: Int { log.answer.withLock { $0.content.count } }

    func answer() async -> Answer {
        await log.end.stream.first { _ in true } ?? Answer()
    }
}

/// What came of one request.
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
        case .informational, .sent, .head: break
        }
    }
}

/// A certificate for localhost that is its own authority, made anew by OpenSSL.
private struct Identity {
    let ofServer: TLSConfiguration
    let ofClient: TLSConfiguration

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (key, certificate) = (folder.appendingPathComponent("key.pem"), folder.appendingPathComponent("cert.pem"))
        let openssl = Process()
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        openssl.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", key.path, "-out", certificate.path, "-days", "2", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost",
        ]
        openssl.standardError = FileHandle.nullDevice
        try openssl.run()
        openssl.waitUntilExit()
        let chain = try NIOSSLCertificate.fromPEMFile(certificate.path)
        ofServer = .makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: key.path, format: .pem))
        )
        var client = TLSConfiguration.makeClientConfiguration()
        client.trustRoots = .certificates(chain)
        ofClient = client
    }
}
