// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct HostTrustJudgingFuzzTests {
    @Test func mutatedCertificatePassesOnlyWithPinnedKey() throws {
        var fuzz = Fuzz()
        let original = try [UInt8](TrustPolicy.Certificate(pem: CertificateSample.ed25519.pem).der)
        let pin = try TrustPolicy.PublicKeyPin(CertificateSample.ed25519.pin)
        let policy = try TrustPolicy.system.pinning([pin], forHosts: ["example.com"])
        let rules = try #require(policy.trust(for: "example.com"))

        // Fewer inputs than in other tests, since each readable one requires a digest of its key.
        for _ in 0..<Scale.fuzz(weight: 20) {
            var bytes = original
            for _ in 0..<Int.random(in: 1...4, using: &fuzz) {
                let index = Int.random(in: bytes.indices, using: &fuzz)
                bytes[index] = UInt8.random(in: 0...255, using: &fuzz)
            }
            if Bool.random(using: &fuzz) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &fuzz)) }
            let decision = rules.decision(on: Data(bytes), problem: { nil })
            // An accepted certificate contains the pinned key: all of its bytes, in one piece.
            if decision == .deferToSystem {
                let key = try TrustPolicy.Certificate(der: Data(bytes)).publicKeyInfo
                #expect(try key == TrustPolicy.Certificate(pem: CertificateSample.ed25519.pem).publicKeyInfo)
            }
        }
    }
}
