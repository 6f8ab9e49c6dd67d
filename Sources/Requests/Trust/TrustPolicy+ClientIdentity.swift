// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension TrustPolicy {
    /// A client's certificate and private key for authenticating the client to a server.
    ///
    /// The content is read only once, when the identity is created. It is never printed: no description, dump or error
    /// shows any of it. If the key requires a password that is missing or wrong, the connection fails. A `URLSession`
    /// accepts only PKCS#12. On a Mac, it also requires macOS 15, because earlier versions would leave the key in the
    /// user's keychain.
    ///
    /// ```swift
    /// let identity = try TrustPolicy.ClientIdentity(contentsOf: folder.appending(path: "device.p12"), password: password)
    /// let trust = TrustPolicy.system.presenting(identity)
    /// ```
    public struct ClientIdentity: Sendable, Hashable {
        /// The format of the identity.
        enum Content: Sendable, Hashable {
            /// A certificate chain, beginning with the client's certificate, and its private key, both as PEM text.
            case pem(certificates: String, key: String)
            /// A PKCS#12 container with the certificates and the private key (RFC 7292).
            case pkcs12(Data)
        }

        let content: Content
        let password: String?

        /// Creates an identity from PEM text with a certificate, any intermediate certificates, and the private key.
        ///
        /// - Throws: ``InvalidValue`` if the certificate or the key is missing or malformed, or if there are several
        ///   keys.
        public init(pem: String, password: String? = nil) throws(InvalidValue) {
            let blocks = try PEMBlock.all(in: pem, of: .identity)
            let certificates = blocks.filter { $0.label.hasSuffix("CERTIFICATE") }
            let keys = blocks.filter { $0.label.hasSuffix("PRIVATE KEY") }
            guard !certificates.isEmpty else { throw InvalidValue(.identity, "has no certificate") }
            guard keys.count == 1, let key = keys.first else {
                throw InvalidValue(.identity, keys.isEmpty ? "has no private key" : "has several private keys")
            }
            var chain = ""
            for certificate in certificates { chain += try TrustPolicy.Certificate(der: certificate.bytes).pem }
            try self.init(.pem(certificates: chain, key: key.text), password: password)
        }

        /// Creates an identity from a PKCS#12 container, such as the content of a `.p12` file.
        ///
        /// - Throws: ``InvalidValue`` if the data isn't PKCS#12.
        public init(pkcs12: Data, password: String? = nil) throws(InvalidValue) {
            // A container is a SEQUENCE that begins with the version 3 (RFC 7292, 4). Lengths may have many forms,
            // because the encoding is BER. The TLS library checks the rest when it opens the container.
            let length = pkcs12.dropFirst().first ?? 0
            let contents = pkcs12.dropFirst(length > 0x80 ? 2 + Int(length & 0x7F) : 2)
            guard pkcs12.first == DERWalker.sequence, contents.starts(with: [DERWalker.integer, 1, 3]) else {
                throw InvalidValue(.identity, "isn't PKCS#12")
            }
            try self.init(.pkcs12(pkcs12), password: password)
        }

        /// Reads an identity from a PEM or PKCS#12 file.
        ///
        /// - Throws: ``InvalidValue`` if the file can't be read, or is neither PEM nor PKCS#12.
        public init(contentsOf file: URL, password: String? = nil) throws(InvalidValue) {
            guard file.isFileURL, let data = try? Data(contentsOf: file) else {
                throw InvalidValue(.identity, "can't be read from the file")
            }
            if data.first == DERWalker.sequence {
                try self.init(pkcs12: data, password: password)
            } else {
                try self.init(pem: String(decoding: data, as: UTF8.self), password: password)
            }
        }

        private init(_ content: Content, password: String?) throws(InvalidValue) {
            // The password is passed to C, where a NUL would truncate it.
            guard password?.utf8.contains(0) != true else {
                throw InvalidValue(.identity, "has a password that contains a NUL character")
            }
            self.content = content
            self.password = password
        }
    }
}

extension TrustPolicy.ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A constant string, which never shows the content.
    public var description: String { "client identity" }
    /// A constant string, which never shows the content.
    public var debugDescription: String { description }
    /// An empty mirror, so that `dump` and debuggers don't show the content.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A block of PEM text (RFC 7468).
struct PEMBlock: Sendable, Hashable {
    let label: String
    let bytes: Data
    /// The block in PEM encoding, without any surrounding text.
    let text: String

    /// Parses all blocks of a PEM text in order, and ignores anything between them.
    ///
    /// - Throws: ``InvalidValue`` if a block has no end, or isn't base64. A text without blocks isn't an error.
    static func all(in text: String, of kind: InvalidValue.Kind) throws(InvalidValue) -> [PEMBlock] {
        var blocks: [PEMBlock] = []
        var open: (label: String, lines: [Substring])?
        // `isNewline` accepts all line endings, including CR LF, which is a single `Character`.
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            if let label = line.boundary("BEGIN") {
                guard open == nil else { throw InvalidValue(kind, "has a PEM block inside another") }
                open = (label, [])
            } else if let label = line.boundary("END") {
                guard let (begun, lines) = open, begun == label else {
                    throw InvalidValue(kind, "has the end of a PEM block without its beginning")
                }
                blocks.append(try PEMBlock(label: label, lines: lines, of: kind))
                open = nil
            } else {
                open?.lines.append(line)
            }
        }
        guard open == nil else { throw InvalidValue(kind, "has a PEM block without its end") }
        return blocks
    }

    private init(label: String, lines: [Substring], of kind: InvalidValue.Kind) throws(InvalidValue) {
        // Encrypted keys in the old format have header fields and an empty line before the content (RFC 1421, 4.4).
        let isHeaded = lines.first?.contains(":") == true
        let content = isHeaded ? lines.drop { !$0.isEmpty } : lines[...]
        let base64 = content.joined().filter { !$0.isWhitespace }
        guard let bytes = Data(base64Encoded: base64), !bytes.isEmpty else {
            throw InvalidValue(kind, "has a PEM block that isn't valid base64")
        }
        self.label = label
        self.bytes = bytes
        text = (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----", ""]).joined(separator: "\n")
    }

    /// Creates a block from its label and bytes.
    init(label: String, bytes: Data) {
        self.label = label
        self.bytes = bytes
        let base64 = bytes.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        text = "-----BEGIN \(label)-----\n\(base64)\n-----END \(label)-----\n"
    }
}

extension Substring {
    /// Returns the label if the line begins or ends a block.
    fileprivate func boundary(_ word: String) -> String? {
        let line = trimmingCharacters(in: .whitespaces)
        let (prefix, suffix) = ("-----\(word) ", "-----")
        guard line.hasPrefix(prefix), line.hasSuffix(suffix) else { return nil }
        let label = line.dropFirst(prefix.count).dropLast(suffix.count)
        return label.isEmpty ? nil : String(label)
    }
}
