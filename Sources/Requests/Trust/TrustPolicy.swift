// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The trust policy for connections: the accepted certificates and keys, and the minimum version of TLS.
///
/// The default, `system`, is right for nearly every application: the certificate is signed by an authority of the
/// system, is in its period, and names the host. Change it to reach servers with an authority of your own, to pin keys,
/// or to present a client certificate. Every rule either restricts or extends what is accepted; none disables the
/// checks of another, except ``insecurelyAcceptingAnyCertificate(forHosts:)``, which is for development.
///
/// ```swift
/// var environment = RequestEnvironment()
/// environment.trust = try .system
///     .adding([TrustPolicy.Certificate(contentsOf: folder.appending(path: "company-root.pem"))])
///     .pinning([currentKey, nextKey], forHosts: ["api.example.com", "*.internal.example.com"])
/// ```
///
/// A rule for hosts takes names and addresses, or `*` for the first label of a name: `*.example.com` matches
/// `www.example.com`, but neither `example.com` nor `a.b.example.com`. The rule of a host itself takes precedence over
/// that of a wildcard. Plain http has no certificates, and isn't affected.
///
/// A connection is reused only for requests with the same requirements. A requirement that a transport doesn't support
/// is an error of code `unsupported`, before anything is sent. ``CurlTransport`` on Linux supports everything;
/// `URLSession` does on Apple platforms, with client certificates as PKCS#12 only, and supports `system` alone on
/// Linux. A connection that isn't trusted is an error of code `untrusted`, with a `reason`.
public struct TrustPolicy: Sendable, Hashable {
    /// The rules for some hosts; those that are `nil` are left to the rules for more hosts.
    struct Rules: Sendable, Hashable {
        var authorities: HostTrust.Authorities?
        var minimumVersion: TrustPolicy.TLSVersion?
        var evaluator: TrustPolicy.Evaluator?
        var requiresStaple: Bool?
        var pins: Set<TrustPolicy.PublicKeyPin>?
        var identity: TrustPolicy.ClientIdentity?
        var acceptsAnyCertificate: Bool?
    }

    /// The rules; empty for the system's policy.
    let rules: [HostPattern: Rules]

    private init(_ rules: [HostPattern: Rules]) {
        self.rules = rules.filter { $0.value != Rules() }
    }

    /// The authorities of the system, with the host's name, and TLS 1.2 at least: the default.
    public static let system = TrustPolicy([:])

    /// Trusts these authorities and no others, not even the system's.
    ///
    /// Without certificates, every connection fails.
    public static func only(_ certificates: [TrustPolicy.Certificate]) -> TrustPolicy {
        system.changed { $0.authorities = HostTrust.Authorities(includesSystem: false, certificates: certificates) }
    }

    /// Returns a policy that also trusts these authorities.
    public func adding(_ certificates: [TrustPolicy.Certificate]) -> TrustPolicy {
        changed { rules in
            var authorities = rules.authorities ?? HostTrust.Authorities()
            for certificate in certificates where !authorities.certificates.contains(certificate) {
                authorities.certificates.append(certificate)
                rules.authorities = authorities
            }
        }
    }

    /// Returns a policy that trusts only these authorities for some hosts: the authorities of the policy don't apply to
    /// them.
    ///
    /// Use it for servers of your own whose authority must not be trusted for other hosts.
    ///
    /// - Parameters:
    ///   - certificates: The authorities; without any, connections to these hosts fail.
    ///   - hosts: The hosts: names, addresses, and names with `*` for their first label.
    /// - Returns: The policy.
    /// - Throws: ``InvalidValue`` if there is no host, or one is invalid.
    public func trustingOnly(
        _ certificates: [TrustPolicy.Certificate],
        forHosts hosts: [String]
    ) throws(InvalidValue) -> TrustPolicy {
        let authorities = HostTrust.Authorities(includesSystem: false, certificates: certificates)
        return try changed(forHosts: hosts) { $0.authorities = authorities }
    }

    /// Returns a policy that calls a closure for connections to these hosts, after all other checks.
    ///
    /// - Parameters:
    ///   - evaluator: The closure; a host has one, the last.
    ///   - hosts: The hosts: names, addresses, and names with `*` for their first label.
    /// - Returns: The policy.
    /// - Throws: ``InvalidValue`` if there is no host, or one is invalid.
    public func evaluating(
        with evaluator: TrustPolicy.Evaluator,
        forHosts hosts: [String]
    ) throws(InvalidValue) -> TrustPolicy {
        try changed(forHosts: hosts) { $0.evaluator = evaluator }
    }

