// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation

/// The requirements for a connection, as options of libcurl.
///
/// libcurl reuses a connection, and resumes a TLS session, for every handle with the same options: it compares
/// versions, verification, the paths of authorities, the bytes of the client's certificate, and pins. It ignores the
/// case of pins, and doesn't compare the client's key and password. The compared options therefore contain a poolKey of
/// the others, and a connection never serves a request with other requirements.
struct CurlTrust: Sendable {
    /// A client's certificate and key.
    struct Identity: Sendable {
        let type: String
        let certificate: Data
        let key: Data?
        let password: String
    }

    private let host: String
    let minimumVersion: TrustPolicy.TLSVersion
    private let acceptsAnyCertificate: Bool
    private let includesSystem: Bool
    let authorities: CurlAuthorities?
    private let pins: String?
    private let identity: Identity?
    private let requiresStaple: Bool
    /// The rules for checking the chain of each connection before a request is sent over it; `nil` if libcurl's own
    /// checks are sufficient.
    let chainRules: HostTrust?

    /// The requirements of requests without a policy.
    static let system = CurlTrust()

    private init() {
        host = ""
        minimumVersion = .tls12
        acceptsAnyCertificate = false
        includesSystem = true
        authorities = CurlFeatures.loaded.sharesCertificateStores ? CurlAuthorities(sharing: .system, poolKey: "") : nil
        (pins, identity, chainRules, requiresStaple) = (nil, nil, nil, false)
    }

