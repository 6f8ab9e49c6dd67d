// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// Client certificates, for servers that request them and for servers that require them.
    @Suite(
        .bounded,
        .enabled(if: InteropServers.current != nil, "Scripts/interop starts the servers")
    )
    struct InteropIdentityTests {
        let servers: InteropServers

        init() throws {
            servers = try #require(InteropServers.current)
        }

        @Test func presentsIdentityOfEachFormat() async throws {
            let text = try servers.text("client.pem")
            let encrypted = try servers.text("client-encrypted.key")
            let identities = [
                try servers.identity("client"),
                try TrustPolicy.ClientIdentity(pem: text + encrypted, password: "secret"),
                try TrustPolicy.ClientIdentity(contentsOf: servers.file("client.p12"), password: "secret"),
            ]

            for identity in identities {
                let answer = try await servers.ask(.clients, trust: servers.authority.presenting(identity))
                #expect(answer.verification == "SUCCESS")
                #expect(answer.client == "CN=interop-client")
            }
            #expect(try await servers.ask(.clients, trust: servers.authority).verification == "NONE")
        }

        @Test(arguments: [InteropServers.Server.asking12, .asking13])
        func requiredIdentityIsPresented(server: InteropServers.Server) async throws {
            let trust = try servers.authority.presenting(servers.identity("client"))
            #expect(try await servers.refusal(server, trust: trust) == nil)
        }

        @Test(arguments: [
            (InteropServers.Server.asking12, "the TLS handshake failed; the server may require a client certificate"),
            (.asking13, "the server requires a client certificate"),
        ])
        func missingIdentityIsReported(server: InteropServers.Server, reason: String) async throws {
            for _ in 0..<10 {
                let error = try await servers.refusal(server, trust: servers.authority)
                #expect(error?.code == .untrusted)
                #expect(error?.reason?.hasPrefix("\(reason): ") == true, "\(error?.reason ?? "none")")
            }
        }

        @Test(arguments: [InteropServers.Server.asking12, .asking13])
        func untrustedIdentityIsRejected(server: InteropServers.Server) async throws {
            let trust = try servers.authority.presenting(servers.identity("intruder"))
            for _ in 0..<10 {
                let error = try await servers.refusal(server, trust: trust)
                #expect(error?.code == .untrusted)
                #expect(
                    error?.reason?.hasPrefix("the server rejected the client certificate: ") == true,
                    "\(error?.reason ?? "none")"
                )
                #expect((error?.underlying as? URLError)?.code == .clientCertificateRejected)
            }
        }

        @Test func optionalIdentityIsJudgedByServer() async throws {
            let trust = try servers.authority.presenting(servers.identity("intruder"))
            #expect(try await servers.refusal(.clients, trust: trust)?.response?.status == .badRequest)
        }

        @Test func unusableIdentityIsReported() async throws {
            let text = try servers.text("client.pem")
            let encrypted = try servers.text("client-encrypted.key")
            let container = try Data(contentsOf: servers.file("client.p12"))
            let identities = [
                try TrustPolicy.ClientIdentity(pem: text + servers.text("intruder.key")),
                try TrustPolicy.ClientIdentity(pem: text + encrypted, password: "wrong"),
                try TrustPolicy.ClientIdentity(pem: text + encrypted),
                try TrustPolicy.ClientIdentity(pkcs12: container, password: "wrong"),
                try TrustPolicy.ClientIdentity(pkcs12: container),
                try TrustPolicy.ClientIdentity(pkcs12: container.dropLast(100), password: "secret"),
            ]

            for (index, identity) in identities.enumerated() {
                let error = try await servers.refusal(.clients, trust: servers.authority.presenting(identity))
                #expect(error?.code == .untrusted, "\(index)")
                #expect(
                    error?.reason?.hasPrefix("the client certificate or its key can't be used: ") == true,
                    "\(index): \(error?.reason ?? "none")"
                )
                #expect(error?.reason?.contains("secret") == false)
            }
        }

        @Test func identityIsPresentedOnlyToItsHosts() async throws {
            let trust = try servers.authority.presenting(servers.identity("client"), toHosts: ["*.localhost"])

            #expect(try await servers.ask(.clients, host: "api.localhost", trust: trust).verification == "SUCCESS")
            #expect(try await servers.ask(.clients, host: "localhost", trust: trust).verification == "NONE")
        }

        @Test func identityIsNotSentAfterCrossOriginRedirect() async throws {
            let elsewhere = try servers.url(.clients).absoluteString
            let home = try MockServer { _ in .redirect(to: elsewhere) }
            let trust = try servers.authority.presenting(servers.identity("client"))
            let transport = CurlTransport()

            #expect(try await servers.ask(.clients, trust: trust, over: transport).verification == "SUCCESS")
            let response = try await OperationQueue().send(Call(home.url) { $0.trust = trust }, session: transport)
            #expect(InteropAnswer(response.text).verification == "NONE")
        }
    }
}
#endif
