// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct ClientIdentityTests {
    private static let (certificate, key) = (CertificateSample.ec.pem, CertificateSample.ecKey)

    @Test func descriptionsHideSecrets() throws {
        let identity = try TrustPolicy.ClientIdentity(pem: Self.certificate + Self.key, password: "hunter2")
        let policy = TrustPolicy.system.presenting(identity)
        var dumped = ""
        dump(identity, to: &dumped)
        dump(policy, to: &dumped)

        for text in ["\(identity)", String(reflecting: identity), "\(policy)", String(reflecting: policy), dumped] {
            for secret in ["hunter2", "PRIVATE KEY", "MIGHAgEA", "sha256"] { #expect(!text.contains(secret)) }
        }
    }

    @Test func chainAndKeyMayBeInAnyOrder() throws {
        let identity = try TrustPolicy.ClientIdentity(
            pem: Self.key + "text\n" + Self.certificate + CertificateSample.rsa.pem
        )
        #expect(
            identity.content == .pem(certificates: Self.certificate + CertificateSample.rsa.pem, key: Self.key)
        )
    }

    @Test(
        arguments: [
            "", certificate, key, certificate + key + key, key.replacing("MIGH", with: "!!!!") + certificate,
            key + certificate.replacing("MIIB", with: "AAAA"),
        ]
    )
    func incompletePEMIsRejected(pem: String) {
        let error = #expect(throws: InvalidValue.self) { try TrustPolicy.ClientIdentity(pem: pem) }
        #expect(error?.excerpt == "")
    }

    @Test func legacyEncryptedKeyKeepsItsHeaders() throws {
        let key = """
            -----BEGIN RSA PRIVATE KEY-----
            Proc-Type: 4,ENCRYPTED
            DEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF

            AAAA
            -----END RSA PRIVATE KEY-----

            """
        let identity = try TrustPolicy.ClientIdentity(pem: Self.certificate + key, password: "x")
        #expect(identity.content == .pem(certificates: Self.certificate, key: key))
    }

    @Test func pkcs12IsRecognizedByItsPrefix() throws {
        for bytes in [[0x30, 0x03, 2, 1, 3], [0x30, 0x80, 2, 1, 3], [0x30, 0x82, 0, 9, 2, 1, 3]] as [[UInt8]] {
            #expect(try TrustPolicy.ClientIdentity(pkcs12: Data(bytes)).content == .pkcs12(Data(bytes)))
        }
        for bytes in [[], [0x30], [0x30, 0x82], [0x30, 0x03, 2, 1, 0], [0x31, 3, 2, 1, 3], [0x30, 0xFF]] as [[UInt8]] {
            #expect(throws: InvalidValue.self) { try TrustPolicy.ClientIdentity(pkcs12: Data(bytes)) }
        }
    }

    @Test func passwordWithNULIsRejected() {
        #expect(throws: InvalidValue.self) {
            try TrustPolicy.ClientIdentity(pem: Self.certificate + Self.key, password: "a\0b")
        }
    }
}
