// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What is asked of a connection to one host: a ``TrustPolicy`` with its rules applied.
struct HostTrust: Sendable, Hashable {
    /// The authorities whose word is good.
    struct Authorities: Sendable, Hashable {
        var includesSystem = true
        var certificates: [Certificate] = []
    }

    /// Whose word about the host's key is good.
    let authorities: Authorities
    /// The pins of which one has to be that of a key in the verified chain; nil if each key will do.
    let pins: Set<PublicKeyPin>?
    /// The closure that has the last word; nil if there is none.
    let evaluator: TrustPolicy.Evaluator?
    /// Whether the host has to prove that its certificate isn't revoked.
    let requiresStaple: Bool
    /// What the host is told about the client, if it asks.
    var identity: ClientIdentity?
    let minimumVersion: TrustPolicy.TLSVersion
    /// Whether neither authorities nor names count.
    let acceptsAnyCertificate: Bool
}

extension TrustPolicy {
    /// What is asked of a connection to a host; nil for what is asked by default.
    func trust(for host: String) -> HostTrust? {
        guard let rules else { return nil }
        return HostTrust(
            authorities: rules.hostAuthorities.value(for: host) ?? rules.authorities,
            pins: rules.pins.value(for: host),
            evaluator: rules.evaluators.value(for: host),
            requiresStaple: rules.stapledHosts.value(for: host) == true,
            identity: rules.identities.value(for: host),
            minimumVersion: rules.minimumVersion,
            acceptsAnyCertificate: rules.insecureHosts.value(for: host) == true
        )
    }
}

extension TrustPolicy {
    /// A check of one's own of the certificates of a server, for what no other rule of a ``TrustPolicy`` says.
    ///
    /// ```swift
    /// let evaluator = TrustPolicy.Evaluator { host, chain in
    ///     chain.count > 1 && !revoked.contains(PublicKeyPin(chain[0]))
    /// }
    /// let trust = try TrustPolicy.system.evaluating(with: evaluator, forHosts: ["api.example.com"])
    /// ```
    ///
    /// It comes after the checks of the system and the pins, and can only refuse. It is asked before each request, also over
    /// a connection that is used again, on a thread of the transport: it must return soon, and wait for nothing. Two
    /// evaluators are equal if they are one object, so make it once.
    public final class Evaluator: Sendable, Hashable {
        private let evaluate: @Sendable (_ host: String, _ chain: [Certificate]) -> Bool

        /// Makes an evaluator.
        ///
        /// - Parameter evaluate: Returns whether a host is trusted. The chain is the verified one, the host's own certificate
        ///   first. Where any certificate is accepted, it has that one alone; over libcurl, such hosts can't have an evaluator.
        public init(_ evaluate: @escaping @Sendable (_ host: String, _ chain: [Certificate]) -> Bool) {
            self.evaluate = evaluate
        }

        func trusts(_ host: String, _ chain: [Certificate]) -> Bool { evaluate(host, chain) }

        /// Whether both are one object.
        public static func == (one: TrustPolicy.Evaluator, other: TrustPolicy.Evaluator) -> Bool { one === other }

        /// Hashes the object's identity.
        public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }
}

/// The SHA-256 of a public key: what one of a host's certificates must hold, beside being trusted.
///
/// A pin is of the key, in the form that it has in a certificate (SubjectPublicKeyInfo), and not of the certificate:
/// it stays good when that is renewed with the same key. Pin a second key too, one that isn't in use yet, or the loss
/// of the first locks every installed client out. This prints the pin of a certificate:
///
/// ```sh
/// openssl x509 -in server.pem -noout -pubkey | openssl pkey -pubin -outform der \
///     | openssl dgst -sha256 -binary | base64
/// ```
///
/// ```swift
/// let pin = try PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
/// ```
public struct PublicKeyPin: Sendable, Hashable, CustomStringConvertible {
    /// The digest, 32 bytes.
    public let sha256: Data

    /// Takes a digest.
    ///
    /// - Throws: ``TrustPolicy/InvalidPiece`` where it isn't 32 bytes.
    public init(sha256: Data) throws(TrustPolicy.InvalidPiece) {
        guard sha256.count == 32 else { throw TrustPolicy.InvalidPiece(.pin, "isn't the 32 bytes of a SHA-256") }
        self.sha256 = Data(sha256)
    }

    /// Takes a digest as text: base64 behind `sha256/`, as most tools print it.
    ///
    /// - Throws: ``TrustPolicy/InvalidPiece`` where it isn't 32 bytes in such a form.
    public init(_ text: String) throws(TrustPolicy.InvalidPiece) {
        guard text.hasPrefix("sha256/") else {
            throw TrustPolicy.InvalidPiece(.pin, "doesn't begin with sha256/", excerpt: text)
        }
        // libcurl's own spelling has two slashes; base64 of a digest may begin with one, but then is too long by it.
        let base64 = text.dropFirst("sha256/".count)
        let digests = [base64, base64.hasPrefix("/") ? base64.dropFirst() : base64].map { Data(base64Encoded: "\($0)") }
        guard let digest = digests.first(where: { $0?.count == 32 }) ?? nil else {
            throw TrustPolicy.InvalidPiece(.pin, "isn't the base64 of 32 bytes behind sha256/", excerpt: text)
        }
        sha256 = digest
    }

    /// Makes the pin of the key in a certificate.
    public init(_ certificate: Certificate) {
        sha256 = SHA256.digest(of: certificate.publicKeyInfo)
    }

    /// The pin as text, such as `sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=`.
    public var description: String { "sha256/\(sha256.base64EncodedString())" }
}

// MARK: - Judging

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

    /// Judges the certificates of the host.
    ///
    /// Everything has to be there and right: what can't be read is refused, and pins are looked at last, but for a
    /// certificate that needn't be anybody's, too.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - chain: Its certificates, as DER, its own first; called after the system was asked, which verifies them.
    ///   - problem: What the system finds wrong by the policy's authorities; nil is nothing. Not asked where any
    ///     certificate will do.
    /// - Returns: What to do.
    func verdict(on host: String, chain: () -> [Data], problem: () -> Distrust?) -> Verdict {
        if !acceptsAnyCertificate {
            guard authorities.includesSystem || !authorities.certificates.isEmpty else {
                return .refuse(.noAuthorities)
            }
            if let problem = problem() { return .refuse(problem) }
        }
        if looksAtChains, let refusal = refusal(of: host, chain: chain()) { return .refuse(refusal) }
        return goesByTheSystem ? .leave : .accept
    }

    /// Whether there is anything to look for in certificates that the system trusts.
    var looksAtChains: Bool { pins != nil || evaluator != nil }

    /// Returns why a host isn't trusted whose certificates were verified; nil if it is.
    func refusal(of host: String, chain: [Data]) -> Distrust? {
        // Where nothing is verified, what a server sends behind its own certificate proves nothing.
        let counted = acceptsAnyCertificate ? Array(chain.prefix(1)) : chain
        guard let own = counted.first, (try? Certificate(der: own)) != nil else { return .badCertificate }
        let certificates = counted.compactMap { try? Certificate(der: $0) }
        if let pins, !certificates.contains(where: { pins.contains(PublicKeyPin($0)) }) { return .wrongPin }
        if let evaluator, !evaluator.trusts(host, certificates) { return .rejected }
        return nil
    }
}
