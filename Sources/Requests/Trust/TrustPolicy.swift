// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Whom a connection trusts: whose certificates, which keys, and from which version of TLS on.
///
/// The default, `system`, is right for nearly everyone: the certificate is signed by an authority of the system's,
/// is in its time, and names the host. Change it to reach servers with an authority of your own, to pin keys, or to
/// show a client certificate. Every rule narrows what is accepted, or adds what you name; none turns the checks of
/// another off, but for ``insecurelyAcceptingAnyCertificate(forHosts:)``, which is for development.
///
/// ```swift
/// var environment = RequestEnvironment()
/// environment.trust = try .system
///     .adding([Certificate(contentsOf: folder.appending(path: "company-root.pem"))])
///     .pinning([currentKey, nextKey], forHosts: ["api.example.com", "*.internal.example.com"])
/// ```
///
/// A rule for hosts takes names and addresses, or `*` for the first label of a name: `*.example.com` is
/// `www.example.com`, but neither `example.com` nor `a.b.example.com`. The rule of a host itself goes before that of a
/// wildcard. Plain http has no certificates, and isn't affected.
///
/// A connection is used again only for requests of which the same is asked. What a transport can't do is an error of
/// code `unsupported`, before anything is sent: ``CurlTransport`` on Linux does everything; `URLSession` does on Apple
/// platforms, with client certificates as PKCS#12 only, and `system` alone on Linux. A connection that isn't trusted is an error of code `untrusted`,
/// with a `reason` that says why.
public struct TrustPolicy: Sendable, Hashable {
    /// The rules of a policy.
    struct Rules: Sendable, Hashable {
        var authorities = HostTrust.Authorities()
        var hostAuthorities: [HostPattern: HostTrust.Authorities] = [:]
        var evaluators: [HostPattern: TrustPolicy.Evaluator] = [:]
        var stapledHosts: [HostPattern: Bool] = [:]
        var pins: [HostPattern: Set<PublicKeyPin>] = [:]
        var identities: [HostPattern: ClientIdentity] = [:]
        var minimumVersion = TrustPolicy.TLSVersion.tls12
        var insecureHosts: [HostPattern: Bool] = [:]
    }

    // Behind one reference, with the hash made once: a policy goes along with every request, and is looked up there.
    private final class Storage: Sendable {
        let rules: Rules
        let hash: Int

        init(_ rules: Rules) {
            self.rules = rules
            hash = rules.hashValue
        }
    }

    private let storage: Storage?

    private init(_ rules: Rules?) {
        storage = rules == Rules() ? nil : rules.map(Storage.init)
    }

    /// The rules; nil where there are none but the system's.
    var rules: Rules? { storage?.rules }

    /// What the system trusts, under the host's name, with TLS 1.2 at least: the default.
    public static let system = TrustPolicy(nil)

    /// Trusts these authorities and no other, the system's neither.
    ///
    /// No certificate at all is nobody: every connection fails.
    public static func only(_ certificates: [Certificate]) -> TrustPolicy {
        TrustPolicy(Rules(authorities: HostTrust.Authorities(includesSystem: false, certificates: certificates)))
    }

    /// Trusts these authorities too.
    public func adding(_ certificates: [Certificate]) -> TrustPolicy {
        changed { rules in
            for certificate in certificates where !rules.authorities.certificates.contains(certificate) {
                rules.authorities.certificates.append(certificate)
            }
        }
    }

    /// Trusts these authorities for some hosts, and no other: the rule of the policy doesn't count for them.
    ///
    /// Use it for servers of your own whose authority must not speak for the rest of the world.
    ///
    /// - Parameters:
    ///   - certificates: The authorities; without any, connections to these hosts fail.
    ///   - hosts: The hosts: names, addresses, and names with `*` for their first label.
    /// - Returns: A policy that does.
    /// - Throws: ``TrustPolicy/InvalidPiece`` if there is no host, or one isn't.
    public func trustingOnly(
        _ certificates: [Certificate],
        forHosts hosts: [String]
    ) throws(TrustPolicy.InvalidPiece) -> TrustPolicy {
        let patterns = try Self.patterns(hosts)
        let authorities = HostTrust.Authorities(includesSystem: false, certificates: certificates)
        return changed { rules in
            for pattern in patterns { rules.hostAuthorities[pattern] = authorities }
        }
    }

