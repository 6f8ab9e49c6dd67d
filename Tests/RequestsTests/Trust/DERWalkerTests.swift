// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct DERWalkerTests {
    private func walk(_ bytes: [UInt8]) -> [[UInt8]]? {
        var walker = DERWalker(bytes[...])
        var contents: [[UInt8]] = []
        while let tag = walker.rest.first, let content = walker.next(tag) { contents.append(Array(content.rest)) }
        return walker.rest.isEmpty ? contents : nil
    }

    @Test func walksElements() {
        #expect(walk([]) == [])
        #expect(walk([0x05, 0x00]) == [[]])
        #expect(walk([0x02, 0x01, 0x07, 0x04, 0x02, 0x01, 0x02]) == [[7], [1, 2]])
        let long = [UInt8](repeating: 9, count: 200)
        #expect(walk([0x04, 0x81, 200] + long) == [long])
    }

    @Test(
        arguments: [
            [0x02], [0x02, 0x01], [0x02, 0x02, 0x00], [0x30, 0x80, 0x00, 0x00],  // truncated, indefinite
            [0x02, 0x81, 0x01, 0x00], [0x02, 0x82, 0x00, 0x80],  // longer than it has to be
            [0x02, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x02, 0x84, 0x7F, 0xFF], [0x02, 0xFF],
            [0x02, 0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x1F, 0x81, 0x01, 0x00],
        ] as [[UInt8]]
    )
    func invalidDERIsRejected(bytes: [UInt8]) {
        #expect(walk(bytes) == nil)
    }

    @Test func unexpectedTagIsNotConsumed() {
        var walker = DERWalker([0x02, 0x01, 0x07])
        #expect(walker.next(DERWalker.sequence) == nil)
        #expect(walker.next(DERWalker.integer)?.rest == [7])
    }

    @Test(arguments: CertificateSample.all)
    func truncatedCertificateIsRejected(sample: CertificateSample) throws {
        let der = try TrustPolicy.Certificate(pem: sample.pem).der
        for count in 0..<der.count {
            #expect(throws: InvalidValue.self) { try TrustPolicy.Certificate(der: der.prefix(count)) }
        }
        #expect(throws: InvalidValue.self) { try TrustPolicy.Certificate(der: der + [0]) }
    }

    /// Certificates with some bytes changed, removed or doubled are still valid, or refused. The test passes if the
    /// process survives.
    @Test func corruptCertificatesDoNotCrash() throws {
        var random = SeededRandom(0x5EED)
        let originals = try CertificateSample.all.map { [UInt8](try TrustPolicy.Certificate(pem: $0.pem).der) }
        var accepted = 0
        for _ in 0..<Scale.pick(4000, whole: 100_000) {
            var bytes = originals[Int.random(in: originals.indices, using: &random)]
            // Most harm is done to the lengths, which are mostly at the beginning.
            let reach = Bool.random(using: &random) ? 64 : bytes.count
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<min(reach, bytes.count), using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes[place] = [0x00, 0x7F, 0x80, 0x81, 0x84, 0xFF].randomElement(using: &random) ?? 0
                case 2: bytes.removeSubrange(place..<min(bytes.count - 1, place + 9))
                default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 9)], at: place)
                }
            }
            if let certificate = try? TrustPolicy.Certificate(der: Data(bytes)) {
                accepted += 1
                #expect(!certificate.publicKeyInfo.isEmpty)
            }
            _ = try? TrustPolicy.ClientIdentity(pkcs12: Data(bytes))
        }
        #expect(accepted > 0)
    }

    @Test func randomBytesDoNotCrash() {
        var random = SeededRandom(0xDE5)
        for _ in 0..<Scale.pick(1000, whole: 20_000) {
            let count = Int.random(in: 0...48, using: &random)
            let bytes = [0x30] + (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            _ = walk(bytes)
            #expect((try? TrustPolicy.Certificate(der: Data(bytes))) == nil)
            _ = try? TrustPolicy.Certificate(Data(bytes))
            _ = try? TrustPolicy.ClientIdentity(pkcs12: Data(bytes))
        }
    }
}