    /// Returns a policy that requires these hosts to prove that their certificate isn't revoked (OCSP stapling, RFC
    /// 6066, 8).
    ///
    /// A server isn't trusted if it sends no proof, or one of a revocation, or if it doesn't send the certificate of
    /// the authority, which OpenSSL needs to check the proof. Supported over libcurl only, if its TLS library can;
    /// elsewhere, requests to these hosts fail with the code `unsupported`.
    ///
    /// - Parameter hosts: The hosts: names, addresses, and names with `*` for their first label.
    /// - Returns: The policy.
    /// - Throws: ``InvalidValue`` if there is no host, or one is invalid.
    public func requiringStapledStatus(forHosts hosts: [String]) throws(InvalidValue) -> TrustPolicy {
        try changed(forHosts: hosts) { $0.requiresStaple = true }
    }

    /// Returns a policy that requires one of these keys in the certificate chain of these hosts, after all other
    /// checks.
    ///
    /// The chain is the verified one: the host's own certificate, and those above it up to the trusted authority.
    /// Additional certificates of a server don't count. Pin the key of an authority to be able to change the server's.
    /// If any certificate is accepted, and over a libcurl without OpenSSL, only the host's own certificate counts. Pins
    /// for a host that already has some are added to them.
    ///
    /// - Parameters:
    ///   - pins: The pins; at least one.
    ///   - hosts: The hosts of the keys: names, addresses, and names with `*` for their first label.
    /// - Returns: The policy.
    /// - Throws: ``InvalidValue`` if there is no pin or no host, or if a host is invalid.
    public func pinning(
        _ pins: [TrustPolicy.PublicKeyPin],
        forHosts hosts: [String]
    ) throws(InvalidValue) -> TrustPolicy {
        guard !pins.isEmpty else { throw InvalidValue(.pin, "is missing") }
        return try changed(forHosts: hosts) { $0.pins = ($0.pins ?? []).union(pins) }
    }

    /// Returns a policy that presents a client certificate to every host that asks for one.
    ///
    /// A request that was redirected to another origin doesn't present it, as it doesn't send its credentials.
    public func presenting(_ identity: TrustPolicy.ClientIdentity) -> TrustPolicy {
        changed { $0.identity = identity }
    }

    /// Returns a policy that presents a client certificate to these hosts, if they ask for one.
    ///
    /// A request that was redirected to another origin doesn't present it, as it doesn't send its credentials.
    ///
    /// - Throws: ``InvalidValue`` if there is no host, or one is invalid.
    public func presenting(
        _ identity: TrustPolicy.ClientIdentity,
        toHosts hosts: [String]
    ) throws(InvalidValue) -> TrustPolicy {
        try changed(forHosts: hosts) { $0.identity = identity }
    }

    /// Returns a policy that requires this version of TLS, or a newer one.
    public func requiring(_ version: TrustPolicy.TLSVersion) -> TrustPolicy {
        // The default is no rule.
        changed { $0.minimumVersion = version == .tls12 ? nil : version }
    }

    /// Returns a policy that accepts any certificate of these hosts: an attacker on the network can read and change
    /// everything.
    ///
    /// It is for servers on a developer's machine, with self-signed certificates. A better way is to make an authority
    /// of your own and add it with ``adding(_:)``. Pins for these hosts are still checked.
    ///
    /// - Throws: ``InvalidValue`` if there is no host, or one is invalid.
    public func insecurelyAcceptingAnyCertificate(
        forHosts hosts: [String]
    ) throws(InvalidValue) -> TrustPolicy {
        try changed(forHosts: hosts) { $0.acceptsAnyCertificate = true }
    }

    private func changed(_ patterns: [HostPattern] = [.any], _ change: (inout Rules) -> Void) -> TrustPolicy {
        var rules = rules
        for pattern in patterns { change(&rules[pattern, default: Rules()]) }
        return TrustPolicy(rules)
    }

    private func changed(
        forHosts hosts: [String],
        _ change: (inout Rules) -> Void
    ) throws(InvalidValue) -> TrustPolicy {
        guard !hosts.isEmpty else { throw InvalidValue(.host, "is missing") }
        return changed(try hosts.map(HostPattern.init(_:)), change)
    }

    /// Hashes only the number of rules: every request looks up its policy, and there are seldom several.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(rules.count)
    }
}

extension TrustPolicy {
    /// The minimum version of TLS that a policy requires.
    ///
    /// Versions before 1.2 aren't available: they are deprecated (RFC 8996), and no server should need them.
    public struct TLSVersion: Sendable, Hashable, CustomStringConvertible {
        /// The name of the version.
        public let description: String

        /// TLS 1.2 (RFC 5246).
        public static let tls12 = TrustPolicy.TLSVersion(description: "TLS 1.2")
        /// TLS 1.3 (RFC 8446).
        public static let tls13 = TrustPolicy.TLSVersion(description: "TLS 1.3")
    }
}

extension RequestOptions {
    private enum Trust: RequestOption {
        static let unset: TrustPolicy? = nil
        static let isPartOfFingerprint = false
    }

    /// The trust policy for the connection.
    public var trust: TrustPolicy? {
        get { self[Trust.self] }
        set { self[Trust.self] = newValue }
    }
}
