// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import RequestsWebSockets
import Testing

/// The header fields that are sent to another origin, however the request gets there.
@Suite(.bounded) struct CrossOriginHeaderTests {
    private static let api = URL(string: "https://api.example.com/v1")!

    /// A server that redirects from `/v1/moved` to the URL in the query, and responds to all other requests with 200.
    private let server = InMemoryTransport { request in
        let items = URLComponents(url: request.url, resolvingAgainstBaseURL: true)?.queryItems ?? []
        guard let target = items.first(where: { $0.name == "to" })?.value else { return .text("ok") }
        return .redirect(to: target, status: request.method == .get ? .found : .temporaryRedirect)
    }

    private func client(_ configure: (inout RequestEnvironment) -> Void = { _ in }) -> HTTPClient {
        HTTPClient(baseURL: Self.api, transport: server, configure)
    }

    /// The fields of the last request, except for those that every request has.
    private func received() throws -> HTTPHeaders {
        var headers = try #require(server.requests.last).headers
        headers.removeAll { HTTPHeaders.default.contains($0) }
        return headers
    }

    private static func moved(to target: String, _ headers: HTTPHeaders = []) -> HTTPRequest {
        HTTPRequest("moved", query: ["to": target]).headers(headers)
    }

    static let identifying: [HTTPField.Name] = [
        "X-Token-V2", "X-User-ID", "X-Tenant", "X-Vendor", "X-Requested-With", "X-Forwarded-User", "Stripe-Account",
        "Referer", "Origin", "From", "X-Request-ID",
    ]
    static let harmless: [HTTPField.Name] = [
        "Accept", "Accept-Language", "User-Agent", "Range", "If-None-Match", "If-Range", "Cache-Control", "Pragma",
        "Prefer", "Expect", "TE", "Priority", "traceparent", "tracestate", "Idempotency-Key",
    ]

    @Test(arguments: identifying) func crossOriginRedirectWithholdsField(_ name: HTTPField.Name) async throws {
        let request = Self.moved(to: "https://cdn.example.net/file", [HTTPField(name, "value")])

        let response = try await client().send(request)

        #expect(server.requests.count == 2 && server.requests.first?.headers[name] == "value")
        #expect(try received()[name] == nil)
        #expect(response.transfers.last?.withheldHeaders == [name])
    }

    @Test(arguments: harmless) func harmlessFieldFollowsRedirect(_ name: HTTPField.Name) async throws {
        let response = try await client().send(
            Self.moved(to: "https://cdn.example.net/file", [HTTPField(name, "value")]).acceptingAnyStatus()
        )

        #expect(try received()[name] == "value" && response.transfers.last?.withheldHeaders == [])
    }

    /// A presigned URL, an upload, and a site that redirects to its canonical host.
    @Test func commonCrossOriginRedirectsWork() async throws {
        let client = client { $0.redirect = .follow(sendingBodyToOtherOrigins: true) }
        let range: HTTPHeaders = ["Range": "bytes=5-", .authorization: "Bearer t"]
        _ = try await client.send(Self.moved(to: "https://bucket.example.net/k?X-Amz-Signature=s", range))
        #expect(try received() == ["Range": "bytes=5-"])

        var upload = Self.moved(to: "https://upload.example.net/k", ["Content-Language": "en", "X-Kind": "a"])
        (upload.method, upload.body) = (.put, .text("body"))
        _ = try await client.send(upload)
        let sent = try received()
        #expect(sent[.contentType] == "text/plain; charset=utf-8" && sent["Content-Language"] == "en")
        #expect(sent["X-Kind"] == nil)

        let apex = client.inheriting { $0.baseURL = URL(string: "https://example.com") }
        _ = try await apex.send(Self.moved(to: "https://www.example.com/", ["X-Kind": "a"]))
        #expect(try received() == [:])
    }

    @Test func contentFieldsAreDroppedWithBody() async throws {
        var request = Self.moved(to: "/v1/other", ["Content-Digest": "sha-256=:x:", "Repr-Digest": "y", "X-Kind": "a"])
        (request.method, request.body) = (.post, .text("body"))
        let seeOther = InMemoryTransport { request in
            request.method == .post ? .redirect(to: "/v1/other", status: .seeOther) : .text("ok")
        }
        _ = try await HTTPClient(baseURL: Self.api, transport: seeOther).send(request)

        let sent = try #require(seeOther.requests.last).headers
        #expect(sent["Content-Digest"] == nil && sent["Repr-Digest"] == nil && sent[.contentType] == nil)
        #expect(sent["X-Kind"] == "a")
    }

