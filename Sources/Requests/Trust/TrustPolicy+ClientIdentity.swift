// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension TrustPolicy {
    /// A client's certificate and private key, with which it authenticates itself to a server.
    ///
    /// It is read once, when it is made, and never printed: no description, dump or error shows any of it. If a key
    /// needs a password that is missing or wrong, the connection fails. A `URLSession` takes PKCS#12 only, on macOS
    /// from version 15 on: before that, the key would stay in the user's keychain.
    ///
    /// ```swift
    /// let identity = try TrustPolicy.ClientIdentity(contentsOf: folder.appending(path: "device.p12"), password: password)
    /// let trust = TrustPolicy.system.presenting(identity)
    /// ```
    public struct ClientIdentity: Sendable, Hashable {
        /// The form of the identity.
        enum Content: Sendable, Hashable {
            /// A chain of certificates, the client's own first, and its key, both as PEM text.
            case pem(certificates: String, key: String)
            /// A container of both (RFC 7292).
            case pkcs12(Data)
        }

        let content: Content
        let password: String?

        /// Takes PEM text with a certificate, those of the authorities between it and a root, if any, and the private
        /// key.
        ///
        /// - Throws: ``InvalidValue`` if one of the two is missing or malformed, or if there are several keys.
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

        /// Takes a PKCS#12 container, such as a `.p12` file has.
        ///
        /// - Throws: ``InvalidValue`` if it isn't one.
        public init(pkcs12: Data, password: String? = nil) throws(InvalidValue) {
            // RFC 7292, 4: a SEQUENCE that begins with the version 3. It is BER, with lengths in many forms; the TLS
            // library, which can open it, checks the rest.
            let length = pkcs12.dropFirst().first ?? 0
            let contents = pkcs12.dropFirst(length > 0x80 ? 2 + Int(length & 0x7F) : 2)
            guard pkcs12.first == DERWalker.sequence, contents.starts(with: [DERWalker.integer, 1, 3]) else {
                throw InvalidValue(.identity, "isn't PKCS#12")
            }
            try self.init(.pkcs12(pkcs12), password: password)
        }

        /// Reads an identity from a file, PEM or PKCS#12.
        ///
        /// - Throws: ``InvalidValue`` if the file can't be read, or is neither.
        public init(contentsOf file: URL, password: String? = nil) throws(InvalidValue) {
            guard file.isFileURL, let data = try? Data(contentsOf: file) else {
                throw InvalidValue(.identity, "isn't in a file that can be read")
            }
            if data.first == DERWalker.sequence {
                try self.init(pkcs12: data, password: password)
            } else {
                try self.init(pem: String(decoding: data, as: UTF8.self), password: password)
            }
        }

        private init(_ content: Content, password: String?) throws(InvalidValue) {
            // It is passed to C, where it would end there, and only a part would be used.
            guard password?.utf8.contains(0) != true else {
                throw InvalidValue(.identity, "has a password with a NUL")
            }
            self.content = content
            self.password = password
        }
    }
}

extension TrustPolicy.ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A constant text, without any contents.
    public var description: String { "client identity" }
    /// A constant text, without any contents.
    public var debugDescription: String { description }
    /// An empty mirror, since `dump` and debuggers would show the contents here.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A block of PEM text (RFC 7468): its label and its bytes.
struct PEMBlock: Sendable, Hashable {
    let label: String
    let bytes: Data
    /// The block as in the text, without the text around it.
    let text: String

    /// The blocks of a text, in their order; the text between them is ignored, as usual.
    ///
    /// - Throws: ``InvalidValue`` if a block has no end, or no base64 in it. A text without blocks is no error.
    static func all(in text: String, of kind: InvalidValue.Kind) throws(InvalidValue) -> [PEMBlock] {
        var blocks: [PEMBlock] = []
        var open: (label: String, lines: [Substring])?
        // A carriage return and a line feed are one character, so all line ends are accepted.
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            if let label = line.boundary("BEGIN") {
                guard open == nil else { throw InvalidValue(kind, "has a PEM block within another") }
                open = (label, [])
            } else if let label = line.boundary("END") {
                guard let (begun, lines) = open, begun == label else {
                    throw InvalidValue(kind, "has the end of a PEM block that hasn't begun")
                }
                blocks.append(try PEMBlock(label: label, lines: lines, of: kind))
                open = nil
            } else {
                open?.lines.append(line)
            }
        }
        guard open == nil else { throw InvalidValue(kind, "has a PEM block without an end") }
        return blocks
    }

    private init(label: String, lines: [Substring], of kind: InvalidValue.Kind) throws(InvalidValue) {
        // Old encrypted keys have fields before the content, and an empty line between (RFC 1421, 4.4).
        let isHeaded = lines.first?.contains(":") == true
        let content = isHeaded ? lines.drop { !$0.isEmpty } : lines[...]
        let base64 = content.joined().filter { !$0.isWhitespace }
        guard let bytes = Data(base64Encoded: base64), !bytes.isEmpty else {
            throw InvalidValue(kind, "has a PEM block that isn't base64")
        }
        self.label = label
        self.bytes = bytes
        text = (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----", ""]).joined(separator: "\n")
    }

    /// Makes the text of a block.
    init(label: String, bytes: Data) {
        self.label = label
        self.bytes = bytes
        let base64 = bytes.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        text = "-----BEGIN \(label)-----\n\(base64)\n-----END \(label)-----\n"
    }
}

extension Substring {
    /// The label of a line that begins or ends a block.
    fileprivate func boundary(_ word: String) -> String? {
        let line = trimmingCharacters(in: .whitespaces)
        let (prefix, suffix) = ("-----\(word) ", "-----")
        guard line.hasPrefix(prefix), line.hasSuffix(suffix) else { return nil }
        let label = line.dropFirst(prefix.count).dropLast(suffix.count)
        return label.isEmpty ? nil : String(label)
    }
}