    /// Asks a closure about connections to these hosts, after all other checks.
    ///
    /// - Parameters:
    ///   - evaluator: The closure; a host has one, the last.
    ///   - hosts: The hosts: names, addresses, and names with `*` for their first label.
    /// - Returns: A policy that does.
    /// - Throws: ``TrustPolicy/InvalidPiece`` if there is no host, or one isn't.
    public func evaluating(
        with evaluator: TrustPolicy.Evaluator,
        forHosts hosts: [String]
    ) throws(TrustPolicy.InvalidPiece) -> TrustPolicy {
        let patterns = try Self.patterns(hosts)
        return changed { rules in
            for pattern in patterns { rules.evaluators[pattern] = evaluator }
        }
    }

    /// Asks that these hosts bring a proof that their certificate isn't revoked (OCSP stapling, RFC 6066, 8).
    ///
    /// A server that brings none, or one that says otherwise, isn't trusted, nor is one that doesn't send the certificate of
    /// the authority along, which OpenSSL needs to check the proof. Over libcurl only, if its TLS library can;
    /// elsewhere, requests to these hosts fail with the code `unsupported`.
    ///
    /// - Parameter hosts: The hosts: names, addresses, and names with `*` for their first label.
    /// - Returns: A policy that does.
    /// - Throws: ``TrustPolicy/InvalidPiece`` if there is no host, or one isn't.
    public func requiringStapledStatus(forHosts hosts: [String]) throws(TrustPolicy.InvalidPiece) -> TrustPolicy {
        let patterns = try Self.patterns(hosts)
        return changed { rules in
            for pattern in patterns { rules.stapledHosts[pattern] = true }
        }
    }

    /// Asks that one of these keys is in the chain of certificates of these hosts, after all other checks.
    ///
    /// The chain is the one that was verified: the host's own certificate, and those above it up to the authority that is
    /// trusted. What a server sends besides doesn't count. Pin the key of an authority to be free to change the server's.
    /// Where any certificate is accepted, and over a libcurl without OpenSSL, only the host's own certificate counts.
    /// Pins for a host that has some already are added to them.
    ///
    /// - Parameters:
    ///   - pins: The pins; at least one.
    ///   - hosts: Whose key it is: names, addresses, and names with `*` for their first label.
    /// - Returns: A policy that asks for it.
    /// - Throws: ``TrustPolicy/InvalidPiece`` where there is no pin or no host, or where a host isn't one.
    public func pinning(
        _ pins: [PublicKeyPin],
        forHosts hosts: [String]
    ) throws(TrustPolicy.InvalidPiece) -> TrustPolicy {
        guard !pins.isEmpty else { throw TrustPolicy.InvalidPiece(.pin, "is missing") }
        let patterns = try Self.patterns(hosts)
        return changed { rules in
            for pattern in patterns { rules.pins[pattern, default: []].formUnion(pins) }
        }
    }

    /// Shows every host that asks for it a client certificate.
    ///
    /// A request that redirects have led to another origin goes without, as it goes without its credentials.
    public func presenting(_ identity: ClientIdentity) -> TrustPolicy {
        changed { $0.identities[.any] = identity }
    }

    /// Shows these hosts a client certificate, if they ask for it.
    ///
    /// A request that redirects have led to another origin goes without, as it goes without its credentials.
    ///
    /// - Throws: ``TrustPolicy/InvalidPiece`` where there is no host, or one isn't.
    public func presenting(
        _ identity: ClientIdentity,
        toHosts hosts: [String]
    ) throws(TrustPolicy.InvalidPiece) -> TrustPolicy {
        let patterns = try Self.patterns(hosts)
        return changed { rules in
            for pattern in patterns { rules.identities[pattern] = identity }
        }
    }

