// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension TrustPolicy {
    /// A custom check of a server's certificates, for requirements that no other rule of a ``TrustPolicy`` covers.
    ///
    /// ```swift
    /// let evaluator = TrustPolicy.Evaluator { host, chain in
    ///     chain.count > 1 && !revoked.contains(TrustPolicy.PublicKeyPin(chain[0]))
    /// }
    /// let trust = try TrustPolicy.system.evaluating(with: evaluator, forHosts: ["api.example.com"])
    /// ```
    ///
    /// An evaluator is called after the system's checks and the pins, so it can refuse additional servers, but never
    /// accept a server that they refuse. It is called before each request, even if the connection is reused. It runs on
    /// a thread of the transport, so it must return quickly and never block. Evaluators are compared by identity, so
    /// create each one only once.
    public final class Evaluator: Sendable, Hashable {
        private let evaluate: @Sendable (_ host: String, _ chain: [TrustPolicy.Certificate]) -> Bool

        /// Creates an evaluator.
        ///
        /// - Parameter evaluate: Returns whether a host is trusted. The chain is the verified one, beginning with the
        ///   host's own certificate. If any certificate is accepted for the host, the chain contains only the host's
        ///   own certificate. With libcurl, such hosts can't have an evaluator.
        public init(_ evaluate: @escaping @Sendable (_ host: String, _ chain: [TrustPolicy.Certificate]) -> Bool) {
            self.evaluate = evaluate
        }

        func trusts(_ host: String, _ chain: [TrustPolicy.Certificate]) -> Bool { evaluate(host, chain) }

        /// Returns whether both are the same instance.
        public static func == (one: TrustPolicy.Evaluator, other: TrustPolicy.Evaluator) -> Bool { one === other }

        /// Hashes the identity of the instance.
        public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }
}