    // MARK: Allowed fields

    @Test func allowedFieldFollowsToOtherOrigin() async throws {
        let request = Self.moved(to: "https://cdn.example.net/file", ["X-Vendor": "a", "X-Other": "b"])

        _ = try await client().send(request.options { $0.crossOriginHeaders = ["x-vendor"] })
        #expect(try received() == ["X-Vendor": "a"])

        let client = client { $0.crossOriginHeaders = ["X-Vendor"] }
        _ = try await client.send(request)
        #expect(try received() == ["X-Vendor": "a"])

        // A field of the client, for a URL that the caller chose.
        let vendor = client.inheriting { $0.headers = ["X-Vendor": "c", "X-Other": "d"] }
        _ = try await vendor.send(HTTPRequest("https://cdn.example.net/file"))
        #expect(try received() == ["X-Vendor": "c"])
    }

    @Test(arguments: ["Authorization", "Proxy-Authorization", "Cookie", "Host"] as [HTTPField.Name])
    func credentialsCannotBeAllowedCrossOrigin(_ name: HTTPField.Name) async throws {
        let request = Self.moved(to: "https://cdn.example.net/file", [HTTPField(name, "api.example.com")])

        let response = try await client { $0.crossOriginHeaders = [name] }.send(request)

        #expect(try received() == [:] && response.transfers.last?.withheldHeaders == [name])
    }

    @Test func withheldFieldIsNotRestored() async throws {
        let back = InMemoryTransport { request in
            switch request.url.host() {
            case "api.example.com" where request.url.path() == "/v1/moved": .redirect(to: "https://other.example/")
            case "other.example": .redirect(to: "https://api.example.com/v1/back")
            default: .text("ok")
            }
        }
        let client = HTTPClient(baseURL: Self.api, transport: back) { $0.headers = ["X-Client": "a"] }
        let response = try await client.send(HTTPRequest("moved").headers(["X-Tenant": "t", .accept: "*/*"]))

        #expect(back.requests.last?.headers == [.accept: "*/*"])
        #expect(response.transfers.map(\.withheldHeaders) == [[], ["X-Client", "X-Tenant"], []])
    }

    // MARK: From http to https

    @Test func httpsUpgradeWithholdsOnlyCredentials() async throws {
        let headers: HTTPHeaders = [
            "X-Tenant": "t", "X-Requested-With": "a", .authorization: "Bearer t", "X-API-Key": "k", .cookie: "a=b",
        ]
        let client = client { $0.baseURL = URL(string: "http://api.example.com/v1") }

        let response = try await client.send(Self.moved(to: "https://api.example.com/v1/other", headers))
        #expect(try received() == ["X-Tenant": "t", "X-Requested-With": "a"])
        #expect(response.transfers.last?.withheldHeaders == [.authorization, "X-API-Key", .cookie])

        for target in ["https://api.example.com:8443/", "https://www.api.example.com/"] {
            _ = try await client.send(Self.moved(to: target, headers))
            #expect(try received() == [:], "\(target)")
        }
    }

    // MARK: Host

    @Test func hostFieldFollowsOnlyWithinOrigin() async throws {
        let request = Self.moved(to: "/v1/other", [.host: "virtual.example"])
        _ = try await client().send(request)
        #expect(try received() == [.host: "virtual.example"])

        _ = try await client().send(Self.moved(to: "https://other.example/", [.host: "virtual.example"]))
        #expect(try received() == [:])
    }

    @Test func clientHostFieldIsNotSentToOtherOrigins() async throws {
        let client = client { $0.headers = [.host: "virtual.example", "X-Tenant": "t", .accept: "*/*"] }
        let address: HTTPRequest.Path = "https://other.example/file"
        _ = try await client.send(HTTPRequest("file"))
        #expect(try received() == [.host: "virtual.example", "X-Tenant": "t", .accept: "*/*"])

        let sending: [@Sendable () async throws -> Void] = [
            { _ = try await client.send(HTTPRequest(address)) },
            { _ = try await client.fetch(Download(HTTPRequest(address), to: .temporary)) },
            { for try await _ in try await client.stream(HTTPRequest(address)) {} },
            {
                let nested = ClosureInterceptor(
                    adapt: { _, context in _ = try await context.send(HTTPRequest(address)) }
                )
                _ = try await client.send(HTTPRequest("file").intercepted(by: nested))
            },
        ]
        for (index, send) in sending.enumerated() {
            try await send()
            let elsewhere = server.requests.filter { $0.url.host() == "other.example" }
            let names = elsewhere.last?.headers.names.filter { $0 != .acceptEncoding }
            #expect(elsewhere.count == index + 1 && names == [.accept], "\(index)")
        }
    }

