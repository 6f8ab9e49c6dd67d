// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import Foundation

/// What a connection is asked for, as the options of libcurl.
///
/// libcurl uses a connection again, and resumes a TLS session, for every handle with the same options: it compares
/// versions, verification, the bytes or paths of authorities and of the client's certificate, and pins. Two things it
/// doesn't: the case of pins, and the client's key and password at all. So what is compared carries a mark of what
/// isn't, and a connection never serves a request of which something else was asked.
struct CurlTrust: Sendable {
    /// A client's certificate and key.
    struct Identity: Sendable {
        let type: String
        let certificate: Data
        let key: Data?
        let password: String
    }

    let minimumVersion: TLSVersion
    private let acceptsAnyCertificate: Bool
    private let includesSystem: Bool
    private let authorities: CurlAuthorities?
    private let pins: String?
    private let identity: Identity?

    /// - Throws: A ``RequestError`` where this libcurl is too old.
    init(_ trust: HostTrust, authorities: CurlAuthorities?, version: UInt32) throws(RequestError) {
        guard trust.identity == nil || version >= 0x074700 else {
            throw RequestError(.unsupported, phase: .sending, reason: "client certificates need libcurl 7.71")
        }
        minimumVersion = trust.minimumVersion
        acceptsAnyCertificate = trust.acceptsAnyCertificate
        includesSystem = trust.authorities.includesSystem
        self.authorities = authorities
        pins = trust.pins.map(Self.text)
        identity = trust.identity.map(Identity.init)
    }

    /// Sets the options; gives 0 where this libcurl takes them all.
    func apply(to easy: OpaquePointer) -> Int32 {
        var failure: Int32 = 0
        func set(_ option: CCurlTextOption, _ value: String?) { failure |= ccurl_easy_set_text(easy, option, value) }
        func set(_ option: CCurlBlobOption, _ value: Data) {
            failure |= value.withUnsafeBytes { ccurl_easy_set_blob(easy, option, $0.baseAddress, $0.count) }
        }
        if acceptsAnyCertificate {
            failure |= ccurl_easy_set_long(easy, CCURL_SSL_VERIFYPEER, 0)
            failure |= ccurl_easy_set_long(easy, CCURL_SSL_VERIFYHOST, 0)
        }
        switch authorities {
        case .bytes(let bytes): set(CCURL_CAINFO_BLOB, bytes)
        case .file(let path): set(CCURL_CAINFO, path)
        case nil: break
        }
        // The system's folder of authorities is looked into beside any file or bytes, unless it is taken away.
        if !includesSystem { set(CCURL_CAPATH, nil) }
        if let pins { set(CCURL_PINNEDPUBLICKEY, pins) }
        if let identity {
            set(CCURL_SSLCERT_BLOB, identity.certificate)
            set(CCURL_SSLCERTTYPE, identity.type)
            if let key = identity.key {
                set(CCURL_SSLKEY_BLOB, key)
                set(CCURL_SSLKEYTYPE, identity.type)
            }
            set(CCURL_KEYPASSWD, identity.password)
        }
        return failure
    }

    /// The number of a version as the least.
    static func number(of version: TLSVersion) -> Int {
        version == .tls13 ? 7 : 6
    }

    /// Pins, and behind them one that no key has, since it isn't base64 of a digest: their own digest, in a spelling
    /// that is the same in either case.
    private static func text(of pins: Set<PublicKeyPin>) -> String {
        let texts = pins.map { "sha256//\($0.sha256.base64EncodedString())" }.sorted()
        let mark = SHA256.digest(of: texts.joined().utf8).hexadecimal
        return (texts + ["sha256//\(mark)"]).joined(separator: ";")
    }
}

extension CurlTrust.Identity {
    fileprivate init(_ identity: ClientIdentity) {
        // Without one, the TLS library would ask for it on the terminal, and wait.
        password = identity.password ?? ""
        switch identity.content {
        case .pem(let certificates, let key):
            type = "PEM"
            self.key = Data(key.utf8)
            // Text before the first certificate is ignored.
            let mark = SHA256.digest(of: "\(password.utf8.count) \(password) \(key)".utf8).hexadecimal
            certificate = Data("\(mark)\n\(certificates)".utf8)
        case .pkcs12(let bytes):
            type = "P12"
            key = nil
            // So are bytes behind the container.
            certificate = bytes + SHA256.digest(of: password.utf8)
        }
    }
}
#endif
