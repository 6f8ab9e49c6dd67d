// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension TrustPolicy {
    /// The SHA-256 digest of a public key that a host's certificate chain must contain, in addition to being trusted.
    ///
    /// A pin identifies the key (its SubjectPublicKeyInfo), not the certificate. So it stays valid when the certificate
    /// is renewed with the same key. Always pin a second key that isn't in use yet: otherwise the loss of the first key
    /// locks out every installed client. This command prints the pin of a certificate:
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
        /// The 32-byte digest.
        public let sha256: Data

        /// Creates a pin from a digest.
        ///
        /// - Throws: ``InvalidValue`` if the digest isn't 32 bytes long.
        public init(sha256: Data) throws(InvalidValue) {
            guard sha256.count == 32 else { throw InvalidValue(.pin, "must be the 32 bytes of a SHA-256 digest") }
            self.sha256 = Data(sha256)
        }

        /// Creates a pin from a string: `sha256/` followed by the base64 of the digest, as most tools print it.
        ///
        /// - Throws: ``InvalidValue`` if the string has another form, or the digest isn't 32 bytes long.
        public init(_ text: String) throws(InvalidValue) {
            guard text.hasPrefix("sha256/") else {
                throw InvalidValue(.pin, "must begin with “sha256/”", excerpt: text)
            }
            // Accept libcurl's form with two slashes, too. If the base64 itself begins with a slash, only one of the
            // candidates has 32 bytes.
            let base64 = text.dropFirst("sha256/".count)
            let digests = [base64, base64.hasPrefix("/") ? base64.dropFirst() : base64].map {
                Data(base64Encoded: "\($0)")
            }
            guard let digest = digests.first(where: { $0?.count == 32 }) ?? nil else {
                throw InvalidValue(.pin, "must be “sha256/” followed by the base64 encoding of 32 bytes", excerpt: text)
            }
            sha256 = digest
        }

        /// Creates the pin of a certificate's public key.
        public init(_ certificate: TrustPolicy.Certificate) {
            sha256 = SHA256.digest(of: certificate.publicKeyInfo)
        }

        /// The pin as a string, such as `sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=`.
        public var description: String { "sha256/\(sha256.base64EncodedString())" }
    }
}