    @Test func curlCommandShowsSentFields() throws {
        let client = client { $0.headers = [.host: "virtual.example", "X-Tenant": "t", .accept: "text/x"] }

        let command = try client.cURL(HTTPRequest("https://other.example/file").headers(["X-Own": "o"]))

        #expect(command.contains("text/x") && command.contains("X-Own: o"))
        #expect(!command.contains("X-Tenant") && !command.contains("virtual"))
    }

    // MARK: Interceptors

    @Test func adaptToOtherHostDropsClientFields() async throws {
        let client = client {
            $0.headers = ["X-Client": "a", .accept: "*/*"]
            $0.interceptors = [
                ClosureInterceptor(adapt: { request, _ in request.headers["X-Trace"] = "b" }),
                ClosureInterceptor(adapt: { request, _ in
                    request.url = URL(string: "https://mirror.example/file")!
                    request.headers["X-Mirror"] = "c"
                }),
                ClosureInterceptor(adapt: { request, _ in request.headers["X-Later"] = "d" }),
            ]
        }
        let response = try await client.send(HTTPRequest("file").headers(["X-Own": "o"]))

        #expect(try received() == [.accept: "*/*", "X-Own": "o", "X-Mirror": "c", "X-Later": "d"])
        #expect(response.transfers.last?.withheldHeaders == ["X-Client", "X-Trace"])
    }

    @Test func interceptToOtherHostDropsClientFields() async throws {
        let client = client {
            $0.headers = ["X-Client": "a", .accept: "*/*"]
            $0.interceptors = [
                .intercepting { request, next in
                    var mirrored = request
                    mirrored.url = URL(string: "https://mirror.example/file")!
                    mirrored.headers["X-Mirror"] = "c"
                    return try await next(mirrored)
                }
            ]
        }
        _ = try await client.send(HTTPRequest("file").headers(["X-Own": "o"]))

        #expect(try received() == [.accept: "*/*", "X-Own": "o", "X-Mirror": "c"])
    }

    /// A copy of the request, including the fields that the client and earlier interceptors have added.
    @Test func copySentToOtherHostDropsClientFields() async throws {
        let mirroring = ClosureInterceptor(
            adapt: { request, context in
                var copy = request
                copy.url = URL(string: "https://mirror.example/file")!
                copy.headers["X-Mirror"] = "c"
                _ = try await context.send(copy)
                copy.url = URL(string: "/v1/copy", relativeTo: request.url)!.absoluteURL
                _ = try await context.send(copy)
            }
        )
        let client = client {
            $0.headers = ["X-Client": "a", .accept: "*/*"]
            $0.interceptors = [
                ClosureInterceptor(adapt: { request, _ in
                    if request.headers["X-Mirror"] == nil { request.headers[.authorization] = "Bearer t" }
                }), mirroring,
            ]
        }
        let response = try await client.send(HTTPRequest("file").headers(["X-Own": "o"]))

        let mirrored = try #require(server.requests.first { $0.url.host() == "mirror.example" })
        #expect(mirrored.headers == [.accept: "*/*", "X-Own": "o", "X-Mirror": "c"])
        let copied = try #require(server.requests.first { $0.url.path() == "/v1/copy" })
        #expect(copied.headers["X-Client"] == "a" && copied.headers[.authorization] == "Bearer t")

        // Copies the fields into a new request, as a token refresh may do.
        let copying = ClosureInterceptor(adapt: { request, context in
            let url = URL(string: "https://mirror.example/refresh")!
            if request.headers["X-Mirror"] == nil {
                var headers = request.headers
                headers["X-Mirror"] = "c"
                _ = try await context.send(HTTPRequest(url: url, headers: headers))
            }
        })
        let other = client.inheriting { $0.interceptors[1] = copying }
        _ = try await other.send(HTTPRequest("file").headers(["X-Own": "o"]))
        let refreshed = try #require(server.requests.first { $0.url.path() == "/refresh" })
        #expect(refreshed.headers == [.accept: "*/*", "X-Own": "o", "X-Mirror": "c"])

        // Another client sends the request of a response again.
        let sent = try #require(response.transfers.last).request
        _ = try await HTTPClient(transport: server).send(sent)
        #expect(try received()[.authorization] == "Bearer t")
        var moved = sent
        moved.host = "mirror.example"
        _ = try await HTTPClient(transport: server).send(moved)
        #expect(try received() == [.accept: "*/*", "X-Own": "o"])
    }

