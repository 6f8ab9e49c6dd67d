// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct TransportsTests {
    final class Greeting: HTTPTransport {
        var capabilities: TransportCapabilities { .concurrentDelivery }

        func send(
            _ request: TransportRequest,
            receive: @escaping @Sendable (TransferEvent) -> Void
        ) -> any TransferHandle {
            receive(.head(HTTPResponseHead(status: .ok, url: request.url)))
            receive(.data(Data("hello".utf8)))
            receive(.end(nil))
            return Over()
        }

        final class Over: TransferHandle {
            func cancel() {}
        }
    }

    struct TextRequest: DataRequest {
        typealias Success = String
        var identifier: String { "text" }

        func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
            completion(.success(URLRequest(url: api)))
        }

        func processData(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
    }

    @Test func trustPolicyIsLoadedFromFiles() throws {
        let authorityFile = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        let identityFile = authorityFile.appendingPathExtension("p12")
        defer { for file in [authorityFile, identityFile] { try? FileManager.default.removeItem(at: file) } }
        try Data(Self.authority.utf8).write(to: authorityFile)
        try Data([0x30, 0x80, 0x02, 0x01, 0x03]).write(to: identityFile)
        let currentKey = try TrustPolicy.Certificate(pem: Self.authority)
        let nextKey = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        let password = "secret"

        let trust = try TrustPolicy.system
            .adding([TrustPolicy.Certificate(contentsOf: authorityFile)])
            .pinning(
                [TrustPolicy.PublicKeyPin(currentKey), TrustPolicy.PublicKeyPin(nextKey)],
                forHosts: ["api.example.com", "*.internal.example.com"]
            )
            .presenting(
                TrustPolicy.ClientIdentity(contentsOf: identityFile, password: password),
                toHosts: ["api.example.com"]
            )

        #expect(trust != .system)
    }

    static let authority = """
        -----BEGIN CERTIFICATE-----
        MIIBfzCCASWgAwIBAgIUIr0AcPe7v0c5hsz2wwSEhoByXkAwCgYIKoZIzj0EAwIw
        FTETMBEGA1UEAwwKZWMuZXhhbXBsZTAeFw0yNjExMjExMDMzMjdaFw0zNjExMTgx
        MDMzMjdaMBUxEzARBgNVBAMMCmVjLmV4YW1wbGUwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAATGJ/72cVBZtevMBdv/azuCro3I6Q/qSrdE/gBvehwFmNGCP5ZGGfF5
        gtzSpVfArQwxAJkzQCsD2XG//tS14A+Go1MwUTAdBgNVHQ4EFgQU1XrBznh1iVNb
        fLz0HWQqwzZkVDkwHwYDVR0jBBgwFoAU1XrBznh1iVNbfLz0HWQqwzZkVDkwDwYD
        VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiB3KCsIVExXPslYksWBjNMj
        gMEcH4NQkJZa6SbvfDo+AgIhALf6/sNBSSUJOVUZrntHHMliWtD9EF3nZS1s/VY1
        806v
        -----END CERTIFICATE-----
        """

    #if os(Linux)
    @Test func libcurlIsConfigured() async throws {
        var configuration = CurlTransport.Configuration()
        configuration.connectTimeout = .seconds(5)
        configuration.maximumConnectionsPerHost = 32
        let client = HTTPClient(baseURL: api, transport: CurlTransport(configuration: configuration))

        #expect(try await client.fetch(Get<Recipe>("recipes/1")).name == "Pancakes")
    }
    #endif

    @Test func urlSessionIsTransport() async {
        let queue = OperationQueue()
        queue.isSuspended = true
        queue.addRequest(RecipeRequest(recipeID: 1), session: .shared)  // URLSession.shared
        queue.addRequest(RecipeRequest(recipeID: 1), session: URLSession(configuration: .ephemeral))
        queue.addRequest(RecipeRequest(recipeID: 1))  // the platform's best
        let operations = queue.operations.compactMap { $0 as? RequestOperation<RecipeRequest> }
        queue.isSuspended = false

        #expect(operations.count == 3)
        for operation in operations { #expect((try? await operation.value().name) == "Pancakes") }
    }

    #if os(Linux)
    @Test func transportReportsItsUsage() async {
        let transport = CurlTransport()
        func print(_ line: String) { #expect(line == "0 connections in use, 0 requests wait") }

        let usage = await transport.usage
        let used = usage.openConnections - usage.idleConnections
        print("\(used) connections in use, \(usage.waitingRequests) requests wait")
    }
    #endif

    @Test func transportRequiresOneMethod() async throws {
        #expect(try await OperationQueue().fetch(TextRequest(), session: Greeting()) == "hello")
    }
}
