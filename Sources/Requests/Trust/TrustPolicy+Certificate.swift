// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension TrustPolicy {
    /// An X.509 certificate of a certificate authority (CA) that you trust, or of a key that you pin.
    ///
    /// Create it from PEM text, from DER, or from a file in either format. It is stored as DER, so two values of the
    /// same certificate are equal, whatever their source. Only the structure is checked here; the validity period and
    /// the hosts are checked when a connection is made.
    ///
    /// ```swift
    /// let authority = try TrustPolicy.Certificate(contentsOf: folder.appending(path: "company-root.pem"))
    /// let trust = TrustPolicy.system.adding([authority])
    /// ```
    public struct Certificate: Sendable, Hashable {
        /// The certificate in DER encoding (X.690).
        public let der: Data
        /// The SubjectPublicKeyInfo of the certificate (RFC 5280, 4.1.2.7) in DER encoding; a pin is the digest of
        /// these bytes.
        let publicKeyInfo: Data

        /// Creates a certificate from DER.
        ///
        /// - Throws: ``InvalidValue`` if the data isn't a certificate in DER.
        public init(der: Data) throws(InvalidValue) {
            guard let key = Self.publicKeyInfo(in: [UInt8](der)) else {
                throw InvalidValue(.certificate, "isn't a DER-encoded X.509 certificate")
            }
            self.der = der
            publicKeyInfo = Data(key)
        }

        /// Creates a certificate from PEM text (RFC 7468) with a single certificate.
        ///
        /// - Throws: ``InvalidValue`` if the text contains no certificate, several certificates, or a PEM block of
        ///   another kind.
        public init(pem: String) throws(InvalidValue) {
            self = try Self.single(Self.all(pem: pem))
        }

        /// Creates a certificate from PEM or DER.
        ///
        /// - Throws: ``InvalidValue`` if the data is neither, or contains several certificates.
        public init(_ data: Data) throws(InvalidValue) {
            self = try Self.single(Self.all(data))
        }

        /// Reads a certificate from a PEM or DER file.
        ///
        /// - Throws: ``InvalidValue`` if the file can't be read, is neither PEM nor DER, or contains several
        ///   certificates.
        public init(contentsOf file: URL) throws(InvalidValue) {
            self = try Self.single(Self.all(contentsOf: file))
        }

        /// Returns all certificates in a PEM text, such as a CA bundle.
        ///
        /// - Throws: ``InvalidValue`` if the text contains no certificate, or a PEM block of another kind.
        public static func all(pem: String) throws(InvalidValue) -> [Certificate] {
            var certificates: [Certificate] = []
            for block in try PEMBlock.all(in: pem, of: .certificate) {
                guard ["CERTIFICATE", "X509 CERTIFICATE"].contains(block.label) else {
                    throw InvalidValue(.certificate, "has an unexpected PEM block, \(block.label.shortened())")
                }
                certificates.append(try Certificate(der: block.bytes))
            }
            guard !certificates.isEmpty else { throw InvalidValue(.certificate, "isn't in PEM format") }
            return certificates
        }

        /// Reads all certificates from a file: any number in PEM, or a single one in DER.
        ///
        /// - Throws: ``InvalidValue`` if the file can't be read, or is neither PEM nor DER.
        public static func all(contentsOf file: URL) throws(InvalidValue) -> [Certificate] {
            guard file.isFileURL, let data = try? Data(contentsOf: file) else {
                throw InvalidValue(.certificate, "can't be read from the file")
            }
            return try all(data)
        }

        private static func all(_ data: Data) throws(InvalidValue) -> [Certificate] {
            // DER begins with 0x30, the tag of a SEQUENCE. PEM doesn't: in ASCII, 0x30 is the digit 0, but PEM begins
            // with a hyphen or with words.
            if data.first == DERWalker.sequence, let certificate = try? Certificate(der: data) { return [certificate] }
            return try all(pem: String(decoding: data, as: UTF8.self))
        }

        private static func single(_ certificates: [Certificate]) throws(InvalidValue) -> Certificate {
            guard certificates.count == 1, let certificate = certificates.first else {
                throw InvalidValue(.certificate, "must be the only one, but the input contains several")
            }
            return certificate
        }

        /// The certificate in PEM encoding.
        public var pem: String { PEMBlock(label: "CERTIFICATE", bytes: der).text }

        /// Returns the SubjectPublicKeyInfo of a certificate (RFC 5280, 4.1); `nil` if the certificate is malformed or
        /// followed by other bytes.
        private static func publicKeyInfo(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
            var outer = DERWalker(bytes[...])
            guard var certificate = outer.next(DERWalker.sequence), outer.rest.isEmpty,
                var body = certificate.next(DERWalker.sequence),
                certificate.next(DERWalker.sequence) != nil,  // signatureAlgorithm
                certificate.next(DERWalker.bitString) != nil, certificate.rest.isEmpty
            else { return nil }
            _ = body.next(DERWalker.context0)  // version, which has a default
            guard body.next(DERWalker.integer) != nil else { return nil }  // serialNumber
            for _ in 0..<4 {  // signature, issuer, validity, subject
                guard body.next(DERWalker.sequence) != nil else { return nil }
            }
            let start = body.rest.startIndex
            guard var key = body.next(DERWalker.sequence), key.next(DERWalker.sequence) != nil,
                key.next(DERWalker.bitString) != nil, key.rest.isEmpty
            else { return nil }
            return bytes[start..<body.rest.startIndex]
        }
    }
}

extension TrustPolicy.Certificate: CustomStringConvertible {
    /// A short description with the pin of the certificate's key; a renewed certificate with the same key has the same
    /// description.
    public var description: String { "certificate with the key \(TrustPolicy.PublicKeyPin(self))" }
}

/// A parser for the subset of DER (X.690) that certificates use.
///
/// The bytes are untrusted. The parser returns `nil` for invalid DER, such as an element that exceeds its container, or
/// a length that is indefinite or encoded in more bytes than necessary.
struct DERWalker: Sendable {
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let sequence: UInt8 = 0x30
    /// The context-specific tag `[0]`.
    static let context0: UInt8 = 0xA0

    /// The remaining bytes.
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// Reads the next element if it has this tag, and returns a parser for its content; otherwise returns `nil` and
    /// reads nothing.
    mutating func next(_ tag: UInt8) -> DERWalker? {
        var bytes = rest
        guard bytes.popFirst() == tag, let first = bytes.popFirst(), let length = Self.length(first, &bytes),
            length <= bytes.count
        else { return nil }
        rest = bytes.dropFirst(length)
        return DERWalker(bytes.prefix(length))
    }

    private static func length(_ first: UInt8, _ bytes: inout ArraySlice<UInt8>) -> Int? {
        guard first >= 0x80 else { return Int(first) }
        // Allow at most four bytes (4 GiB), so that the length can't overflow.
        let count = Int(first & 0x7F)
        guard 1...4 ~= count, bytes.count >= count else { return nil }
        let length = bytes.prefix(count).reduce(0) { $0 << 8 | Int64($1) }
        bytes.removeFirst(count)
        // DER requires the shortest form (10.1), so that equal certificates have equal bytes.
        guard length >= 0x80, length >> (8 * (Int64(count) - 1)) != 0 else { return nil }
        return Int(exactly: length)
    }
}