    /// Asks for a version of TLS, or a newer one.
    public func requiring(_ version: TrustPolicy.TLSVersion) -> TrustPolicy {
        changed { $0.minimumVersion = version }
    }

    /// Accepts whatever certificate these hosts show, of anyone and for anyone: whoever is in between can read and
    /// change everything.
    ///
    /// For servers on a developer's machine, with certificates that they made themselves. Better make them an authority
    /// and ``adding(_:)`` it. Pins, where there are some for these hosts, still have to be right.
    ///
    /// - Throws: ``TrustPolicy/InvalidPiece`` where there is no host, or one isn't.
    public func insecurelyAcceptingAnyCertificate(
        forHosts hosts: [String]
    ) throws(TrustPolicy.InvalidPiece) -> TrustPolicy {
        let patterns = try Self.patterns(hosts)
        return changed { rules in
            for pattern in patterns { rules.insecureHosts[pattern] = true }
        }
    }

    private func changed(_ change: (inout Rules) -> Void) -> TrustPolicy {
        var rules = rules ?? Rules()
        change(&rules)
        return TrustPolicy(rules)
    }

    private static func patterns(_ hosts: [String]) throws(TrustPolicy.InvalidPiece) -> [HostPattern] {
        guard !hosts.isEmpty else { throw TrustPolicy.InvalidPiece(.host, "is missing") }
        var patterns: [HostPattern] = []
        for host in hosts { patterns.append(try HostPattern(host)) }
        return patterns
    }

    /// Whether two policies ask the same.
    public static func == (one: TrustPolicy, other: TrustPolicy) -> Bool {
        one.storage === other.storage || one.storage?.hash == other.storage?.hash && one.rules == other.rules
    }

    /// Hashes the policy.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(storage?.hash)
    }
}

extension TrustPolicy {
    /// Why a piece of a ``TrustPolicy`` can't be made: what it was to be, and what is wrong with it.
    ///
    /// A pin with a typing error, or a host that no address can have, would protect nothing and say nothing. So they are
    /// refused where they are written down, and not when a connection is made.
    public struct InvalidPiece: ExplainedError, Sendable, Hashable, CustomStringConvertible, LocalizedError {
        /// A piece of a policy.
        public enum Piece: String, Sendable, Hashable {
            /// A certificate.
            case certificate
            /// The pin of a public key.
            case pin
            /// The name of a host, or the pattern of such names.
            case host
            /// A client's certificate and key.
            case identity = "client identity"
        }

        /// The piece that is at fault.
        public let piece: Piece
        /// What is wrong with it.
        public let reason: String
        /// The beginning of a pin or a host, with control characters escaped; of nothing else, which may be a secret.
        public let excerpt: String

        /// Makes the error; the excerpt is shortened here.
        public init(_ piece: Piece, _ reason: String, excerpt: String = "") {
            self.piece = piece
            self.reason = reason
            self.excerpt = excerpt.shortened()
        }

        /// The error, in a sentence.
        public var description: String {
            "the \(piece.rawValue)\(excerpt.isEmpty ? "" : " “\(excerpt)”") \(reason)"
        }

        /// The error, for people.
        public var errorDescription: String? { description }
    }
}

extension TrustPolicy {
    /// A version of TLS, the least that a policy asks for.
    ///
    /// Older ones than 1.2 can't be asked for: they are deprecated (RFC 8996), and no server should need them.
    public struct TLSVersion: Sendable, Hashable, CustomStringConvertible {
        private enum Version: String, Sendable {
            case tls12 = "TLS 1.2"
            case tls13 = "TLS 1.3"
        }

        private let version: Version

        /// TLS 1.2 (RFC 5246).
        public static let tls12 = TrustPolicy.TLSVersion(version: .tls12)
        /// TLS 1.3 (RFC 8446).
        public static let tls13 = TrustPolicy.TLSVersion(version: .tls13)

        /// The name of the version.
        public var description: String { version.rawValue }
    }
}
