// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A policy that defines the accepted certificates and keys for connections, and the minimum version of TLS.
///
/// The default, `system`, is right for nearly every application: it requires that the certificate is signed by an
/// authority of the system, is within its validity period, and names the host. Change the policy to reach servers with
/// your own authority, to pin keys, or to present a client certificate. Every rule either restricts or extends what is
/// accepted. No rule disables the checks of another, except ``insecurelyAcceptingAnyCertificate(forHosts:)``, which is
/// for development only.
///
/// ```swift
/// var environment = RequestEnvironment()
/// environment.trust = try .system
///     .adding([TrustPolicy.Certificate(contentsOf: folder.appending(path: "company-root.pem"))])
///     .pinning([currentKey, nextKey], forHosts: ["api.example.com", "*.internal.example.com"])
/// ```
///
/// The hosts of a rule are names or addresses. A name may have `*` as its first label: `*.example.com` matches
/// `www.example.com`, but neither `example.com` nor `a.b.example.com`. A rule for an exact host takes precedence over
/// one with a wildcard. Plain HTTP has no certificates, so it isn't affected.
///
/// A connection is reused only for requests with the same requirements. If a transport doesn't support a requirement,
/// the request fails with the code `unsupported` before anything is sent. ``CurlTransport`` on Linux supports all
/// requirements if libcurl is recent and uses OpenSSL, except an evaluator for hosts whose certificates are all
/// accepted. `URLSession` on Apple platforms doesn't support OCSP stapling, and supports client certificates only as
/// PKCS#12 (on a Mac, since macOS 15). Background sessions, and `URLSession` on Linux, support only `system`. If a connection isn't trusted, the request fails with the
/// code `untrusted` and a `reason`.
public struct TrustPolicy: Sendable, Hashable {
    /// The rules for one host pattern; if a rule is `nil`, the rule of the next more general pattern applies.
    struct Rules: Sendable, Hashable {
        var authorities: HostTrust.Authorities?
        var minimumVersion: TrustPolicy.TLSVersion?
        var evaluator: TrustPolicy.Evaluator?
        var requiresStaple: Bool?
        var pins: Set<TrustPolicy.PublicKeyPin>?
        var identity: TrustPolicy.ClientIdentity?
        var acceptsAnyCertificate: Bool?
    }

    /// The rules by host pattern; empty for the system's policy.
    let rules: [HostPattern: Rules]

    private init(_ rules: [HostPattern: Rules]) {
        self.rules = rules.filter { $0.value != Rules() }
    }

    /// The default policy: it requires TLS 1.2 or later, and a certificate that names the host and was issued by an
    /// authority of the system.
    public static let system = TrustPolicy([:])

    /// Returns a policy that trusts only these authorities, but not the system's.
    ///
    /// If `certificates` is empty, every connection fails.
    public static func only(_ certificates: [TrustPolicy.Certificate]) -> TrustPolicy {
        system.changed { $0.authorities = HostTrust.Authorities(includesSystem: false, certificates: certificates) }
    }

    /// Returns a copy of this policy that also trusts these authorities.
    public func adding(_ certificates: [TrustPolicy.Certificate]) -> TrustPolicy {
        changed { rules in
            var authorities = rules.authorities ?? HostTrust.Authorities()
            for certificate in certificates where !authorities.certificates.contains(certificate) {
                authorities.certificates.append(certificate)
                rules.authorities = authorities
            }
        }
    }

    /// Returns a copy of this policy that, for the given hosts, trusts only these authorities instead of its own.
    ///
    /// Use this method for your own servers if their authority must not be trusted for other hosts.
    ///
    /// - Parameters:
    ///   - certificates: The authorities; if there are none, connections to these hosts fail.
    ///   - hosts: The hosts: names, addresses, and names with `*` as their first label.
    /// - Returns: The policy.
    /// - Throws: ``InvalidValue`` if `hosts` is empty or contains an invalid host.
    public func trustingOnly(
        _ certificates: [TrustPolicy.Certificate],
        forHosts hosts: [String]
    ) throws(InvalidValue) -> TrustPolicy {
        let authorities = HostTrust.Authorities(includesSystem: false, certificates: certificates)
        return try changed(forHosts: hosts) { $0.authorities = authorities }
    }

