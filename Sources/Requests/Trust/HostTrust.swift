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

extension TrustPolicy {
    /// Your own check of a server's certificates, for conditions that no other rule of a ``TrustPolicy`` covers.
    ///
    /// ```swift
    /// let evaluator = TrustPolicy.Evaluator { host, chain in
    ///     chain.count > 1 && !revoked.contains(TrustPolicy.PublicKeyPin(chain[0]))
    /// }
    /// let trust = try TrustPolicy.system.evaluating(with: evaluator, forHosts: ["api.example.com"])
    /// ```
    ///
    /// It is called after the checks of the system and the pins, and can only refuse. It is called before each request,
    /// also over a reused connection, on a thread of the transport: it must return soon, and not block. Two evaluators
    /// are equal if they are one object, so make it once.
    public final class Evaluator: Sendable, Hashable {
        private let evaluate: @Sendable (_ host: String, _ chain: [TrustPolicy.Certificate]) -> Bool

        /// Makes an evaluator.
        ///
        /// - Parameter evaluate: Returns whether a host is trusted. The chain is the verified one, the host's own
        ///   certificate first. If any certificate is accepted, the chain has that one alone; over libcurl, such hosts
        ///   can't have an evaluator.
        public init(_ evaluate: @escaping @Sendable (_ host: String, _ chain: [TrustPolicy.Certificate]) -> Bool) {
            self.evaluate = evaluate
        }

        func trusts(_ host: String, _ chain: [TrustPolicy.Certificate]) -> Bool { evaluate(host, chain) }

        /// Whether both are one object.
        public static func == (one: TrustPolicy.Evaluator, other: TrustPolicy.Evaluator) -> Bool { one === other }

        /// Hashes the object's identity.
        public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }
}

extension TrustPolicy {
    /// The SHA-256 of a public key: one of a host's certificates must contain it, besides being trusted.
    ///
    /// A pin is of the key, in the form that it has in a certificate (SubjectPublicKeyInfo), and not of the
    /// certificate: it stays valid when that is renewed with the same key. Pin a second key too, one that isn't in use
    /// yet; otherwise the loss of the first locks every installed client out. This prints the pin of a certificate:
    ///
    /// ```sh
    /// openssl x509 -in server.pem -noout -pubkey | openssl pkey -pubin -outform der \
    ///     | openssl dgst -sha256 -binary | base64
    /// ```
    ///
    /// ```swift
    /// let pin = try TrustPolicy.PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
    /// ```
    public struct PublicKeyPin: Sendable, Hashable, CustomStringConvertible {
        /// The digest, 32 bytes.
        public let sha256: Data

        /// Takes a digest.
        ///
        /// - Throws: ``InvalidValue`` if it isn't 32 bytes.
        public init(sha256: Data) throws(InvalidValue) {
            guard sha256.count == 32 else { throw InvalidValue(.pin, "isn't the 32 bytes of a SHA-256") }
            self.sha256 = Data(sha256)
        }

        /// Takes a digest as text: base64 behind `sha256/`, as most tools print it.
        ///
        /// - Throws: ``InvalidValue`` if it isn't 32 bytes in such a form.
        public init(_ text: String) throws(InvalidValue) {
            guard text.hasPrefix("sha256/") else {
                throw InvalidValue(.pin, "doesn't begin with sha256/", excerpt: text)
            }
            // libcurl's own form has two slashes; base64 of a digest may begin with one, but then it would be too long.
            let base64 = text.dropFirst("sha256/".count)
            let digests = [base64, base64.hasPrefix("/") ? base64.dropFirst() : base64].map {
                Data(base64Encoded: "\($0)")
            }
            guard let digest = digests.first(where: { $0?.count == 32 }) ?? nil else {
                throw InvalidValue(.pin, "isn't the base64 of 32 bytes behind sha256/", excerpt: text)
            }
            sha256 = digest
        }

        /// Makes the pin of the key in a certificate.
        public init(_ certificate: TrustPolicy.Certificate) {
            sha256 = SHA256.digest(of: certificate.publicKeyInfo)
        }

        /// The pin as text, such as `sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=`.
        public var description: String { "sha256/\(sha256.base64EncodedString())" }
    }
}

// MARK: - Judging

/// The judgement about a server's certificate on platforms where the system checks chains, names and dates only.
extension HostTrust {
    /// The verdict about a certificate.
    enum Verdict: Sendable, Hashable {
        /// Let the system decide, whose checks include all that were required here.
        case leave
        /// Accept it, although the system alone may refuse it.
        case accept
        /// End the connection.
        case refuse(Distrust)
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
    /// - Returns: The verdict.
    func verdict(on host: String, chain: () -> [Data], problem: () -> Distrust?) -> Verdict {
        if !acceptsAnyCertificate {
            guard authorities.includesSystem || !authorities.certificates.isEmpty else {
                return .refuse(.noAuthorities)
            }
            if let problem = problem() { return .refuse(problem) }
        }
        if looksAtChains, let refusal = refusal(of: host, chain: chain()) { return .refuse(refusal) }
        return usesSystemTrust ? .leave : .accept
    }

    /// Whether there are requirements for certificates that the system trusts.
    var looksAtChains: Bool { pins != nil || evaluator != nil }

    /// Returns why a host with verified certificates isn't trusted; `nil` if it is.
    func refusal(of host: String, chain: [Data]) -> Distrust? {
        // If nothing is verified, the certificates behind the server's own prove nothing.
        let counted = acceptsAnyCertificate ? Array(chain.prefix(1)) : chain
        guard let own = counted.first, (try? TrustPolicy.Certificate(der: own)) != nil else { return .badCertificate }
        let certificates = counted.compactMap { try? TrustPolicy.Certificate(der: $0) }
        if let pins, !certificates.contains(where: { pins.contains(TrustPolicy.PublicKeyPin($0)) }) { return .wrongPin }
        if let evaluator, !evaluator.trusts(host, certificates) { return .rejected }
        return nil
    }
}
