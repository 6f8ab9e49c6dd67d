// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import RequestsWebSockets
import Testing

/// The handshake is a request like any other.
@Suite(.bounded) struct WebSocketHandshakeTests {
    private let server: MockServer

    init() throws {
        server = try MockServer { _ in .webSocket { try $0.echo() } }
    }

    private func address(_ scheme: String, _ path: String = "") throws -> URL {
        try #require(URL(string: "\(scheme)://127.0.0.1:\(server.port)\(path)"))
    }

    /// Masks must be unpredictable (RFC 6455, 10.3), and the caller's code must not run while a message is sent.
    @Test func maskingDoesNotUseClientRandomSource() async throws {
        let numbers = Recorder<Void>()
        let client = HTTPClient(baseURL: server.url) {
            $0.random = RandomSource {
                numbers.record(())
                return 0
            }
        }
        let socket = try await client.webSocket("")
        let count = numbers.count

        for _ in 0..<3 { try await socket.send("hello") }

        #expect(numbers.count == count)
        await socket.close()
    }

    @Test(arguments: ["ws", "http", "WS"])
    func baseURLAcceptsHTTPAndWSSchemes(_ scheme: String) async throws {
        let socket = try await HTTPClient(baseURL: address(scheme, "/v1")).webSocket("rooms/\(7)")
        await socket.close()

        let request = try #require(server.requests.first)
        #expect(request.path == "/v1/rooms/7")
        #expect(request.method == .get)
        #expect(request.headers[.upgrade] == "websocket")
        #expect(request.headers[.connection] == "Upgrade")
        #expect(request.headers["Sec-WebSocket-Version"] == "13")
        #expect(Data(base64Encoded: request.headers["Sec-WebSocket-Key"] ?? "")?.count == 16)
        #expect(request.headers[.transferEncoding] == nil)
        #expect(request.headers[.contentLength] == nil)
        #expect(request.headers["Sec-WebSocket-Extensions"] == nil)
    }

    @Test func baseURLStringAcceptsWSScheme() async throws {
        let client = try HTTPClient(baseURL: "ws://127.0.0.1:\(server.port)")

        try await client.webSocket("").close()

        #expect(server.requestCount == 1)
    }

    @Test func sameOriginAbsoluteURLInheritsHeaders() async throws {
        let client = HTTPClient(baseURL: try address("http")) { $0.headers[.authorization] = "Bearer t" }

        try await client.webSocket(HTTPRequest(url: try address("ws", "/x"))).close()

        #expect(server.requests.first?.headers[.authorization] == "Bearer t")
    }

    @Test func handshakeKeysAreUnique() async throws {
        let client = HTTPClient(baseURL: server.url)
        for _ in 0..<3 { try await client.webSocket("").close() }

        #expect(Set(server.requests.map { $0.headers["Sec-WebSocket-Key"] }).count == 3)
        #expect(server.connectionCount == 3)
    }

    @Test func subprotocolIsNegotiated() async throws {
        server.route(.get, "/chat", .webSocket(protocol: "chat.v1") { try $0.echo() })

        let socket = try await HTTPClient(baseURL: server.url).webSocket("chat", protocols: ["chat.v2", "chat.v1"])
        await socket.close()

        #expect(socket.negotiatedProtocol == "chat.v1")
        #expect(server.requests.first?.headers["Sec-WebSocket-Protocol"] == "chat.v2, chat.v1")
    }

    @Test(arguments: ["a b", "", "a\r\nX: y"])
    func invalidSubprotocolIsRejected(_ name: String) async throws {
        let error = await #expect(throws: RequestError.self) {
            try await HTTPClient(baseURL: server.url).webSocket("", protocols: [name])
        }

