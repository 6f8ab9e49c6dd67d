// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

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
