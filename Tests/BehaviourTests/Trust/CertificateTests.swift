// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct CertificateTests {
    @Test(arguments: CertificateSample.all)
    func pinMatchesOpenSSL(sample: CertificateSample) throws {
        #expect(TrustPolicy.PublicKeyPin(try TrustPolicy.Certificate(pem: sample.pem)).description == sample.pin)
    }

    @Test(arguments: CertificateSample.all)
    func pemAndDERFormsAreEqual(sample: CertificateSample) throws {
        let certificate = try TrustPolicy.Certificate(pem: sample.pem)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try certificate.der.write(to: file)

        #expect(certificate.pem == sample.pem)
        #expect(try TrustPolicy.Certificate(der: certificate.der) == certificate)
        #expect(try TrustPolicy.Certificate(Data(sample.pem.utf8)) == certificate)
        #expect(try TrustPolicy.Certificate(certificate.der) == certificate)
        #expect(try TrustPolicy.Certificate(contentsOf: file) == certificate)
        #expect(try TrustPolicy.Certificate(pem: sample.pem.replacing("\n", with: "\r\n")) == certificate)
        #expect(try TrustPolicy.Certificate(pem: "Subject: anyone\n\n" + sample.pem + "\nafter") == certificate)
    }

    @Test func bundleIsParsedInOrder() throws {
        let pem = CertificateSample.all.map(\.pem).joined(separator: "# next\n")

        #expect(
            try TrustPolicy.Certificate.all(pem: pem).map { TrustPolicy.PublicKeyPin($0).description }
                == CertificateSample.all.map(\.pin)
        )
        #expect(throws: InvalidValue.self) { try TrustPolicy.Certificate(pem: pem) }
    }

    @Test(arguments: [
        "", "garbage", "-----BEGIN CERTIFICATE-----\n", "-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END PRIVATE KEY-----\n",
        "-----BEGIN CERTIFICATE-----\n-----BEGIN CERTIFICATE-----\n",
        CertificateSample.ecKey, CertificateSample.ec.pem + CertificateSample.ecKey,
    ])
    func invalidCertificateIsRejected(pem: String) {
        let error = #expect(throws: InvalidValue.self) { try TrustPolicy.Certificate(pem: pem) }
        #expect(error?.kind == .certificate)
    }

    @Test func missingFileFails() {
        let error = #expect(throws: InvalidValue.self) {
            try TrustPolicy.Certificate(contentsOf: URL(fileURLWithPath: "/nowhere"))
        }
        #expect(error?.description == "the certificate can't be read from the file")
        #expect(throws: InvalidValue.self) {
            try TrustPolicy.Certificate(contentsOf: #require(URL(string: "https://example.com/")))
        }
    }
}

@Suite(.bounded) struct PublicKeyPinTests {
    private static let zeros = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    @Test(arguments: [zeros, "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="])
    func parsesPins(text: String) throws {
        let pin = try TrustPolicy.PublicKeyPin(text)
        #expect(pin.sha256 == Data(count: 32))
        #expect(pin == (try TrustPolicy.PublicKeyPin(sha256: Data(count: 32))))
        #expect(pin.description == Self.zeros)
    }

    @Test func parsesDigestBeginningWithSlash() throws {
        let pin = try TrustPolicy.PublicKeyPin(sha256: Data(repeating: 0xFF, count: 32))
        #expect(pin.description.hasPrefix("sha256//"))
        #expect(try TrustPolicy.PublicKeyPin(pin.description) == pin)
    }

    @Test(arguments: [
        "", "sha256/", "sha256/AAAA", "sha1/AAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA!=",
        "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ])
    func invalidPinIsRejected(text: String) {
        #expect(throws: InvalidValue.self) { try TrustPolicy.PublicKeyPin(text) }
    }

    @Test(arguments: [0, 31, 33])
    func digestWithWrongLengthIsRejected(count: Int) {
        #expect(throws: InvalidValue.self) { try TrustPolicy.PublicKeyPin(sha256: Data(count: count)) }
    }
}
