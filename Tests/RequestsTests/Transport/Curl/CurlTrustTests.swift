// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct CurlTrustTests {
    private func request(_ url: String = "https://example.com/", trust: TrustPolicy) throws -> TransportRequest {
        TransportRequest(HTTPRequest(url: try #require(URL(string: url))), trust: trust)
    }

    @Test func oldLibcurlRejectsClientCertificates() throws {
        let identity = try TrustPolicy.ClientIdentity(pem: CertificateSample.ec.pem + CertificateSample.ecKey)
        let request = try request(trust: .system.presenting(identity))

        // 7.71.0 reuses a connection with one certificate for another.
        let old = CurlTrustCache(CurlFeatures(version: 0x074700, tlsLibrary: "OpenSSL/1.1.1"))
        let error = #expect(throws: RequestError.self) { try old.trust(for: request) }
        #expect(error?.code == .unsupported)
        let new = CurlTrustCache(CurlFeatures(version: 0x074701, tlsLibrary: "OpenSSL/1.1.1"))
        #expect(try new.trust(for: request) != nil)
    }

    @Test(arguments: [
        ("OpenSSL/3.0.17", true), ("LibreSSL/3.8.2", true), ("BoringSSL", true), ("AWS-LC/1.30.0", true),
        ("mbedTLS/3.5.0", true), ("OpenSSL/3.0.2 (GnuTLS/3.7.3)", true), ("(OpenSSL/3.0.2) GnuTLS/3.7.3", false),
        ("GnuTLS/3.7.9", false), ("rustls-ffi/0.10.0", false), ("wolfSSL/5.7.0", false), ("", false),
    ])
    func clientCertificatesRequireTLSLibrarySupport(library: String, sends: Bool) {
        #expect(CurlFeatures(version: 0x080900, tlsLibrary: library).supportsClientIdentities == sends)
    }

    @Test func wolfSSLSupportsIdentitiesSinceCurl810() {
        #expect(CurlFeatures(version: 0x080A00, tlsLibrary: "wolfSSL/5.7.2").supportsClientIdentities)
    }

    /// The functions of another TLS library in the process say nothing of libcurl's connections.
    @Test(.enabled(if: CurlFeatures.loaded.exposesChains), arguments: ["GnuTLS/3.7.9", "(OpenSSL/3.0.2) GnuTLS/3.7.3"])
    func chainsAreReadOnlyIfLibcurlUsesOpenSSL(library: String) throws {
        let features = CurlFeatures(version: 0x075801, tlsLibrary: library)
        let pin = TrustPolicy.PublicKeyPin(try TrustPolicy.Certificate(pem: CertificateSample.rsa.pem))
        let request = try request(trust: .system.pinning([pin], forHosts: ["example.com"]))

        #expect(!features.exposesChains && !features.sharesCertificateStores)
        #expect(try CurlTrustCache(features).trust(for: request)?.chainRules == nil)
        #expect(try CurlTrustCache(.loaded).trust(for: request)?.chainRules != nil)
    }

    /// From 8.12 on, libcurl doesn't tell sessions with a client certificate from those without one, if nothing is
    /// verified.
    @Test func insecureIdentitySessionIsNotResumed() throws {
        let identity = try TrustPolicy.ClientIdentity(pem: CertificateSample.ec.pem + CertificateSample.ecKey)
        let hosts = ["example.com"]
        let insecure = try TrustPolicy.system.insecurelyAcceptingAnyCertificate(forHosts: hosts)
        func resumes(_ trust: TrustPolicy) throws -> Bool? {
            try CurlTrustCache(.loaded).trust(for: request(trust: trust))?.resumesSessions
        }

        #expect(try resumes(insecure.presenting(identity)) == false)
        #expect(try resumes(insecure) == true)
        #expect(try resumes(.system.presenting(identity)) == true)
    }

    @Test func authoritiesAreReadFromFileIfNotShareable() throws {
        let certificate = try TrustPolicy.Certificate(pem: CertificateSample.rsa.pem)
        let trust = TrustPolicy.only([certificate])
        let features = CurlFeatures(version: 0x074D00, tlsLibrary: "LibreSSL/3.8.2")

        let authorities = try CurlTrustCache(features).trust(for: request(trust: trust))?.authorities
        let again = try CurlTrustCache(features).trust(for: request(trust: trust))
        guard case .file(let path) = authorities, case .file(let other) = again?.authorities else {
            Issue.record("not a file")
            return
        }
        let text = try #require(FileManager.default.contents(atPath: path))
        #expect(String(decoding: text, as: UTF8.self).hasSuffix("\n" + certificate.pem))
        // libcurl compares connections by the path.
        #expect(other == path)
    }

    @Test(.enabled(if: CurlFeatures.loaded.sharesCertificateStores))
    func connectionsAreSharedOnlyForEqualTrust() throws {
        let one = try TrustPolicy.Certificate(pem: CertificateSample.rsa.pem)
        let two = try TrustPolicy.Certificate(pem: CertificateSample.ec.pem)
        let evaluators = (0..<2).map { _ in TrustPolicy.Evaluator { _, _ in true } }
        let hosts = ["example.com"]
        let policies: [TrustPolicy] = [
            .system.requiring(.tls13), .only([]), .only([one]), .only([two]), .only([one, two]), .system.adding([one]),
            .system.adding([two]), try .system.pinning([TrustPolicy.PublicKeyPin(one)], forHosts: hosts),
            try .system.pinning([TrustPolicy.PublicKeyPin(two)], forHosts: hosts),
            try .only([one]).pinning([TrustPolicy.PublicKeyPin(two)], forHosts: hosts),
            try .system.evaluating(with: evaluators[0], forHosts: hosts),
            try .system.evaluating(with: evaluators[1], forHosts: hosts),
        ]
        func marks() throws -> [String] {
            let cache = CurlTrustCache(.loaded)
            return try policies.map { policy in
                guard case .store(_, let mark) = try cache.trust(for: request(trust: policy))?.authorities else {
                    throw CocoaError(.featureUnsupported)
                }
                return mark
            }
        }

        #expect(try Set(marks()).count == policies.count)
        #expect(try marks() == marks())
        // The version is an option of its own, which libcurl compares.
        guard case .store(_, let mark) = CurlTrust.system.authorities else {
            Issue.record("no store")
            return
        }
        #expect(try mark == marks()[0])
    }

    @Test func defaultTrustNeedsNoConfiguration() throws {
        let cache = CurlTrustCache(CurlFeatures(version: 0, tlsLibrary: ""))
        let identity = try TrustPolicy.ClientIdentity(pem: CertificateSample.ec.pem + CertificateSample.ecKey)

        #expect(try cache.trust(for: request(trust: .system)) == nil)
        #expect(try cache.trust(for: request("http://example.com/", trust: .system.presenting(identity))) == nil)
    }

    // The results of libcurl with OpenSSL, and with GnuTLS, which has no numbers.
    @Test(
        arguments: [
            (60, "SSL certificate problem: certificate has expired", 10, TrustFailure.expired),
            (60, "SSL certificate problem: certificate is not yet valid", 9, .notYetValid),
            (60, "SSL certificate problem: unable to get local issuer certificate", 20, .unknownAuthority),
            (60, "SSL certificate problem: self-signed certificate in certificate chain", 19, .unknownAuthority),
            (60, "SSL certificate problem: self-signed certificate", 18, .selfSigned),
            (60, "SSL: no alternative certificate subject name matches target host name 'a'", 0, .wrongHost),
            (60, "server certificate verification failed. CAfile: /etc/x CRLfile: none", 0, .unknownAuthority),
            (60, "SSL: certificate subject name (a) does not match target host name 'b'", 0, .wrongHost),
            (60, "something else", 0, .badCertificate),
            (90, "SSL: public key does not match pinned public key", 0, .wrongPin),
            (77, "error setting certificate file: /nowhere", 0, .noAuthorities),
            (58, "unable to set private key file", 0, .clientCertificateUnusable),
            (35, "error:0A000102:SSL routines::unsupported protocol", 0, .noCommonTLSVersion),
            (
                56, "OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert certificate required", 0,
                .clientCertificateRequired
            ),
            (
                56, "OpenSSL SSL_read: error:0A000418:SSL routines::tlsv1 alert unknown ca", 0,
                .clientCertificateRejected
            ),
        ] as [(Int32, String, Int, TrustFailure)]
    )
    func curlResultMapsToTrustFailure(code: Int32, text: String, verification: Int, trustFailure: TrustFailure) {
        let result = CurlResult(code: code, text: text, verification: verification)
        let error = result.error(phase: .sending)

        #expect(result.trustFailure == trustFailure)
        #expect(error?.code == .untrusted)
        #expect(error?.reason == "\(trustFailure.reason): \(text) (curl \(code))")
        #expect((error?.underlying as? URLError)?.code == trustFailure.urlCode)
    }

    @Test(arguments: [(0, ""), (56, "Recv failure: Connection reset by peer"), (7, "alert unknown ca")])
    func otherResultsAreNotTrustFailures(code: Int32, text: String) {
        #expect(CurlResult(code: code, text: text).trustFailure == nil)
    }
}
#endif
