// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What a server's certificate is worth, where the system checks chains, names and dates, and leaves the rest to us.
extension HostTrust {
    /// What to do about a certificate.
    enum Verdict: Sendable, Hashable {
        /// Have the system decide, which asks no less than was asked here.
        case leave
        /// Accept it, which the system by itself may not.
        case accept
        /// End the connection.
        case refuse(Distrust)
    }

    /// Whether the authorities are the system's, so that it can be left to do its usual checks besides.
    var goesByTheSystem: Bool { !acceptsAnyCertificate && authorities == Authorities() }

    /// Judges the certificate of the host.
    ///
    /// Everything has to be there and right: what can't be read is refused, and a pin is looked at last, but for a
    /// certificate that needn't be anybody's, too.
    ///
    /// - Parameters:
    ///   - certificate: The host's own, as DER; nil where there is none.
    ///   - problem: What the system finds wrong by the policy's authorities; nil is nothing. Not asked where any
    ///     certificate will do.
    /// - Returns: What to do.
    func verdict(on certificate: Data?, problem: () -> Distrust?) -> Verdict {
        if !acceptsAnyCertificate {
            guard authorities.includesSystem || !authorities.certificates.isEmpty else {
                return .refuse(.noAuthorities)
            }
            if let problem = problem() { return .refuse(problem) }
        }
        if let pins {
            guard let der = certificate, let certificate = try? Certificate(der: der) else {
                return .refuse(.badCertificate)
            }
            guard pins.contains(PublicKeyPin(certificate)) else { return .refuse(.wrongPin) }
        }
        return goesByTheSystem ? .leave : .accept
    }
}
