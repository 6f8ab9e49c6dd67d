// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The requirements of a ``TrustPolicy`` for connections to one host.
struct HostTrust: Sendable, Hashable {
    /// A set of trusted authorities.
    struct Authorities: Sendable, Hashable {
        var includesSystem = true
        var certificates: [TrustPolicy.Certificate] = []
    }

    /// The authorities that are trusted for the host.
    let authorities: Authorities
    /// The pins, of which at least one must match a key in the verified chain; `nil` if every key is accepted.
    let pins: Set<TrustPolicy.PublicKeyPin>?
    /// The custom check that runs last; `nil` if the policy has no evaluator.
    let evaluator: TrustPolicy.Evaluator?
    /// Whether the host must prove with a stapled OCSP response that its certificate isn't revoked.
    let requiresStaple: Bool
    /// The client certificate that is presented to the host if it requests one.
    var identity: TrustPolicy.ClientIdentity?
    let minimumVersion: TrustPolicy.TLSVersion
    /// Whether the checks of the authority and the host name are disabled.
    let acceptsAnyCertificate: Bool
}

extension TrustPolicy {
    /// Returns the requirements for connections to a host; `nil` for the defaults.
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

// MARK: - Decision

/// The decision about a server's certificates, given the result of checking the chain, the host name and the validity
/// period.
extension HostTrust {
    /// The decision about a server's certificates.
    enum Decision: Sendable, Hashable {
        /// Let the system decide; all requirements beyond its own checks are met.
        case deferToSystem
        /// Accept the server, even if the system's default checks would refuse it.
        case accept
        /// Close the connection.
        case refuse(TrustFailure)
    }

    /// Whether exactly the system's authorities are trusted, in which case the system can perform its default checks as
    /// well.
    var usesSystemTrust: Bool { !acceptsAnyCertificate && authorities == Authorities() }

    /// Decides whether to trust the certificates of the host.
    ///
    /// A certificate that can't be parsed is refused. Pins and the evaluator are checked last, even if any certificate
    /// is accepted.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - chain: Returns the DER-encoded certificates, beginning with the host's own. Called after `problem`, which
    ///     verifies them.
    ///   - problem: Verifies the chain against the authorities of the policy, and returns the failure; `nil` if the
    ///     chain is valid. Not called if any certificate is accepted.
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

    /// Whether trusted chains must pass further checks, that is, pins or an evaluator.
    var checksChains: Bool { pins != nil || evaluator != nil }

    /// Checks the pins and calls the evaluator; returns the reason why the host isn't trusted, or `nil` if it is.
    func refusal(of host: String, chain: [Data]) -> TrustFailure? {
        // If the chain isn't verified, check only the server's own certificate, because the server could have added any
        // other certificates.
        let counted = acceptsAnyCertificate ? Array(chain.prefix(1)) : chain
        guard let own = counted.first, (try? TrustPolicy.Certificate(der: own)) != nil else { return .badCertificate }
        let certificates = counted.compactMap { try? TrustPolicy.Certificate(der: $0) }
        if let pins, !certificates.contains(where: { pins.contains(TrustPolicy.PublicKeyPin($0)) }) { return .wrongPin }
        if let evaluator, !evaluator.trusts(host, certificates) { return .rejected }
        return nil
    }
}
