// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct HostTrustJudgingTests {
    private let host = "api.example.com"

    private func rules(_ policy: TrustPolicy) throws -> HostTrust {
        try #require(policy.trust(for: host))
    }

    private func der(_ sample: CertificateSample) throws -> Data {
        try Certificate(pem: sample.pem).der
    }

    private func pinned(_ sample: CertificateSample) throws -> TrustPolicy {
        try .system.pinning([PublicKeyPin(sample.pin)], forHosts: [host])
    }

    @Test func rightKeyIsLeftToTheSystemWhichChecksTheRestAgain() throws {
        let rules = try rules(pinned(.rsa))

        #expect(try rules.verdict(on: der(.rsa), problem: { nil }) == .leave)
        #expect(rules.goesByTheSystem)
    }

    @Test func wrongKeyIsRefused() throws {
        let rules = try rules(pinned(.rsa))

        #expect(try rules.verdict(on: der(.ec), problem: { nil }) == .refuse(.wrongPin))
    }

    @Test func anyOfThePinsWillDo() throws {
        let pins = try [CertificateSample.rsa, .ec].map { try PublicKeyPin($0.pin) }
        let rules = try rules(.system.pinning(pins, forHosts: ["*.example.com"]))

        #expect(try rules.verdict(on: der(.ec), problem: { nil }) == .leave)
        #expect(try rules.verdict(on: der(.ed25519), problem: { nil }) == .refuse(.wrongPin))
    }

    @Test func pinOfAnotherHostIsNone() throws {
        let pin = try PublicKeyPin(CertificateSample.rsa.pin)
        let policy = try TrustPolicy.system.pinning([pin], forHosts: ["example.com"])

        #expect(try rules(policy).verdict(on: der(.ec), problem: { nil }) == .leave)
    }

    @Test func whatTheSystemFindsGoesBeforePins() throws {
        let rules = try rules(pinned(.rsa))

        #expect(try rules.verdict(on: der(.rsa), problem: { .expired }) == .refuse(.expired))
        #expect(try rules.verdict(on: der(.ec), problem: { .wrongHost }) == .refuse(.wrongHost))
    }

    @Test(arguments: [nil, Data(), Data([0x30, 0x03, 0x02, 0x01, 0x01]), Data("certificate".utf8)])
    func keyThatCanNotBeReadIsRefused(certificate: Data?) throws {
        #expect(try rules(pinned(.rsa)).verdict(on: certificate, problem: { nil }) == .refuse(.badCertificate))
    }

    @Test func otherAuthoritiesAreAcceptedInTheSystemsPlace() throws {
        let authority = try Certificate(pem: CertificateSample.rsa.pem)

        for policy in [TrustPolicy.system.adding([authority]), .only([authority])] {
            let rules = try rules(policy)
            #expect(!rules.goesByTheSystem)
            #expect(try rules.verdict(on: der(.ec), problem: { nil }) == .accept)
            #expect(try rules.verdict(on: der(.ec), problem: { .unknownAuthority }) == .refuse(.unknownAuthority))
        }
    }

    @Test func noAuthorityIsNobodyWhateverTheSystemSays() throws {
        #expect(try rules(.only([])).verdict(on: der(.rsa), problem: { nil }) == .refuse(.noAuthorities))
    }

    @Test func anyCertificateOfADevelopersHostIsAcceptedUnasked() throws {
        let rules = try rules(.system.insecurelyAcceptingAnyCertificate(forHosts: [host]))
        let verdict = rules.verdict(on: nil) {
            Issue.record("the system was asked")
            return .selfSigned
        }

        #expect(verdict == .accept)
    }

    @Test func pinsHoldEvenThere() throws {
        let rules = try rules(pinned(.rsa).insecurelyAcceptingAnyCertificate(forHosts: [host]))

        #expect(try rules.verdict(on: der(.rsa), problem: { .selfSigned }) == .accept)
        #expect(try rules.verdict(on: der(.ec), problem: { .selfSigned }) == .refuse(.wrongPin))
        #expect(rules.verdict(on: nil, problem: { nil }) == .refuse(.badCertificate))
    }
}
