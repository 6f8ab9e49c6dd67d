// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// The trust policies, tested with independent servers, and certificates made by OpenSSL.
    @Suite(
        .bounded,
        .enabled(if: InteropServers.current != nil, "Scripts/interop starts the servers")
    )
    struct InteropTrustTests {
        let servers: InteropServers

        init() throws {
            servers = try #require(InteropServers.current)
        }

        // MARK: Authorities

        @Test func unknownAuthorityIsRejected() async throws {
            let error = try await servers.refusal(.trusted, trust: nil)

            #expect(error?.code == .untrusted)
            #expect(error?.reason?.hasPrefix("the server's certificate was issued by an unknown authority: ") == true)
            #expect((error?.underlying as? URLError)?.code == .serverCertificateHasUnknownRoot)
        }

        @Test func customAuthorityIsTrusted() async throws {
            for trust in [try servers.authority, try servers.extra] {
                let answer = try await servers.ask(.trusted, trust: trust)
                #expect(answer.version == "HTTP/2.0")
                #expect(answer.tls == "TLSv1.3")
                #expect(try await servers.ask(.trusted, host: "127.0.0.1", trust: trust).version == "HTTP/2.0")
            }
        }

        @Test func metricsContainTLSSession() async throws {
            let queue = TrustingQueue(try servers.authority)
            for _ in 1...2 {
                let metrics = try #require(try await queue.send(Call(try servers.url(.trusted))).metrics)
                #expect(metrics.tlsVersion == "TLSv1.3")
                #expect(metrics.tlsCipherSuite?.hasPrefix("TLS_") == true)
            }
        }

        @Test func onlyListedAuthoritiesAreTrusted() async throws {
            let stranger = try servers.certificate("stranger")

            for trust in [.only([stranger]), .system.adding([stranger])] as [TrustPolicy] {
                let error = try await servers.refusal(.trusted, trust: trust)
                #expect(error?.reason?.contains("unknown authority") == true)
            }
            let error = try await servers.refusal(.trusted, trust: .only([]))
            #expect(error?.code == .untrusted)
            #expect(error?.reason?.hasPrefix("there are no certificate authorities") == true)
        }

        @Test func requestOverridesEnvironmentTrust() async throws {
            let queue = TrustingQueue(try servers.authority)
            let url = try servers.url(.trusted)

            #expect(try await queue.send(Call(url)).status == .ok)
            let error = await #expect(throws: RequestError.self) {
                try await queue.send(Call(url) { $0.trust = .system })
            }
            #expect(error?.code == .untrusted)
        }

        // MARK: Certificates

        static let bad: [(InteropServers.Server, String, URLError.Code)] = [
            (.elsewhere, "the server's certificate is for a different host", .serverCertificateUntrusted),
            (.expired, "the server's certificate has expired", .serverCertificateHasBadDate),
            (.own, "the server's certificate is self-signed", .serverCertificateUntrusted),
            (.tls11, "the client and the server share no TLS version", .secureConnectionFailed),
        ]

        @Test(arguments: bad.indices)
        func badCertificateFailsWithReason(index: Int) async throws {
            let (server, reason, urlCode) = Self.bad[index]

            for trust in [try servers.authority, try servers.extra] {
                let error = try await servers.refusal(server, trust: trust)
                #expect(error?.code == .untrusted)
                #expect(error?.reason?.hasPrefix("\(reason): ") == true, "\(error?.reason ?? "none")")
                #expect((error?.underlying as? URLError)?.code == urlCode)
                #expect(error?.response == nil)
            }
        }

        @Test func mismatchedHostNameIsRejected() async throws {
            let error = try await servers.refusal(.trusted, host: "other.localhost", trust: servers.authority)
            #expect(error?.reason?.contains("different host") == true)
        }

        @Test func serverWithoutTLSIsReported() async throws {
            let plain = try #require(URLComponents(url: servers.url(.plain), resolvingAgainstBaseURL: true)?.port)
            let url = try #require(URL(string: "https://localhost:\(plain)/"))
            let error = await #expect(throws: RequestError.self) {
                try await OperationQueue().send(Call(url), session: CurlTransport())
            }
            #expect(error?.reason?.hasPrefix("the server doesn't support TLS: ") == true, "\(error?.reason ?? "none")")
        }

        @Test func anyCertificateIsAcceptedForListedHostsOnly() async throws {
            let trust = try TrustPolicy.system.insecurelyAcceptingAnyCertificate(forHosts: ["localhost"])

            for server in [.own, .expired, .elsewhere, .trusted] as [InteropServers.Server] {
                #expect(try await servers.ask(server, trust: trust).version == "HTTP/2.0")
                #expect(try await servers.refusal(server, host: "127.0.0.1", trust: trust)?.code == .untrusted)
                #expect(try await servers.refusal(server, host: "api.localhost", trust: trust)?.code == .untrusted)
            }
        }

        // MARK: Chains

        @Test func authorityPinIsAccepted() async throws {
            let trust = try servers.authority.pinning([servers.pin("authority")], forHosts: ["localhost"])
            let transport = CurlTransport()

            for _ in 1...3 {
                #expect(try await servers.ask(.trusted, trust: trust, over: transport).version == "HTTP/2.0")
            }
            // Each connection is new, since a resumed TLS session has no chain.
            for _ in 1...3 { #expect(try await servers.refusal(.tls13, trust: trust) == nil) }
            for _ in 1...3 { #expect(try await servers.refusal(.tls12, trust: trust) == nil) }
        }

        @Test func pinWorksAlongsideUnpinnedRequests() async throws {
            let transport = CurlTransport()
            let trust = try servers.authority.pinning([servers.pin("authority")], forHosts: ["localhost"])

            for _ in 1...3 {
                // The second connection of these resumes the TLS session of the first.
                let other = CurlTransport()
                _ = try await servers.ask(.trusted, trust: servers.authority, over: transport)
                _ = try await servers.ask(.trusted, trust: servers.authority, over: other)
                _ = try await servers.ask(.trusted, trust: trust, over: transport)
                _ = try await servers.ask(.trusted, trust: trust, over: other)
            }
        }

        @Test func pinOutsideVerifiedChainIsRejected() async throws {
            let trust = try servers.authority.pinning([servers.pin("stranger")], forHosts: ["localhost"])

            for server in [.trusted, .decoy] as [InteropServers.Server] {
                let error = try await servers.refusal(server, trust: trust)
                #expect(error?.code == .untrusted)
                #expect(error?.reason?.hasPrefix("the server's public key doesn't match any pin") == true)
            }
            #expect(try await servers.refusal(.decoy, trust: servers.authority) == nil)
        }

        @Test func evaluatorReceivesVerifiedChain() async throws {
            let seen = Locked<[[String]]>([])
            let names = [
                try servers.certificate("server"): "server", try servers.certificate("authority"): "authority",
                try servers.certificate("stranger"): "stranger",
            ]
            for isTrusted in [true, false] {
                let evaluator = TrustPolicy.Evaluator { host, chain in
                    seen.withLock { $0.append([host] + chain.map { names[$0] ?? "another" }) }
                    return isTrusted
                }
                let trust = try servers.authority.evaluating(with: evaluator, forHosts: ["localhost"])

                let error = try await servers.refusal(.decoy, trust: trust)

                #expect(error?.code == (isTrusted ? nil : .untrusted))
                #expect(seen.withLock { $0.last } == ["localhost", "server", "authority"])
            }
        }

        @Test func hostAuthorityIsNotTrustedForOtherHosts() async throws {
            let trust = try TrustPolicy.system
                .trustingOnly([servers.certificate("authority")], forHosts: ["localhost"])

            #expect(try await servers.refusal(.trusted, trust: trust) == nil)
            #expect(try await servers.refusal(.trusted, host: "127.0.0.1", trust: trust)?.code == .untrusted)
        }

        @Test func missingRequiredStapledStatusIsRejected() async throws {
            let trust = try servers.authority.requiringStapledStatus(forHosts: ["localhost"])

            #expect(try await servers.refusal(.trusted, trust: trust)?.code == .untrusted)
            #expect(try await servers.refusal(.stapled, trust: trust) == nil)
        }

        // MARK: Versions

        @Test func minimumTLSVersionIsEnforced() async throws {
            let authority = try servers.authority
            let newest = authority.requiring(.tls13)

            for server in [.tls12, .tls13] as [InteropServers.Server] {
                #expect(try await servers.refusal(server, trust: authority) == nil)
            }
            #expect(try await servers.refusal(.tls13, trust: newest) == nil)
            let error = try await servers.refusal(.tls12, trust: newest)
            #expect(error?.reason?.hasPrefix("the client and the server share no TLS version: ") == true)
        }

        @Test func acceptingAnyCertificateKeepsMinimumVersion() async throws {
            let trust = try TrustPolicy.system.insecurelyAcceptingAnyCertificate(forHosts: ["localhost"])
            #expect(try await servers.refusal(.tls11, trust: trust)?.code == .untrusted)
        }

        // MARK: Pins

        @Test func wrongPinIsRejected() async throws {
            let (right, wrong) = (try servers.pin("server"), try servers.pin("elsewhere"))
            let authority = try servers.authority

            for pins in [[right], [wrong, right]] {
                _ = try await servers.ask(.trusted, trust: authority.pinning(pins, forHosts: ["localhost"]))
            }
            let error = try await servers.refusal(.trusted, trust: authority.pinning([wrong], forHosts: ["localhost"]))
            #expect(error?.code == .untrusted)
            #expect(error?.reason?.hasPrefix("the server's public key doesn't match any pin") == true)
            #expect((error?.underlying as? URLError)?.code == .serverCertificateUntrusted)
        }

        @Test func matchingPinDoesNotReplaceOtherChecks() async throws {
            let right = try servers.pin("server")
            let unknown = try TrustPolicy.system.pinning([right], forHosts: ["localhost"])
            #expect(try await servers.refusal(.trusted, trust: unknown)?.reason?.contains("unknown authority") == true)

            let expired = try servers.authority.pinning([servers.pin("expired")], forHosts: ["localhost"])
            #expect(try await servers.refusal(.expired, trust: expired)?.reason?.contains("expired") == true)
        }

        @Test func pinsApplyOnlyToTheirHosts() async throws {
            let (right, wrong) = (try servers.pin("server"), try servers.pin("elsewhere"))
            let trust = try servers.authority
                .pinning([wrong], forHosts: ["*.localhost"])
                .pinning([right], forHosts: ["api.localhost"])

            #expect(try await servers.refusal(.trusted, host: "www.localhost", trust: trust)?.code == .untrusted)
            for host in ["api.localhost", "localhost", "a.b.localhost", "127.0.0.1", "API.LocalHost"] {
                #expect(try await servers.refusal(.trusted, host: host, trust: trust) == nil, "\(host)")
            }
        }

        @Test func pinAppliesToAllSpellingsOfHost() async throws {
            let wrong = try servers.pin("elsewhere")
            let trust = try servers.authority.pinning([wrong], forHosts: ["localhost", "127.0.0.1"])

            for host in ["LOCALHOST", "LocalHost", "127.1", "0x7f000001", "127.0.0.1"] {
                let error = try await servers.refusal(.trusted, host: host, trust: trust)
                #expect(error?.code == .untrusted, "\(host): \(error?.description ?? "no error")")
            }
        }

        @Test func pinsApplyEvenIfAnyCertificateIsAccepted() async throws {
            let trust = try TrustPolicy.system.insecurelyAcceptingAnyCertificate(forHosts: ["localhost"])

            _ = try await servers.ask(.own, trust: trust.pinning([servers.pin("own")], forHosts: ["localhost"]))
            let wrong = try trust.pinning([servers.pin("server")], forHosts: ["localhost"])
            #expect(try await servers.refusal(.own, trust: wrong)?.reason?.contains("match any pin") == true)
        }

        // MARK: Requests without TLS

        @Test func plainRequestsAreNotAffected() async throws {
            let trust = try TrustPolicy.only([]).pinning([servers.pin("elsewhere")], forHosts: ["localhost"])
                .presenting(servers.identity("intruder")).requiring(.tls13)
            #expect(try await servers.ask(.plain, trust: trust).version == "HTTP/1.1")
        }

        @Test func urlSessionRejectsUnsupportedPolicy() async throws {
            for session in [URLSession.shared, URLSessionTransport(configuration: .ephemeral)] as [any HTTPTransport] {
                let error = try await servers.refusal(.trusted, trust: servers.authority, over: session)
                #expect(error?.code == .unsupported)
            }
        }
    }
}
#endif