    /// The names that public APIs use for credentials, users and their own settings, except for `Accept-…` fields,
    /// which describe what the caller can read.
    @Test(arguments: FieldSample.fields.filter { $0.kind != .harmless && !$0.name.hasPrefix("Accept-") })
    func knownAPIFieldsAreWithheldCrossOrigin(_ sample: FieldSample) async throws {
        let name = HTTPField.Name(sample.name)
        let response = try await client().send(Self.moved(to: "https://other.example/", [HTTPField(name, "value")]))

        #expect(server.requests.first?.headers[name] == "value" && server.requests.last?.headers[name] == nil)
        #expect(response.transfers.last?.withheldHeaders == [name])
    }

    /// The subprotocol of a socket may be a token, since a browser can't set `Authorization` there.
    @Test func webSocketProtocolsAreWithheldCrossOrigin() async throws {
        let socket = InMemoryTransport { request in
            request.url.host() == "api.example.com" ? .redirect(to: "https://edge.example/") : .status(.forbidden)
        }
        let client = HTTPClient(baseURL: Self.api, transport: UpgradingTransport(base: socket))
        let token = "bearer." + String(repeating: "t", count: 40)

        let error = await #expect(throws: RequestError.self) {
            _ = try await client.webSocket("socket", protocols: ["v1", token])
        }

        #expect(socket.requests.map { $0.headers["Sec-WebSocket-Protocol"] } == ["v1, \(token)", nil])
        #expect(socket.requests.allSatisfy { $0.headers[.upgrade] == "websocket" })
        #expect(error?.transfers.last?.withheldHeaders == ["Sec-WebSocket-Protocol"])
        let first = try #require(error?.transfers.first)
        let command = try first.request.cURL()
        #expect(!"\(first.request.headers)".contains(token) && !command.contains(token))
    }

    @Test func interceptorChangingHostDropsHostField() async throws {
        let client = client { $0.interceptors = [.adapting { $0.host = "mirror.example" }] }

        _ = try await client.send(HTTPRequest("file").headers([.host: "virtual.example", "X-Own": "o"]))

        #expect(try received() == ["X-Own": "o"])
    }

    // MARK: Descriptions

    @Test func recordsNameWithheldFields() async throws {
        let recorder = RecordingMonitor()
        let refusing = InMemoryTransport { request in
            request.url.host() == "api.example.com" ? .redirect(to: "https://cdn.example.net/") : .status(.forbidden)
        }
        let client = HTTPClient(baseURL: Self.api, transport: refusing) { $0.monitors = [recorder] }
        let note = "not sent to this origin: X-Vendor, X-Tenant"

        let error = try await #require(throws: RequestError.self) {
            try await client.send(HTTPRequest("file").headers(["X-Vendor": "hush", "X-Tenant": "hush"]))
        }

        #expect(error.transfers.map(\.withheldHeaders) == [[], ["X-Vendor", "X-Tenant"]])
        let texts = [
            "\(error)", try #require(error.transfers.last).description, recorder.timeline.text(),
            String(decoding: recorder.timeline.har(), as: UTF8.self),
        ]
        for text in texts {
            #expect(text.components(separatedBy: note).count == 2, "\(text)")
        }
    }

    @Test func lastEventIDFollowsToOtherOrigin() async throws {
        let events = InMemoryTransport { request in
            guard request.url.host() != "api.example.com" else { return .redirect(to: "https://edge.example/events") }
            return .status(.ok, headers: [.contentType: "text/event-stream"], body: Data("id: 8\ndata: x\n\n".utf8))
        }
        let client = HTTPClient(baseURL: Self.api, transport: events) { $0.headers = ["X-Tenant": "t"] }
        let request = HTTPRequest("events").headers(["X-Own": "o"])

        for try await _ in client.serverSentEvents(request, lastEventID: "7", reconnection: .never) {}

        let sent = try #require(events.requests.last).headers
        #expect(sent[.lastEventID] == "7" && sent[.accept] == "text/event-stream")
        #expect(sent["X-Own"] == nil && sent["X-Tenant"] == nil)
    }
}

/// A transport that claims to support WebSockets, but never opens one.
private final class UpgradingTransport: HTTPTransport {
    let base: InMemoryTransport

    init(base: InMemoryTransport) { self.base = base }

    var capabilities: TransportCapabilities { base.capabilities.union(.upgrades) }

    func send(_ request: TransportRequest, receive: @escaping @Sendable (TransferEvent) -> Void) -> any TransferHandle {
        base.send(request, receive: receive)
    }
}
