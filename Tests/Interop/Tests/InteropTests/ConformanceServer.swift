// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Hummingbird
import HummingbirdCore

/// A Hummingbird server with the routes that `TransportConformance` requires, and one more.
enum ConformanceServer {
    /// Runs a server on its own port while the body runs.
    static func run(_ server: HTTPServerBuilder, _ body: (Int) async throws -> Void) async throws {
        let (running, port) = try await start(server)
        defer { running.cancel() }
        try await body(port)
    }

    /// Starts a server, which runs until its task is cancelled.
    ///
    /// NIO ends the process if that happens while a connection is accepted. Requests in quick succession, as by the
    /// checks, should therefore leave the server running.
    static func start(_ server: HTTPServerBuilder) async throws -> (Task<Void, any Error>, port: Int) {
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: router(),
            server: server,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) }
        )
        let running = Task {
            defer { continuation.finish() }
            try await application.run()
        }
        guard let port = await ports.first(where: { _ in true }) else { throw NotRunning() }
        return (running, port)
    }

    struct NotRunning: Error {}

    private static func router() -> Router<BasicRequestContext> {
        let router = Router(options: .autoGenerateHeadEndpoints)
        addAnswers(to: router)
        addSilences(to: router)
        for method in [HTTPRequest.Method.get, .post, .put, .patch, .delete] {
            router.on("/echo", method: method) { request, _ in
                Response(status: .ok, body: .init(asyncSequence: request.body))
            }
        }
        return router
    }

    private static func addAnswers(to router: Router<BasicRequestContext>) {
        router.get("/text") { _, _ in "text" }
        router.get("/seen") { request, _ in
            request.headers.map { "\($0.name.canonicalName): \($0.value)\n" }.joined()
        }
        router.get("/status/:code") { _, context in
            let code = try context.parameters.require("code", as: Int.self)
            let body = [204, 304].contains(code) ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(string: "why"))
            return Response(status: .init(code: code), body: body)
        }
        router.get("/redirect/:code") { _, context in
            let code = try context.parameters.require("code", as: Int.self)
            return Response(status: .init(code: code), headers: [.location: "/text"])
        }
        router.get("/fields") { _, _ in
            Response(status: .ok, headers: [.init("X-A")!: "1", .init("X-B")!: "3", .init("X-A")!: "2"])
        }
        router.get("/login") { _, _ in Response(status: .ok, headers: [.setCookie: "conformance=1; Path=/"]) }
        router.get("/gzip") { _, _ in
            Response(
                status: .ok,
                headers: [.contentEncoding: "gzip"],
                body: .init(byteBuffer: ByteBuffer(bytes: compressedPancakes))
            )
        }
        // An invalid status, which no client may accept.
        router.get("/unfit") { _, _ in Response(status: .init(code: 99)) }
    }

    private static func addSilences(to router: Router<BasicRequestContext>) {
        router.get("/stalled") { _, _ in
            await silence()
            return ""
        }
        router.post("/upload") { _, _ in
            await silence()
            return ""
        }
        router.get("/begun") { _, _ in
            Response(
                status: .ok,
                body: .init(contentLength: 100) { writer in
                    try await writer.write(ByteBuffer(string: "0123456789"))
                    await silence()
                    try await writer.finish(nil)
                }
            )
        }
        router.get("/drip") { _, _ in
            Response(
                status: .ok,
                body: .init(contentLength: 8) { writer in
                    for number in 0..<8 {
                        try await Task.sleep(for: .milliseconds(100))
                        try await writer.write(ByteBuffer(string: "\(number)"))
                    }
                    try await writer.finish(nil)
                }
            )
        }
        router.get("/flood/:count") { _, context in
            let count = try context.parameters.require("count", as: Int.self)
            let piece = ByteBuffer(repeating: 0x78, count: 1 << 16)
            return Response(
                status: .ok,
                body: .init(contentLength: count << 16) { writer in
                    for _ in 0..<count { try await writer.write(piece) }
                    try await writer.finish(nil)
                }
            )
        }
    }

    /// Returns when the task is cancelled, which happens when the client disconnects.
    private static func silence() async {
        for await _ in AsyncStream<Never>.makeStream().stream {}
    }

    /// `{"name":"Pancakes"}`, compressed with gzip.
    private static let compressedPancakes: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xAB, 0x56, 0xCA, 0x4B, 0xCC, 0x4D, 0x55, 0xB2,
        0x52, 0x0A, 0x48, 0xCC, 0x4B, 0x4E, 0xCC, 0x4E, 0x2D, 0x56, 0xAA, 0x05, 0x00, 0x4A, 0xA4, 0xF9, 0xC3, 0x13,
        0x00, 0x00, 0x00,
    ]
}