    /// - Throws: A ``RequestError`` if libcurl doesn't support the requirements.
    init(
        _ trust: HostTrust,
        for host: String,
        authorities: CurlAuthorities?,
        _ features: CurlFeatures
    ) throws(RequestError) {
        self.host = host
        guard trust.identity == nil || features.supportsClientIdentities else {
            let reason = "client certificates need libcurl 7.71.1 with OpenSSL"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
        minimumVersion = trust.minimumVersion
        acceptsAnyCertificate = trust.acceptsAnyCertificate
        includesSystem = trust.authorities.includesSystem
        self.authorities = authorities
        // libcurl compares pins with the server's own key only. They are therefore left to it if only that key counts,
        // and if nothing else can be checked.
        let checksChains = trust.isChecked(by: features)
        guard checksChains || trust.evaluator == nil else {
            let reason = "an evaluator needs libcurl 7.80 with OpenSSL, and certificates that are verified"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
        chainRules = checksChains ? trust : nil
        pins = checksChains ? nil : trust.pins.map(Self.text)
        requiresStaple = trust.requiresStaple
        identity = trust.identity.map(Identity.init)
    }

    /// Whether TLS sessions are stored and resumed.
    ///
    /// A resumed session has no chain and no status: the server doesn't send its certificates again. And without
    /// verification, libcurl from 8.12 on resumes a session with a client certificate for a request without one.
    var resumesSessions: Bool { chainRules == nil && !requiresStaple && (!acceptsAnyCertificate || identity == nil) }

    /// Sets the options; returns 0 if this libcurl accepts them all.
    func apply(to handle: CurlHandle) -> Int32 {
        let easy: CurlEasy = handle.pointee.easy
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
        case .store(let store, let poolKey): failure |= store.apply(to: handle, poolKey: poolKey)
        case .file(let path):
            set(CCURL_CAINFO, path)
            // The system's folder of authorities is used beside any file, unless it is disabled, or replaced.
            if includesSystem { break }
            if CurlFeatures.loaded.restoresAuthorityPaths {
                failure |= CertificateStoreCache.setPoolKey("none", of: easy)
            } else {
                set(CCURL_CAPATH, nil)
            }
        case nil: break
        }
        if let pins { set(CCURL_PINNEDPUBLICKEY, pins) }
        if requiresStaple { failure |= ccurl_easy_set_long(easy, CCURL_SSL_VERIFYSTATUS, 1) }
        if !resumesSessions { failure |= ccurl_easy_set_long(easy, CCURL_SSL_SESSIONID_CACHE, 0) }
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

    /// Whether connections can be separated by marks.
    ///
    /// A poolKey takes the place of a folder of authorities, which libcurl has to read unless they are in a store.
    var supportsPoolKeys: Bool {
        if case .store = authorities { return true }
        return acceptsAnyCertificate
    }

    /// Separates the connections of a handle from those with another poolKey; `false` if they don't take any.
    func setPoolKey(_ poolKey: String, of easy: CurlEasy) -> Bool {
        guard supportsPoolKeys else { return false }
        guard case .store(_, let ownPoolKey) = authorities else { return CertificateStoreCache.setPoolKey(poolKey, of: easy) == 0 }
        return CertificateStoreCache.setPoolKey("\(ownPoolKey)-\(poolKey)", of: easy) == 0
    }

    /// Returns why the connection of a handle's transfer must not be used; `nil` if it may be.
    ///
    /// Pins are checked once for each connection: all its requests have the same. An evaluator is called for each
    /// request.
    func refusal(of easy: CurlEasy) -> TrustFailure? {
        guard let chainRules, chainRules.evaluator != nil || !ccurl_easy_is_checked(easy) else { return nil }
        var chain: [Data] = []
        withUnsafeMutablePointer(to: &chain) { chain in
            ccurl_easy_chain(
                easy,
                { context, bytes, count in
                    guard let context, let bytes else { return }
                    context.assumingMemoryBound(to: [Data].self).pointee.append(Data(bytes: bytes, count: count))
                },
                chain
            )
        }
        let refusal = chainRules.refusal(of: host, chain: chain)
        if refusal == nil { ccurl_easy_set_checked(easy) }
        return refusal
    }

    /// The number of a version, as the minimum.
    static func optionValue(of version: TrustPolicy.TLSVersion) -> Int {
        version == .tls13 ? 7 : 6
    }

    /// The pins, followed by one that no key has, since it isn't base64 of a digest: their own digest, in a spelling
    /// that doesn't depend on case.
    private static func text(of pins: Set<TrustPolicy.PublicKeyPin>) -> String {
        let texts = pins.map { "sha256//\($0.sha256.base64EncodedString())" }.sorted()
        let poolKey = SHA256.digest(of: texts.joined().utf8).hexadecimal
        return (texts + ["sha256//\(poolKey)"]).joined(separator: ";")
    }
}

extension HostTrust {
    /// Whether the library, not libcurl, checks the chains of a host before requests are sent.
    fileprivate func isChecked(by features: CurlFeatures) -> Bool {
        features.exposesChains && checksChains && !acceptsAnyCertificate
    }

    /// A text that differs for different rules of chains.
    fileprivate var poolKey: String {
        let pins = (pins ?? []).map(\.description).sorted().joined(separator: " ")
        let evaluator = evaluator.map { "\(ObjectIdentifier($0).hashValue)" } ?? ""
        return SHA256.digest(of: "\(pins) \(evaluator)".utf8).hexadecimal
    }
}

extension HostTrust.Authorities {
    /// A text that differs for different authorities, or another poolKey, and is a name in a path.
    fileprivate func poolKey(with other: String) -> String {
        let digests = certificates.map { SHA256.digest(of: $0.der).hexadecimal }
        return SHA256.digest(of: ([includesSystem ? "system" : "", other] + digests).joined(separator: " ").utf8)
            .hexadecimal
    }
}

extension CurlTrust.Identity {
    fileprivate init(_ identity: TrustPolicy.ClientIdentity) {
        // Without a password, the TLS library would ask for it on the terminal, and wait.
        password = identity.password ?? ""
        switch identity.content {
        case .pem(let certificates, let key):
            type = "PEM"
            self.key = Data(key.utf8)
            // Text before the first certificate is ignored.
            let poolKey = SHA256.digest(of: "\(password.utf8.count) \(password) \(key)".utf8).hexadecimal
            certificate = Data("\(poolKey)\n\(certificates)".utf8)
        case .pkcs12(let bytes):
            type = "P12"
            key = nil
            // Bytes behind the container are ignored as well.
            certificate = bytes + SHA256.digest(of: password.utf8)
        }
    }
}

/// The certificates of authorities, in a form that libcurl takes.
enum CurlAuthorities: Sendable {
    /// Certificates that connections share, with a poolKey of the requirements that must be equal for two requests to
    /// share a connection.
    case store(CertificateStoreCache, poolKey: String)
    /// A file of PEM text, with such a poolKey, which libcurl reads for each connection.
    case file(String)

    /// Certificates that connections share.
    ///
    /// - Parameters:
    ///   - store: The certificates.
    ///   - poolKey: A poolKey of other requirements.
    init(sharing store: CertificateStoreCache, poolKey: String) {
        self = .store(store, poolKey: store.authorities.poolKey(with: poolKey))
    }

    /// A file of the given certificates of authorities, and of the system's if they are included.
    ///
    /// - Throws: A ``RequestError`` if the system's aren't found.
    init(_ authorities: HostTrust.Authorities, poolKey: String = "") throws(RequestError) {
        // Never empty: without a single certificate no server is trusted, which isn't the same as no option at all.
        var text = Data("The authorities of a trust policy \(poolKey)\n".utf8)
        if authorities.includesSystem {
            guard let system = Self.system else {
                let reason = "the certificates of the system's authorities aren't found, to add others to them"
                throw RequestError(.unsupported, phase: .sending, reason: reason)
            }
            text += system + Data("\n".utf8)
        }
        for certificate in authorities.certificates { text += Data(certificate.pem.utf8) }
        self = .file(try Self.file(of: text))
    }

    /// The system's certificates, read once; empty if they are in a folder, which libcurl searches anyway.
    private static let system: Data? = {
        let file = ccurl_ca_file().map { String(cString: $0) }
        // If libcurl is too old to report it: the paths of distributions that have had such a version.
        let usual = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"]
        for path in file.map({ [$0] }) ?? usual {
            if let data = FileManager.default.contents(atPath: path), !data.isEmpty { return data }
        }
        return ccurl_ca_folder() == nil ? nil : Data()
    }()

    private static let files = Locked<[Data: Int32]>([:])

    /// Makes a file in memory, private to this process.
    ///
    /// It exists as long as the process, so that equal authorities have an equal path, which libcurl compares for
    /// connections.
    private static func file(of text: Data) throws(RequestError) -> String {
        let file = files.withLock { files in
            if let file = files[text] { return file }
            let file = text.withUnsafeBytes { ccurl_memory_file($0.baseAddress, $0.count) }
            if file >= 0 { files[text] = file }
            return file
        }
        guard file >= 0 else {
            throw RequestError(.other, phase: .sending, reason: "there is no room for a file of certificates")
        }
        return "/proc/self/fd/\(file)"
    }
}

/// The options of policies, cached: a policy goes with every request, and the system's authorities alone are a few
/// hundred thousand bytes.
final class CurlTrustCache: Sendable {
    private struct Key: Sendable, Hashable {
        let policy: TrustPolicy
        let host: String
        let showsIdentity: Bool
    }

    private struct State: Sendable {
        var trusts: [Key: CurlTrust] = [:]
        var stores: [HostTrust.Authorities: CertificateStoreCache] = [:]
    }

    /// The shared cache of the process.
    static let shared = CurlTrustCache(.loaded)
    private static let most = 256

    private let features: CurlFeatures
    private let state = Locked(State())

    init(_ features: CurlFeatures) {
        self.features = features
    }

    /// The requirements for the connection of a request; `nil` for the defaults.
    ///
    /// - Throws: A ``RequestError`` if libcurl doesn't support them.
    func trust(for request: TransportRequest) throws(RequestError) -> CurlTrust? {
        guard let host = try request.hostWithRules() else { return nil }
        let key = Key(policy: request.trust, host: host, showsIdentity: !request.hasLeftOrigin)
        if let trust = state.withLock({ $0.trusts[key] }) { return trust }
        guard let trust = request.hostTrust(for: host) else { return nil }
        let made = try CurlTrust(trust, for: host, authorities: authorities(of: trust), features)
        state.withLock { state in
            if state.trusts.count >= Self.most { state = State() }
            state.trusts[key] = made
        }
        return made
    }

    private func authorities(of trust: HostTrust) throws(RequestError) -> CurlAuthorities? {
        // If every certificate is accepted, no authority is needed.
        guard !trust.acceptsAnyCertificate else { return nil }
        // libcurl doesn't know the rules for chains, and would reuse a connection of other requests, whose session may
        // have been resumed: such a session has no chain.
        let poolKey = trust.isChecked(by: features) ? trust.poolKey : ""
        guard !features.sharesCertificateStores else {
            return CurlAuthorities(sharing: store(of: trust.authorities), poolKey: poolKey)
        }
        // If only the system's count, libcurl knows them.
        guard trust.authorities != HostTrust.Authorities() || !poolKey.isEmpty else { return nil }
        return try CurlAuthorities(trust.authorities, poolKey: poolKey)
    }

    private func store(of authorities: HostTrust.Authorities) -> CertificateStoreCache {
        if authorities == CertificateStoreCache.system.authorities { return .system }
        return state.withLock { state in
            if let made = state.stores[authorities] { return made }
            let made = CertificateStoreCache(authorities)
            state.stores[authorities] = made
            return made
        }
    }
}
#endif
