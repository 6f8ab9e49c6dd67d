// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct TrustPolicyTests {
    private let certificate: TrustPolicy.Certificate
    private let pin: TrustPolicy.PublicKeyPin
    private let identity: TrustPolicy.ClientIdentity

    init() throws {
        certificate = try TrustPolicy.Certificate(pem: CertificateSample.rsa.pem)
        pin = TrustPolicy.PublicKeyPin(certificate)
        identity = try TrustPolicy.ClientIdentity(pem: CertificateSample.ec.pem + CertificateSample.ecKey)
    }

    @Test func systemPolicyIsDefaultAndHasNoRules() throws {
        #expect(RequestEnvironment().trust == .system)
        #expect(RequestOptions().trust == nil)
        #expect(TrustPolicy.system.trust(for: "example.com") == nil)
        #expect(TrustPolicy.system.adding([]) == .system)
        #expect(TrustPolicy.system.requiring(.tls12) == .system)
        #expect(TrustPolicy.only([]) != .system)
    }

    @Test func equalityComparesRules() throws {
        let one = try TrustPolicy.system.adding([certificate]).pinning([pin], forHosts: ["a.example", "b.example"])
        let other = try TrustPolicy.system.pinning([pin], forHosts: ["B.example"]).adding([certificate, certificate])
            .pinning([pin], forHosts: ["a.example"])

        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(one != .system.adding([certificate]))
        #expect(one != (try TrustPolicy.only([certificate]).pinning([pin], forHosts: ["a.example", "b.example"])))
    }

    @Test func authoritiesExtendOrReplaceSystem() throws {
        let extra = try #require(TrustPolicy.system.adding([certificate]).trust(for: "example.com"))
        let only = try #require(TrustPolicy.only([]).adding([certificate]).trust(for: "example.com"))

        #expect(extra.authorities == .init(includesSystem: true, certificates: [certificate]))
        #expect(only.authorities == .init(includesSystem: false, certificates: [certificate]))
        #expect(extra.minimumVersion == .tls12)
        #expect(!extra.acceptsAnyCertificate)
        #expect(extra.pins == nil && extra.identity == nil)
    }

    @Test func pinsAccumulatePerPattern() throws {
        let other = TrustPolicy.PublicKeyPin(try TrustPolicy.Certificate(pem: CertificateSample.ec.pem))
        let policy = try TrustPolicy.system.pinning([pin], forHosts: ["*.example.com"])
            .pinning([other], forHosts: ["a.example.com"])

        #expect(policy.trust(for: "b.example.com")?.pins == [pin])
        #expect(policy.trust(for: "a.example.com")?.pins == [other])
        #expect(policy.trust(for: "example.com")?.pins == nil)
        let both = try policy.pinning([pin], forHosts: ["a.example.com"])
        #expect(both.trust(for: "a.example.com")?.pins == [pin, other])
    }

    @Test func ruleWithoutEffectIsRejected() {
        let system = TrustPolicy.system
        #expect(throws: InvalidValue.self) { try system.pinning([], forHosts: ["example.com"]) }
        #expect(throws: InvalidValue.self) { try system.pinning([pin], forHosts: []) }
        #expect(throws: InvalidValue.self) {
            try system.pinning([pin], forHosts: ["example.com", "https://a"])
        }
        #expect(throws: InvalidValue.self) { try system.insecurelyAcceptingAnyCertificate(forHosts: []) }
        #expect(throws: InvalidValue.self) { try system.insecurelyAcceptingAnyCertificate(forHosts: ["*"]) }
        #expect(throws: InvalidValue.self) { try system.presenting(identity, toHosts: []) }
    }

    @Test func onlyNamedHostsAreInsecure() throws {
        let policy = try TrustPolicy.system.insecurelyAcceptingAnyCertificate(forHosts: ["localhost", "*.test"])

        #expect(policy.trust(for: "localhost")?.acceptsAnyCertificate == true)
        #expect(policy.trust(for: "a.test")?.acceptsAnyCertificate == true)
        #expect(policy.trust(for: "example.com")?.acceptsAnyCertificate == false)
    }

    @Test func hostIdentityOverridesGlobalOne() throws {
        let own = try TrustPolicy.ClientIdentity(
            pem: CertificateSample.ec.pem + CertificateSample.ecKey,
            password: "other"
        )
        let policy = try TrustPolicy.system.presenting(identity).presenting(own, toHosts: ["*.example.com"])

        #expect(policy.trust(for: "a.example.com")?.identity == own)
        #expect(policy.trust(for: "example.com")?.identity == identity)
    }

    #if os(Linux)
    @Test(
        arguments: [URLSession.shared, URLSessionTransport(configuration: .ephemeral)] as [any HTTPTransport]
    )
    func sessionRejectsCustomPoliciesBeforeConnecting(transport: any HTTPTransport) async throws {
        let server = try MockServer()
        for policy in [.system.requiring(.tls13), .only([]), .system.presenting(identity)] as [TrustPolicy] {
            let error = RequestError.Box()
            let ended = Gate()
            let request = TransportRequest(HTTPRequest(url: server.url), trust: policy)
            _ = transport.send(request) { event in
                if case .end(let reason) = event {
                    error.value.withLock { $0 = reason }
                    ended.open()
                }
            }
            try await ended.wait()
            #expect(error.value.withLock { $0 }?.code == .unsupported)
        }
        #expect(server.connectionCount == 0)
    }
    #endif
}

extension RequestError {
    fileprivate final class Box: Sendable {
        let value = Locked<RequestError?>(nil)
    }
}
