// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

extension HostTrust {
    /// Judges a host by its own certificate alone.
    func decision(on certificate: Data?, problem: () -> TrustFailure?) -> Decision {
        decision(on: "api.example.com", chain: { certificate.map { [$0] } ?? [] }, problem: problem)
    }
}

@Suite(.bounded) struct HostTrustJudgingTests {
    private let host = "api.example.com"

    private func rules(_ policy: TrustPolicy) throws -> HostTrust {
        try #require(policy.trust(for: host))
    }

    private func der(_ sample: CertificateSample) throws -> Data {
        try TrustPolicy.Certificate(pem: sample.pem).der
    }

    private func pinned(_ sample: CertificateSample) throws -> TrustPolicy {
        try .system.pinning([TrustPolicy.PublicKeyPin(sample.pin)], forHosts: [host])
    }

    @Test func matchingPinDefersToSystem() throws {
        let rules = try rules(pinned(.rsa))

        #expect(try rules.decision(on: der(.rsa), problem: { nil }) == .deferToSystem)
        #expect(rules.usesSystemTrust)
    }

    @Test func wrongKeyIsRejected() throws {
        let rules = try rules(pinned(.rsa))

        #expect(try rules.decision(on: der(.ec), problem: { nil }) == .refuse(.wrongPin))
    }

    @Test func anyPinSuffices() throws {
        let pins = try [CertificateSample.rsa, .ec].map { try TrustPolicy.PublicKeyPin($0.pin) }
        let rules = try rules(.system.pinning(pins, forHosts: ["*.example.com"]))

        #expect(try rules.decision(on: der(.ec), problem: { nil }) == .deferToSystem)
        #expect(try rules.decision(on: der(.ed25519), problem: { nil }) == .refuse(.wrongPin))
    }

    @Test func authorityPinMatchesVerifiedChain() throws {
        let chain = try [CertificateSample.ec, .ed25519, .rsa].map(der)
        let rules = try rules(pinned(.rsa))

        #expect(rules.decision(on: host, chain: { chain }, problem: { nil }) == .deferToSystem)
        #expect(rules.decision(on: host, chain: { Array(chain.prefix(2)) }, problem: { nil }) == .refuse(.wrongPin))
        #expect(rules.refusal(of: host, chain: []) == .badCertificate)
    }

    @Test func withoutVerificationOnlyHostKeyMatchesPin() throws {
        let policy = try pinned(.rsa).insecurelyAcceptingAnyCertificate(forHosts: [host])
        let chain = try [CertificateSample.ec, .rsa].map(der)

        #expect(try rules(policy).decision(on: host, chain: { chain }, problem: { nil }) == .refuse(.wrongPin))
    }

    @Test func chainIsReadAfterVerification() throws {
        let steps = Recorder<String>()

        _ = try rules(pinned(.rsa)).decision(
            on: host,
            chain: {
                steps.record("chain")
                return []
            },
            problem: {
                steps.record("verified")
                return nil
            }
        )

        #expect(steps.elements == ["verified", "chain"])
    }

    @Test func evaluatorDecidesLastAndSeesChain() throws {
        let asked = Recorder<String>()
        let evaluator = TrustPolicy.Evaluator { host, chain in
            asked.record("\(host) \(chain.count)")
            return chain.count == 2
        }
        let rules = try rules(.system.evaluating(with: evaluator, forHosts: ["*.example.com"]))
        let chain = try [CertificateSample.ec, .rsa].map(der)

        #expect(rules.decision(on: host, chain: { chain }, problem: { nil }) == .deferToSystem)
        #expect(rules.decision(on: host, chain: { [chain[0]] }, problem: { nil }) == .refuse(.rejected))
        #expect(rules.decision(on: host, chain: { chain }, problem: { .expired }) == .refuse(.expired))
        #expect(asked.elements == ["api.example.com 2", "api.example.com 1"])
    }

    @Test func hostAuthoritiesReplaceGlobalOnes() throws {
        let (mine, other) = (
            try TrustPolicy.Certificate(pem: CertificateSample.rsa.pem),
            try TrustPolicy.Certificate(pem: CertificateSample.ec.pem)
        )
        let policy = try TrustPolicy.system.adding([other]).trustingOnly([mine], forHosts: [host])

        #expect(try rules(policy).authorities == HostTrust.Authorities(includesSystem: false, certificates: [mine]))
        #expect(policy.trust(for: "example.org")?.authorities.certificates == [other])
        #expect(throws: InvalidValue.self) { try TrustPolicy.system.trustingOnly([mine], forHosts: []) }
    }

    @Test func stapledStatusIsRequiredOnlyOfNamedHosts() throws {
        let policy = try TrustPolicy.system.requiringStapledStatus(forHosts: [host])

        #expect(try rules(policy).requiresStaple && policy.trust(for: "example.org")?.requiresStaple == false)
    }

    @Test func pinOfAnotherHostIsIgnored() throws {
        let pin = try TrustPolicy.PublicKeyPin(CertificateSample.rsa.pin)
        let policy = try TrustPolicy.system.pinning([pin], forHosts: ["example.com"])

        #expect(try rules(policy).decision(on: der(.ec), problem: { nil }) == .deferToSystem)
    }

    @Test func systemFailurePrecedesPins() throws {
        let rules = try rules(pinned(.rsa))

        #expect(try rules.decision(on: der(.rsa), problem: { .expired }) == .refuse(.expired))
        #expect(try rules.decision(on: der(.ec), problem: { .wrongHost }) == .refuse(.wrongHost))
    }

    @Test(arguments: [nil, Data(), Data([0x30, 0x03, 0x02, 0x01, 0x01]), Data("certificate".utf8)])
    func unreadableKeyIsRejected(certificate: Data?) throws {
        #expect(try rules(pinned(.rsa)).decision(on: certificate, problem: { nil }) == .refuse(.badCertificate))
    }

    @Test func customAuthoritiesReplaceSystemVerification() throws {
        let authority = try TrustPolicy.Certificate(pem: CertificateSample.rsa.pem)

        for policy in [TrustPolicy.system.adding([authority]), .only([authority])] {
            let rules = try rules(policy)
            #expect(!rules.usesSystemTrust)
            #expect(try rules.decision(on: der(.ec), problem: { nil }) == .accept)
            #expect(try rules.decision(on: der(.ec), problem: { .unknownAuthority }) == .refuse(.unknownAuthority))
        }
    }

    @Test func emptyAuthorityListTrustsNoServer() throws {
        #expect(try rules(.only([])).decision(on: der(.rsa), problem: { nil }) == .refuse(.noAuthorities))
    }

    @Test func insecureHostSkipsSystemVerification() throws {
        let rules = try rules(.system.insecurelyAcceptingAnyCertificate(forHosts: [host]))
        let decision = rules.decision(on: nil) {
            Issue.record("the system was asked")
            return .selfSigned
        }

        #expect(decision == .accept)
    }

    @Test func insecureHostStillRequiresPins() throws {
        let rules = try rules(pinned(.rsa).insecurelyAcceptingAnyCertificate(forHosts: [host]))

        #expect(try rules.decision(on: der(.rsa), problem: { .selfSigned }) == .accept)
        #expect(try rules.decision(on: der(.ec), problem: { .selfSigned }) == .refuse(.wrongPin))
        #expect(rules.decision(on: nil, problem: { nil }) == .refuse(.badCertificate))
    }
}
