// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A client's certificate and private key, with which it tells a server who it is.
///
/// Read once, when it is made. It is never printed: no description, dump or error shows any of it. A key that needs a
/// password fails the connection where that is missing or wrong. A `URLSession` takes PKCS#12 only, on macOS from
/// version 15 on: before that, the key would stay behind in the user's keychain.
///
/// ```swift
/// let identity = try ClientIdentity(contentsOf: folder.appending(path: "device.p12"), password: password)
/// let trust = TrustPolicy.system.presenting(identity)
/// ```
public struct ClientIdentity: Sendable, Hashable {
    /// What it is made of.
    enum Content: Sendable, Hashable {
        /// A chain of certificates, the client's own first, and its key, both as PEM text.
        case pem(certificates: String, key: String)
        /// A container of both (RFC 7292).
        case pkcs12(Data)
    }

    let content: Content
    let password: String?

    /// Takes PEM text with a certificate, those of the authorities between it and a root, if any, and the private key.
    ///
    /// - Throws: ``InvalidTrust`` where one of the two is missing or malformed, or where there are several keys.
    public init(pem: String, password: String? = nil) throws(InvalidTrust) {
        let blocks = try PEMBlock.all(in: pem, of: .identity)
        let certificates = blocks.filter { $0.label.hasSuffix("CERTIFICATE") }
        let keys = blocks.filter { $0.label.hasSuffix("PRIVATE KEY") }
        guard !certificates.isEmpty else { throw InvalidTrust(.identity, "has no certificate") }
        guard keys.count == 1, let key = keys.first else {
            throw InvalidTrust(.identity, keys.isEmpty ? "has no private key" : "has several private keys")
        }
        var chain = ""
        for certificate in certificates { chain += try Certificate(der: certificate.bytes).pem }
        try self.init(.pem(certificates: chain, key: key.text), password: password)
    }

    /// Takes a PKCS#12 container, such as a `.p12` file has.
    ///
    /// - Throws: ``InvalidTrust`` where it isn't one.
    public init(pkcs12: Data, password: String? = nil) throws(InvalidTrust) {
        // RFC 7292, 4: a SEQUENCE that begins with the version 3. It is BER, whose lengths are written in many ways;
        // what is behind them is for the TLS library, which can open it.
        let length = pkcs12.dropFirst().first ?? 0
        let contents = pkcs12.dropFirst(length > 0x80 ? 2 + Int(length & 0x7F) : 2)
        guard pkcs12.first == DERWalker.sequence, contents.starts(with: [DERWalker.integer, 1, 3]) else {
            throw InvalidTrust(.identity, "isn't PKCS#12")
        }
        try self.init(.pkcs12(pkcs12), password: password)
    }

    /// Reads an identity from a file, PEM or PKCS#12.
    ///
    /// - Throws: ``InvalidTrust`` where the file can't be read, or is neither.
    public init(contentsOf file: URL, password: String? = nil) throws(InvalidTrust) {
        guard file.isFileURL, let data = try? Data(contentsOf: file) else {
            throw InvalidTrust(.identity, "isn't in a file that can be read")
        }
        if data.first == DERWalker.sequence {
            try self.init(pkcs12: data, password: password)
        } else {
            try self.init(pem: String(decoding: data, as: UTF8.self), password: password)
        }
    }

    private init(_ content: Content, password: String?) throws(InvalidTrust) {
        // It goes through C, where it would end there, and a part of it be tried.
        guard password?.utf8.contains(0) != true else { throw InvalidTrust(.identity, "has a password with a NUL") }
        self.content = content
        self.password = password
    }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// That there is one, and nothing about it.
    public var description: String { "client identity" }
    /// That there is one, and nothing about it.
    public var debugDescription: String { description }
    /// Nothing: `dump` and debuggers look here for what the descriptions keep back.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
