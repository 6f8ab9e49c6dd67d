// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension TrustPolicy {
    /// An X.509 certificate: an authority to trust, or the holder of a key to pin.
    ///
    /// It is made from PEM text, from DER, or from a file of either, and stored as DER, so that the same certificate is
    /// equal whatever its source. Only its structure is checked here; its validity and its hosts are checked during a
    /// connection.
    ///
    /// ```swift
    /// let authority = try TrustPolicy.Certificate(contentsOf: folder.appending(path: "company-root.pem"))
    /// let trust = TrustPolicy.system.adding([authority])
    /// ```
    public struct Certificate: Sendable, Hashable {
        /// The certificate as DER (X.690).
        public let der: Data
        /// The SubjectPublicKeyInfo in it (RFC 5280, 4.1.2.7), as DER: a pin is its digest.
        let publicKeyInfo: Data

        /// Takes a certificate as DER.
        ///
        /// - Throws: ``InvalidValue`` if it isn't one.
        public init(der: Data) throws(InvalidValue) {
            guard let key = Self.publicKeyInfo(in: [UInt8](der)) else {
                throw InvalidValue(.certificate, "isn't an X.509 certificate in DER")
            }
            self.der = der
            publicKeyInfo = Data(key)
        }

        /// Takes a certificate as PEM text (RFC 7468), which must be the only one.
        ///
        /// - Throws: ``InvalidValue`` if the text has no certificate, several, or something else.
        public init(pem: String) throws(InvalidValue) {
            self = try Self.single(Self.all(pem: pem))
        }

        /// Takes a certificate as PEM or as DER.
        ///
        /// - Throws: ``InvalidValue`` if it is neither, or if there are several.
        public init(_ data: Data) throws(InvalidValue) {
            self = try Self.single(Self.all(data))
        }

        /// Reads a certificate from a file, PEM or DER.
        ///
        /// - Throws: ``InvalidValue`` if the file can't be read, is neither, or has several.
        public init(contentsOf file: URL) throws(InvalidValue) {
            self = try Self.single(Self.all(contentsOf: file))
        }

        /// The certificates of a PEM text, such as a bundle of authorities.
        ///
        /// - Throws: ``InvalidValue`` if the text has no certificate, or something else.
        public static func all(pem: String) throws(InvalidValue) -> [Certificate] {
            var certificates: [Certificate] = []
            for block in try PEMBlock.all(in: pem, of: .certificate) {
                guard ["CERTIFICATE", "X509 CERTIFICATE"].contains(block.label) else {
                    throw InvalidValue(.certificate, "comes with the PEM block \(block.label.shortened())")
                }
                certificates.append(try Certificate(der: block.bytes))
            }
            guard !certificates.isEmpty else { throw InvalidValue(.certificate, "isn't PEM text") }
            return certificates
        }

        /// The certificates of a file: a bundle in PEM, or one in DER.
        ///
        /// - Throws: ``InvalidValue`` if the file can't be read, or is neither.
        public static func all(contentsOf file: URL) throws(InvalidValue) -> [Certificate] {
            guard file.isFileURL, let data = try? Data(contentsOf: file) else {
                throw InvalidValue(.certificate, "isn't in a file that can be read")
            }
            return try all(data)
        }

        private static func all(_ data: Data) throws(InvalidValue) -> [Certificate] {
            // Text never begins as a SEQUENCE of any length: PEM begins with a hyphen or words, and 0x30 is the digit
            // 0.
            if data.first == DERWalker.sequence, let certificate = try? Certificate(der: data) { return [certificate] }
            return try all(pem: String(decoding: data, as: UTF8.self))
        }

        private static func single(_ certificates: [Certificate]) throws(InvalidValue) -> Certificate {
            guard certificates.count == 1, let certificate = certificates.first else {
                throw InvalidValue(.certificate, "is one of several, and only one is expected")
            }
            return certificate
        }

        /// The certificate as PEM text.
        public var pem: String { PEMBlock(label: "CERTIFICATE", bytes: der).text }

        /// Parses a certificate up to its key (RFC 5280, 4.1), and checks that it has no bytes behind its end.
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
    /// The certificate by the pin of its key: short, and the same for every renewal with that key.
    public var description: String { "certificate with the key \(TrustPolicy.PublicKeyPin(self))" }
}

/// Parses the elements of DER (X.690), as far as certificates need it.
///
/// The bytes are untrusted. Invalid DER gives `nil`: an element that ends behind its container, a length that is
/// indefinite or longer than necessary.
struct DERWalker: Sendable {
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let sequence: UInt8 = 0x30
    /// The tag that a definition writes as `[0]`.
    static let context0: UInt8 = 0xA0

    /// The bytes that weren't read yet.
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// Reads the next element, if it has this tag, and returns its content; otherwise nothing is read.
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
        // Four bytes are 4 GiB: longer lengths aren't needed, and none can overflow.
        let count = Int(first & 0x7F)
        guard 1...4 ~= count, bytes.count >= count else { return nil }
        let length = bytes.prefix(count).reduce(0) { $0 << 8 | Int64($1) }
        bytes.removeFirst(count)
        // Only the shortest form is valid, so that equal certificates have equal bytes (10.1).
        guard length >= 0x80, length >> (8 * (Int64(count) - 1)) != 0 else { return nil }
        return Int(exactly: length)
    }
}