        #expect(error?.code == .invalidRequest)
        #expect(server.connectionCount == 0)
    }

    @Test func nonGETMethodsAndBodiesAreRejected() async throws {
        let client = HTTPClient(baseURL: server.url)
        for request in [HTTPRequest(method: .post, "x"), HTTPRequest("x", body: .text("y"))] {
            let error = await #expect(throws: RequestError.self) { try await client.webSocket(request) }
            #expect(error?.code == .invalidRequest)
        }
        #expect(server.connectionCount == 0)
    }

    @Test func errorForOrdinaryPageNamesRequiredStatus() async throws {
        let pages = try MockServer { _ in .text("hello") }

        let error = await #expect(throws: RequestError.self) { try await HTTPClient(baseURL: pages.url).webSocket("") }

        #expect(
            error?.description
                == "unacceptableStatus (200 OK) while validating for GET \(pages.url.absoluteString): "
                + "a WebSocket requires 101 Switching Protocols"
        )
    }

    @Test func rejectionErrorContainsResponse() async throws {
        server.route(.get, "/closed", .text("no room", status: .forbidden).header("X-Why", "full"))

        let error = await #expect(throws: RequestError.self) {
            try await HTTPClient(baseURL: server.url).webSocket("closed")
        }

        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.status == .forbidden)
        #expect(error?.response?.headers["X-Why"] == "full")
        #expect(error?.body == Data("no room".utf8))
    }

    @Test(arguments: [
        StubResponse.text("a page"), .status(.noContent), .status(.ok).truncated(after: 0), .text("a page").closing,
    ])
    func successStatusOtherThan101Fails(_ answer: StubResponse) async throws {
        server.route(.get, "/page", answer)
        let client = HTTPClient(baseURL: server.url)

        let error = await #expect(throws: RequestError.self) { try await client.webSocket("page") }

        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.status.category == .success)
        try await eventually { client.operations.isEmpty }
    }

    @Test(arguments: [
        "HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: AAAA\r\n\r\n",
        "HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        "HTTP/1.1 101 S\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n", "HTTP/1.1 101 S\r\n\r\n\u{81}\u{1}x",
    ])
    func invalidUpgradeResponseFails(_ answer: String) async throws {
        server.route(.get, "/bad", .raw(answer, keepsAlive: true))
        let client = HTTPClient(baseURL: server.url)

        let error = await #expect(throws: RequestError.self) { try await client.webSocket("bad") }

        #expect(error?.code == .badResponse)
        #expect(error?.response?.status == .switchingProtocols)
        try await server.awaitConnections(open: 0)
    }

    /// RFC 6455, 4.1: the version must be at least 1.1.
    @Test(arguments: ["1.0", "1.1"]) func handshakeRequiresHTTP11(_ version: String) async throws {
        // The accept value for a key of zeros.
        let accept = "ICX+Yqv66kxgM0FcWaLWlFLwTAI="
        let fields = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: \(accept)\r\n\r\n"
        server.route(.get, "/old", .raw("HTTP/\(version) 101 S\r\n\(fields)", keepsAlive: true))
        let client = HTTPClient(baseURL: server.url) { $0.random = RandomSource { 0 } }

        let socket = try? await client.webSocket("old")

        #expect((socket != nil) == (version == "1.1"))
    }

    @Test(arguments: [
        "Sec-WebSocket-Extensions: permessage-deflate", "Sec-WebSocket-Extensions: \", permessage-deflate",
        "Sec-WebSocket-Protocol: other",
    ])
    func unofferedExtensionOrProtocolFails(_ field: String) async throws {
        let parts = field.split(separator: ":").map { $0.trimmingCharacters(in: .whitespaces) }
        let answer = StubResponse.webSocket { try $0.echo() }.header(HTTPField.Name(parts[0]), parts[1])
        server.route(.get, "/more", answer)

        let error = await #expect(throws: RequestError.self) {
            try await HTTPClient(baseURL: server.url).webSocket("more", protocols: ["chat"])
        }

        #expect(error?.code == .badResponse)
        #expect(error?.reason?.isEmpty == false)
    }

    @Test func transportWithoutUpgradesFails() async throws {
        let client = HTTPClient(baseURL: server.url)
        let stubbed = InMemoryTransport { _ in .status(.switchingProtocols) }
        #if os(Linux)
        let transports: [any HTTPTransport] = [stubbed, URLSession.shared]
        #else
        let transports: [any HTTPTransport] = [stubbed]
        #endif

        for transport in transports {
            let error = await #expect(throws: RequestError.self) {
                try await client.webSocket("", session: transport)
            }
            #expect(error?.code == .unsupported)
        }
        #expect(server.connectionCount == 0)
    }

    @Test func handshakeRefreshesCredential() async throws {
        server.route(.get, "/private") { request in
            request.headers[.authorization] == "Bearer new"
                ? .webSocket { try $0.echo() } : .status(.unauthorized).header(.wwwAuthenticate, "Bearer")
        }
        let authenticator = TokenAuthenticator { _ in "new" }
        let client = HTTPClient(baseURL: server.url) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old")]
        }

        let socket = try await client.webSocket("private")
        await socket.close()

        #expect(server.requests.map { $0.headers[.authorization] } == ["Bearer old", "Bearer new"])
        #expect(Set(server.requests.map { $0.headers["Sec-WebSocket-Key"] }).count == 2)
    }

    @Test func cookiesAreSentAndStored() async throws {
        server.route(.get, "/login", .text("hi").header(.setCookie, "a=1; Path=/"))
        server.route(.get, "/room", .webSocket { try $0.echo() }.header(.setCookie, "b=2; Path=/"))
        let client = HTTPClient(baseURL: server.url)

        _ = try await client.send(HTTPRequest("login"))
        for _ in 0..<2 { try await client.webSocket("room").close() }

        #expect(server.requests.map { $0.headers[.cookie] } == [nil, "a=1", "a=1; b=2"])
    }

    @Test func handshakeFollowsRedirectPolicy() async throws {
        server.route(.get, "/old", .redirect(to: "/new", status: .temporaryRedirect))
        server.route(.get, "/new", .webSocket { try $0.echo() })
        let client = HTTPClient(baseURL: server.url)

        try await client.webSocket("old").close()
        let refusing = client.inheriting { $0.redirect = .refuse }
        let error = await #expect(throws: RequestError.self) { try await refusing.webSocket("old") }

        #expect(server.requests.map(\.path) == ["/old", "/new", "/old"])
        #expect(error?.response?.status == .temporaryRedirect)
    }

    @Test(arguments: ["ws", "WS", "http"]) func redirectToWebSocketURLIsFollowed(_ scheme: String) async throws {
        server.route(
            .get,
            "/old",
            .redirect(to: "\(scheme)://127.0.0.1:\(server.port)/new", status: .temporaryRedirect)
        )
        server.route(.get, "/new", .webSocket { try $0.echo() })
        let client = HTTPClient(baseURL: server.url)

        try await client.webSocket("old").close()

        #expect(server.requests.map(\.path) == ["/old", "/new"])
        guard scheme != "http" else { return }
        // For any other request, the URL of a socket isn't a valid redirect target.
        let error = await #expect(throws: RequestError.self) { try await client.send(HTTPRequest("old")) }
        #expect(error?.code == .badRedirect)
    }

    @Test(arguments: [
        ("https", "wss://other.example/new", "https://other.example/new"), ("https", "/new", "https://api.example/new"),
        ("http", "wss://api.example/new", "https://api.example/new"),
        ("http", "ws", "http://api.example/ws"), ("http", "wss", "http://api.example/wss"), ("http", "ws:///", nil),
        ("https", "ws://api.example/new", nil), ("https", "http://api.example/new", nil),
    ])
    func redirectFromWSSToWSIsRejected(_ scheme: String, _ location: String, _ next: String?) async throws {
        let transport = ManualTransport([.upgrades, .concurrentDelivery])
        let client = HTTPClient(baseURL: URL(string: "\(scheme)://api.example"), transport: transport)
        let socket = Task { try await client.webSocket("old") }
        let head = HTTPResponseHead(status: .found, headers: [.location: location])
        let transfer = try await transport.awaitTransfer()
        transfer.receive(.head(head))
        transfer.receive(.end(nil))

        if let next {
            let second = try await transport.awaitTransfer(count: 2)
            #expect(second.request.url.absoluteString == next)
            second.receive(.end(RequestError(.closed, phase: .sending)))
            await #expect(throws: RequestError.self) { try await socket.value }
        } else {
            let error = await #expect(throws: RequestError.self) { try await socket.value }
            #expect(error?.code == .badRedirect || error?.code == .redirectRefused)
            #expect(transport.transfers.count == 1)
        }
    }

    /// A 101 response has no content.
    @Test func contentValidatorAcceptsHandshake() async throws {
        let client = HTTPClient(baseURL: server.url) { $0.validators = [.content] }

        let socket = try await client.webSocket("")

        await socket.close()
    }

    /// The transfer of the handshake is released at its end, whatever the response.
    @Test(arguments: ["/open", "/closed", "/bad", "/nowhere"])
    func handshakeTransferIsReleased(_ path: String) async throws {
        let census = Census()
        server.route(.get, "/open", .webSocket { try $0.echo() })
        server.route(.get, "/closed", .status(.forbidden))
        server.route(.get, "/bad", .raw("HTTP/1.1 101 S\r\n\r\n", keepsAlive: true))
        server.route(.get, "/nowhere", .reset)
        let transport = CountedTransport(HTTPClient.defaultTransport, census)

        do {
            let client = HTTPClient(baseURL: server.url, transport: transport)
            await (try? client.webSocket(HTTPRequest("\(raw: path)")))?.close()
        }

        await census.extinction()
    }

    @Test func interceptorModifiesHandshakeAndSeesResponse() async throws {
        let statuses = Recorder<HTTPStatus>()
        let client = HTTPClient(baseURL: server.url) {
            $0.interceptors = [
                .adapting { request in request.headers["X-Signed"] = "yes" },
                .intercepting { request, next in
                    let answer = try await next(request)
                    statuses.record(answer.status)
                    return answer
                },
            ]
        }

        let socket = try await client.webSocket("")

        // The interceptor has seen the response although the socket is still open.
        #expect(statuses.elements == [.switchingProtocols])
        #expect(server.requests.first?.headers["X-Signed"] == "yes")
        await socket.close()
    }

    @Test func proxyTunnelsHandshake() async throws {
        // The response to CONNECT keeps the connection open for the handshake.
        let proxy = try MockServer { request in
            request.method == .connect
                ? .raw("HTTP/1.1 200 OK\r\n\r\n", keepsAlive: true) : .webSocket { try $0.echo() }
        }
        #if os(Linux)
        var configuration = CurlTransport.Configuration()
        configuration.proxy = proxy.url.absoluteString
        let client = HTTPClient(transport: CurlTransport(configuration: configuration))

        let socket = try await client.webSocket("ws://rooms.example/a")
        try await socket.send("through")
        #expect(try await socket.next(1) == [.text("through")])
        await socket.close()

        #expect(proxy.requests.map(\.method) == [.connect, .get])
        #expect(proxy.requests.first?.target == "rooms.example:80")
        #expect(proxy.requests.last?.target == "/a")
        #endif
    }
}

/// A transport that counts its retained receivers.
private final class CountedTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let census: Census

    init(_ base: any HTTPTransport, _ census: Census) {
        (self.base, self.census) = (base, census)
    }

    var capabilities: TransportCapabilities { base.capabilities }

    func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        base.send(request) { [life = census.life()] event in withExtendedLifetime(life) { receive(event) } }
    }
}
