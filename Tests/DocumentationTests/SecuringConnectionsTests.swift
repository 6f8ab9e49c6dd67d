// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct SecuringConnectionsTests {
    private let currentKey = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
    private let nextKey = "sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="

    @Test func clientPinsPublicKeys() throws {
        let trust = try TrustPolicy.system.pinning(
            [TrustPolicy.PublicKeyPin(currentKey), TrustPolicy.PublicKeyPin(nextKey)],
            forHosts: ["api.example.com"]
        )
        let client = HTTPClient(baseURL: URL(string: "https://api.example.com")) { $0.trust = trust }

        #expect(client.environment.trust == trust)
    }

    @Test func requestsOverrideTrust() async throws {
        let transport = InMemoryTransport { _ in .status(.noContent) }
        let client = HTTPClient(baseURL: URL(string: "https://localhost:8443"), transport: transport)

        let trust = try TrustPolicy.system.insecurelyAcceptingAnyCertificate(forHosts: ["localhost"])
        let probe = Get<Void>("health").trust(trust)

        try await client.fetch(probe)
        #expect(transport.requests.map(\.transportRequest?.trust) == [trust])
    }

    #if os(Linux)
    @Test func unsupportedRequestFailsBeforeSending() async throws {
        let server = try MockServer { _ in .noContent }
        let client = HTTPClient(baseURL: server.url, configuration: .ephemeral) {
            $0.trust = TrustPolicy.system.requiring(.tls13)
        }

        await #expect { try await client.fetch(Get<Void>("health")) } throws: {
            ($0 as? RequestError)?.code == .unsupported
        }
        #expect(server.connectionCount == 0)
    }
    #endif

    @Test func secretsStayWithinOrigin() async throws {
        let key = "s3cret"
        let (here, there) = (try MockServer(), try MockServer { _ in .noContent })
        here.route(.get, "/photos/1", .redirect(to: there.url("/photos/1").absoluteString))

        let client = HTTPClient(baseURL: here.url) {
            $0.sensitiveHeaders = ["X-Member"]
            $0.crossOriginHeaders = ["X-Edition"]
            $0.headers["X-Member"] = key
            $0.headers["X-Edition"] = "beta"
            $0.redirect = .follow(limit: 3)
        }

        let response = try await client.send(Get<Void>("photos", "1"))
        #expect(here.requests.map { $0.headers["X-Member"] } == [key])
        #expect(there.requests.map { $0.headers["X-Member"] } == [nil])
        #expect(there.requests.map { $0.headers["X-Edition"] } == ["beta"])
        #expect(response.transfers.last?.withheldHeaders == ["X-Member"])
        #expect(try response.cURL()?.contains(key) == false)
    }

    @Test func redirectModifiersAreApplied() async throws {
        let (here, there) = (try MockServer(), try MockServer { _ in .noContent })
        here.route(.post, "/uploads", .redirect(to: there.url("/u").absoluteString, status: .temporaryRedirect))
        let client = HTTPClient(baseURL: here.url)
        let upload = Post<Void>("uploads").body(.text("photo"))

        await #expect { try await client.fetch(upload) } throws: { ($0 as? RequestError)?.code == .redirectRefused }

        let trusting = upload.redirect(.follow(sendingBodyToOtherOrigins: true))
        let near = upload.redirect(.follow(withinOrigin: true))
        let strict = upload.redirect(.refuse)
        try await client.fetch(trusting)
        #expect(there.requests.map(\.body) == [Data("photo".utf8)])
        #expect(near.options.redirect?.staysWithinOrigin == true)
        await #expect { try await client.fetch(strict) } throws: {
            ($0 as? RequestError)?.response?.status == .temporaryRedirect
        }
    }

    @Test func cookiesBelongToClient() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try MockServer { _ in .status(.noContent, headers: [.setCookie: "a=1; Max-Age=600"]) }

        let jar = try CookieJar(file: folder.appending(path: "cookies.json"))
        let client = HTTPClient(baseURL: server.url) { $0.cookies = jar }

        try await client.fetch(Get<Void>("1"))
        try await client.fetch(Get<Void>("2"))
        #expect(server.requests.map { $0.headers[.cookie] } == [nil, "a=1"])
    }

    @Test func signaturesAreTreatedAsSecrets() async throws {
        struct Key: Sendable {
            func signature(of request: HTTPRequest) -> String { "signed \(request.url.path)" }
        }
        let server = try MockServer { _ in .noContent }
        let (client, key) = (HTTPClient(baseURL: server.url), Key())

        client.configure {
            $0.interceptors.append(.signing { $0.headers["X-Signature"] = key.signature(of: $0) })
        }

        try await client.fetch(Get<Void>("orders"))
        #expect(server.requests.map { $0.headers["X-Signature"] } == ["signed /orders"])
    }
}
