// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The requirements for a connection to one host: a ``TrustPolicy`` with its rules applied.
struct HostTrust: Sendable, Hashable {
    /// The authorities that are trusted.
    struct Authorities: Sendable, Hashable {
        var includesSystem = true
        var certificates: [TrustPolicy.Certificate] = []
    }

    /// The authorities that are trusted for the host.
    let authorities: Authorities
    /// The pins, of which one must be that of a key in the verified chain; `nil` if every key is accepted.
    let pins: Set<TrustPolicy.PublicKeyPin>?
    /// The closure that decides last; `nil` if the policy has no evaluator.
    let evaluator: TrustPolicy.Evaluator?
    /// Whether the host has to prove that its certificate isn't revoked.
    let requiresStaple: Bool
    /// The client certificate for the host, if it asks for one.
    var identity: TrustPolicy.ClientIdentity?
    let minimumVersion: TrustPolicy.TLSVersion
    /// Whether neither authorities nor names are checked.
    let acceptsAnyCertificate: Bool
}

extension TrustPolicy {
    /// The requirements for a connection to a host; `nil` for the defaults.
    func trust(for host: String) -> HostTrust? {
        guard !rules.isEmpty else { return nil }
        let found = HostPattern.all(matching: host).compactMap { rules[$0] }
        func rule<Value>(_ property: KeyPath<Rules, Value?>) -> Value? {
            found.lazy.compactMap { $0[keyPath: property] }.first
        }
        return HostTrust(
            authorities: rule(\.authorities) ?? HostTrust.Authorities(),
            pins: rule(\.pins),
            evaluator: rule(\.evaluator),
            requiresStaple: rule(\.requiresStaple) == true,
            identity: rule(\.identity),
            minimumVersion: rule(\.minimumVersion) ?? .tls12,
            acceptsAnyCertificate: rule(\.acceptsAnyCertificate) == true
        )
    }
}

// MARK: - Judging

/// The judgement about a server's certificate on platforms where the system checks chains, names and dates only.
extension HostTrust {
    /// The decision about a certificate.
    enum Decision: Sendable, Hashable {
        /// Let the system decide, whose checks include all that were required here.
        case deferToSystem
        /// Accept it, although the system alone may refuse it.
        case accept
        /// End the connection.
        case refuse(TrustFailure)
    }

    /// Whether the authorities are the system's, so that the system can do its usual checks as well.
    var usesSystemTrust: Bool { !acceptsAnyCertificate && authorities == Authorities() }

    /// Judges the certificates of the host.
    ///
    /// A certificate that can't be read is refused. Pins are checked last, also if any certificate is accepted.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - chain: Returns its certificates, as DER, its own first; called after `problem`, which verifies them.
    ///   - problem: Returns the system's objection by the policy's authorities; `nil` if it has none. Not called if any
    ///     certificate is accepted.
    /// - Returns: The decision.
    func decision(on host: String, chain: () -> [Data], problem: () -> TrustFailure?) -> Decision {
        if !acceptsAnyCertificate {
            guard authorities.includesSystem || !authorities.certificates.isEmpty else {
                return .refuse(.noAuthorities)
            }
            if let problem = problem() { return .refuse(problem) }
        }
        if checksChains, let refusal = refusal(of: host, chain: chain()) { return .refuse(refusal) }
        return usesSystemTrust ? .deferToSystem : .accept
    }

    /// Whether there are requirements for certificates that the system trusts.
    var checksChains: Bool { pins != nil || evaluator != nil }

    /// Returns why a host with verified certificates isn't trusted; `nil` if it is.
    func refusal(of host: String, chain: [Data]) -> TrustFailure? {
        // If nothing is verified, the certificates behind the server's own prove nothing.
        let counted = acceptsAnyCertificate ? Array(chain.prefix(1)) : chain
        guard let own = counted.first, (try? TrustPolicy.Certificate(der: own)) != nil else { return .badCertificate }
        let certificates = counted.compactMap { try? TrustPolicy.Certificate(der: $0) }
        if let pins, !certificates.contains(where: { pins.contains(TrustPolicy.PublicKeyPin($0)) }) { return .wrongPin }
        if let evaluator, !evaluator.trusts(host, certificates) { return .rejected }
        return nil
    }
}
