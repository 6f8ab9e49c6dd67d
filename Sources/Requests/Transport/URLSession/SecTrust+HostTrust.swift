// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if canImport(Security)
import Foundation
import Security

extension SecTrust {
    /// Judges what a server shows of itself.
    func verdict(of rules: HostTrust, for host: String) -> HostTrust.Verdict {
        rules.verdict(on: leaf) { problem(for: host, by: rules) }
    }

    /// The server's own certificate, as DER.
    private var leaf: Data? {
        let chain = SecTrustCopyCertificateChain(self) as? [SecCertificate]
        return chain?.first.map { SecCertificateCopyData($0) as Data }
    }

    /// What the system finds wrong; nil where it is content.
    ///
    /// Where the system is to have the last word anyway, it is asked about what it would ask itself. Where it isn't, the
    /// name is asked for again, whatever the session was about to ask.
    private func problem(for host: String, by rules: HostTrust) -> Distrust? {
        if !rules.goesByTheSystem {
            guard SecTrustSetPolicies(self, SecPolicyCreateSSL(true, host as CFString)) == errSecSuccess else {
                return .badCertificate
            }
            let given = rules.authorities.certificates
            let anchors = given.compactMap { SecCertificateCreateWithData(nil, $0.der as CFData) }
            guard anchors.count == given.count,
                SecTrustSetAnchorCertificates(self, anchors as CFArray) == errSecSuccess,
                SecTrustSetAnchorCertificatesOnly(self, !rules.authorities.includesSystem) == errSecSuccess
            else { return .noAuthorities }
        }
        var error: CFError?
        guard !SecTrustEvaluateWithError(self, &error) else { return nil }
        return error.map { Distrust(status: OSStatus(truncatingIfNeeded: CFErrorGetCode($0))) } ?? .badCertificate
    }
}

extension Distrust {
    /// Takes over what the system found.
    fileprivate init(status: OSStatus) {
        switch status {
        case errSecHostNameMismatch: self = .wrongHost
        case errSecCertificateExpired: self = .expired
        case errSecCertificateNotValidYet: self = .notYetValid
        case errSecCertificateRevoked: self = .revoked
        // The code for a root that isn't trusted, be it an authority or the certificate itself.
        case errSecNotTrusted, errSecCreateChainFailed: self = .unknownAuthority
        default: self = .badCertificate
        }
    }
}
#endif
