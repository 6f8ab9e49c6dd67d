// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import AsyncHTTPClientTransport
import Foundation
import HummingbirdCore
import HummingbirdHTTP2
import HummingbirdTLS
import RequestsConformance
import RequestsTesting
import Testing

/// The recipe follows the rules of a transport with an independent server too: HTTP/1.1, and HTTP/2 over TLS.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HummingbirdConformanceTests {
    private static let identity = Result { try ServerIdentity() }
    private static let plain = Task { try await ConformanceServer.start(.http1()).port }
    private static let secure = Task {
        try await ConformanceServer.start(.http2Upgrade(tlsConfiguration: identity.get().ofServer)).port
    }

    static let checks = TransportConformance.checks.filter { !$0.needsMockServer }

    @Test func thereAreChecks() {
        #expect(Self.checks.count > 30)
    }

    @Test(arguments: checks)
    func recipeConformsOverHTTP1(_ check: TransportConformance.Check) async throws {
        let address = try await "http://localhost:\(Self.plain.value)"
        try await expectPassed(check, at: address) { AsyncHTTPClientTransport() }
    }

    @Test(arguments: checks)
    func recipeConformsOverHTTP2(_ check: TransportConformance.Check) async throws {
        let address = try await "https://localhost:\(Self.secure.value)"
        let trust = try Self.identity.get().ofClient
        try await expectPassed(check, at: address) {
            var configuration = AsyncHTTPClientTransport.Client.Configuration()
            configuration.tlsConfiguration = trust
            return AsyncHTTPClientTransport(configuration: configuration)
        }
    }

    /// A check may be skipped only for a capability that the transport doesn't claim, never for one that the server
    /// lacks.
    private func expectPassed(
        _ check: TransportConformance.Check,
        at address: String,
        over makeTransport: @Sendable () -> AsyncHTTPClientTransport
    ) async throws {
        try await check.run(on: makeTransport, at: try #require(URL(string: address)))
    }
}