    /// Returns a copy of this policy that calls an evaluator for connections to these hosts, after all other checks.
    ///
    /// - Parameters:
    ///   - evaluator: The evaluator; it replaces any evaluator that was set for the same hosts before.
    ///   - hosts: The hosts: names, addresses, and names with `*` as their first label.
    /// - Returns: The policy.
    /// - Throws: ``InvalidValue`` if `hosts` is empty or contains an invalid host.
    public func evaluating(
        with evaluator: TrustPolicy.Evaluator,
        forHosts hosts: [String]
    ) throws(InvalidValue) -> TrustPolicy {
        try changed(forHosts: hosts) { $0.evaluator = evaluator }
    }

    /// Returns a copy of this policy that requires these hosts to prove that their certificates aren't revoked (OCSP
    /// stapling; RFC 6066, 8).
    ///
    /// A server isn't trusted if it sends no OCSP response, or the response reports that the certificate is revoked. It
    /// also isn't trusted if it doesn't send the certificate of its authority, which OpenSSL needs to verify the
    /// response. Only libcurl supports this rule, if its TLS library does. Otherwise, requests to these hosts fail with
    /// the code `unsupported`.
    ///
    /// - Parameter hosts: The hosts: names, addresses, and names with `*` as their first label.
    /// - Returns: The policy.
    /// - Throws: ``InvalidValue`` if `hosts` is empty or contains an invalid host.
    public func requiringStapledStatus(forHosts hosts: [String]) throws(InvalidValue) -> TrustPolicy {
        try changed(forHosts: hosts) { $0.requiresStaple = true }
    }

    /// Returns a copy of this policy that requires one of these keys in the certificate chain of each of these hosts.
    ///
    /// The pins are checked after all built-in checks, against the verified chain from the host's own certificate up to
    /// the trusted authority. Additional certificates that a server sends are ignored. Pin the key of an authority if
    /// you want to be able to change the server's key. If any certificate is accepted for the host, or libcurl is built
    /// without OpenSSL, the pins are checked against only the host's own certificate. New pins are added to the
    /// existing pins of a host.
    ///
    /// - Parameters:
    ///   - pins: The pins; at least one.
    ///   - hosts: The hosts: names, addresses, and names with `*` as their first label.
    /// - Returns: The policy.
    /// - Throws: ``InvalidValue`` if `pins` or `hosts` is empty, or a host is invalid.
    public func pinning(
        _ pins: [TrustPolicy.PublicKeyPin],
        forHosts hosts: [String]
    ) throws(InvalidValue) -> TrustPolicy {
        guard !pins.isEmpty else { throw InvalidValue(.pin, "is missing") }
        return try changed(forHosts: hosts) { $0.pins = ($0.pins ?? []).union(pins) }
    }

    /// Returns a copy of this policy that presents a client certificate to every host that requests one.
    ///
    /// As with other credentials, a request that was redirected to another origin doesn't present the certificate.
    public func presenting(_ identity: TrustPolicy.ClientIdentity) -> TrustPolicy {
        changed { $0.identity = identity }
    }

    /// Returns a copy of this policy that presents a client certificate to these hosts if they request one.
    ///
    /// As with other credentials, a request that was redirected to another origin doesn't present the certificate.
    ///
    /// - Throws: ``InvalidValue`` if `hosts` is empty or contains an invalid host.
    public func presenting(
        _ identity: TrustPolicy.ClientIdentity,
        toHosts hosts: [String]
    ) throws(InvalidValue) -> TrustPolicy {
        try changed(forHosts: hosts) { $0.identity = identity }
    }

    /// Returns a copy of this policy that requires this version of TLS or a later one.
    public func requiring(_ version: TrustPolicy.TLSVersion) -> TrustPolicy {
        // TLS 1.2 is the default, so it needs no rule.
        changed { $0.minimumVersion = version == .tls12 ? nil : version }
    }

    /// Returns a copy of this policy that accepts any certificate of these hosts, so an attacker on the network can
    /// read and change everything.
    ///
    /// Use this method only for servers with self-signed certificates on a developer's machine. It is better to create
    /// your own authority and add it with ``adding(_:)``. Pins for these hosts are still checked.
    ///
    /// - Throws: ``InvalidValue`` if `hosts` is empty or contains an invalid host.
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

    /// Hashes only the number of rules, because every request looks up its policy, and there are rarely several
    /// policies.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(rules.count)
    }
}

extension TrustPolicy {
    /// A minimum version of TLS that a policy requires.
    ///
    /// Versions before 1.2 aren't available, because they are deprecated (RFC 8996), and no server should need them.
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
