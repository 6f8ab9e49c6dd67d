// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

/// The address of httpbin from `Scripts/interop`; `nil` in any other run.
private enum HTTPBin {
    static let url = ProcessInfo.processInfo.environment["REQUESTS_INTEROP_HTTPBIN"].flatMap { URL(string: $0) }
}

extension OverLoopback {
    /// Challenges of httpbin, with each transport.
    @Suite(
        .bounded,
        .enabled(if: HTTPBin.url != nil, "Scripts/interop starts httpbin")
    )
    struct InteropDigestTests {
        private func makeClients(_ password: String) -> [HTTPClient] {
            func configure(_ environment: inout RequestEnvironment) {
                environment.interceptors = [
                    ChallengeInterceptor { _, _ in URLCredential(user: "u", password: password, persistence: .none) }
                ]
            }
            return [HTTPClient(configure), HTTPClient(configuration: .ephemeral, configure)]
        }

        @Test(arguments: ["auth", "auth-int"], ["MD5", "SHA-256", "SHA-512"])
        func authenticatesWithEachDigestVariant(protection: String, algorithm: String) async throws {
            let url = try #require(HTTPBin.url).appending(path: "digest-auth/\(protection)/u/p/\(algorithm)")
            for client in makeClients("p") {
                for count in [2, 1] {
                    let response = try await client.send(Call(url))
                    #expect(response.text.contains(#""authenticated": true"#) && response.transfers.count == count)
                }
            }
            for client in makeClients("wrong") {
                let error = await #expect(throws: RequestError.self) { try await client.send(Call(url)) }
                #expect(error?.response?.status == .unauthorized)
            }
        }

        @Test func staleNonceIsReplaced() async throws {
            let url = try #require(HTTPBin.url).appending(path: "digest-auth/auth/u/p/MD5/2")
            for client in makeClients("p") {
                for _ in 1...6 { #expect(try await client.send(Call(url)).status == .ok) }
            }
        }

        @Test func basicCredentialsAreSentPreemptively() async throws {
            let url = try #require(HTTPBin.url).appending(path: "basic-auth/u/p")
            for client in makeClients("p") {
                for count in [2, 1] { #expect(try await client.send(Call(url)).transfers.count == count) }
            }
        }
    }
}
