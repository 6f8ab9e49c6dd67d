// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

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
