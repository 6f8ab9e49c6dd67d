// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation

/// The trust requirements for a connection, in the form of libcurl options.
///
/// libcurl reuses a connection, and resumes a TLS session, for every handle with the same options. It compares the TLS
/// version, the verification settings, the CA paths, the client certificate, and the pins. But it compares pins
/// case-insensitively, and doesn't compare the client's key and password at all. So the options that libcurl compares
/// also contain a digest of the requirements that it doesn't compare. This digest, called the pool key here, ensures
/// that a connection is never reused for a request with different requirements.
struct CurlTrust: Sendable {
    /// A client's certificate and private key; both are in `certificate` if the format is PKCS#12.
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
    /// The rules for checking the certificate chain before each request is sent; `nil` if libcurl's own checks suffice.
    let chainRules: HostTrust?

    /// The requirements of requests without a trust policy.
    static let system = CurlTrust()

    private init() {
        host = ""
        minimumVersion = .tls12
        acceptsAnyCertificate = false
        includesSystem = true
        authorities = CurlFeatures.loaded.sharesCertificateStores ? CurlAuthorities(sharing: .system, poolKey: "") : nil
        (pins, identity, chainRules, requiresStaple) = (nil, nil, nil, false)
    }

    /// Creates the requirements for a host.
    ///
    /// - Throws: A ``RequestError`` if libcurl doesn't support the requirements.
    init(
        _ trust: HostTrust,
        for host: String,
        authorities: CurlAuthorities?,
        _ features: CurlFeatures
    ) throws(RequestError) {
        self.host = host
        guard trust.identity == nil || features.supportsClientIdentities else {
            let reason = "client certificates require libcurl 7.71.1 or later with OpenSSL"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
        minimumVersion = trust.minimumVersion
        acceptsAnyCertificate = trust.acceptsAnyCertificate
        includesSystem = trust.authorities.includesSystem
        self.authorities = authorities
        // libcurl compares pins only with the server's own key. So leave pins to libcurl only if this library can't
        // check the chain, or if only the server's own key counts.
        let checksChains = trust.needsChainCheck(with: features)
        guard checksChains || trust.evaluator == nil else {
            let reason = "an evaluator requires libcurl 7.80 or later with OpenSSL, and certificate verification"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
        chainRules = checksChains ? trust : nil
        pins = checksChains ? nil : trust.pins.map(Self.pinList)
        requiresStaple = trust.requiresStaple
        identity = trust.identity.map(Identity.init)
    }

    /// Whether TLS sessions are stored and resumed.
    ///
    /// A resumed session provides no certificate chain and no stapled status, because the server doesn't send them
    /// again. In addition, if verification is disabled, libcurl 8.12 and later resumes a session with a client
    /// certificate for a request without a client certificate.
    var resumesSessions: Bool { chainRules == nil && !requiresStaple && (!acceptsAnyCertificate || identity == nil) }

    /// Sets the options of a handle; returns 0 if this libcurl accepts all of them.
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
            // libcurl uses the system's CA folder in addition to a file, unless the folder is disabled or replaced.
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

    /// Whether a pool key can be set.
    ///
    /// A pool key replaces the CA folder. libcurl needs that folder unless a store contains the CA certificates, or any
    /// certificate is accepted.
    var supportsPoolKeys: Bool {
        if case .store = authorities { return true }
        return acceptsAnyCertificate
    }

    /// Prevents a handle from sharing connections with transfers that have another pool key; returns `false` if that
    /// isn't possible.
    func setPoolKey(_ poolKey: String, of easy: CurlEasy) -> Bool {
        guard supportsPoolKeys else { return false }
        guard case .store(_, let ownPoolKey) = authorities else {
            return CertificateStoreCache.setPoolKey(poolKey, of: easy) == 0
        }
        return CertificateStoreCache.setPoolKey("\(ownPoolKey)-\(poolKey)", of: easy) == 0
    }

    /// Returns the reason why the connection of a handle's transfer isn't trusted; `nil` if it is trusted.
    ///
    /// Pins are checked only once for each connection, because all its requests have the same pins. An evaluator is
    /// called for each request.
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

    /// Returns libcurl's value for a minimum version of TLS.
    static func optionValue(of version: TrustPolicy.TLSVersion) -> Int {
        version == .tls13 ? 7 : 6
    }

    /// Returns the pins in libcurl's format, followed by a digest of all pins as the pool key.
    ///
    /// The digest is hexadecimal, so it doesn't depend on case, unlike the base64 of pins. No key matches it, because
    /// it isn't the base64 of a digest.
    private static func pinList(of pins: Set<TrustPolicy.PublicKeyPin>) -> String {
        let texts = pins.map { "sha256//\($0.sha256.base64EncodedString())" }.sorted()
        let poolKey = SHA256.digest(of: texts.joined().utf8).hexadecimal
        return (texts + ["sha256//\(poolKey)"]).joined(separator: ";")
    }
}

extension HostTrust {
    /// Returns whether this library, instead of libcurl, checks the host's certificate chain before each request is
    /// sent.
    fileprivate func needsChainCheck(with features: CurlFeatures) -> Bool {
        features.exposesChains && checksChains && !acceptsAnyCertificate
    }

    /// The pool key for the rules that the certificate chain must meet, that is, the pins and the evaluator.
    fileprivate var poolKey: String {
        let pins = (pins ?? []).map(\.description).sorted().joined(separator: " ")
        let evaluator = evaluator.map { "\(ObjectIdentifier($0).hashValue)" } ?? ""
        return SHA256.digest(of: "\(pins) \(evaluator)".utf8).hexadecimal
    }
}

extension HostTrust.Authorities {
    /// Returns the pool key for these authorities and for other requirements; it is a valid path component.
    fileprivate func poolKey(with other: String) -> String {
        let digests = certificates.map { SHA256.digest(of: $0.der).hexadecimal }
        return SHA256.digest(of: ([includesSystem ? "system" : "", other] + digests).joined(separator: " ").utf8)
            .hexadecimal
    }
}

extension CurlTrust.Identity {
    fileprivate init(_ identity: TrustPolicy.ClientIdentity) {
        // Without a password, the TLS library would prompt for one on the terminal, and wait.
        password = identity.password ?? ""
        switch identity.content {
        case .pem(let certificates, let key):
            type = "PEM"
            self.key = Data(key.utf8)
            // Parsers ignore text before the first certificate, so add the pool key there.
            let poolKey = SHA256.digest(of: "\(password.utf8.count) \(password) \(key)".utf8).hexadecimal
            certificate = Data("\(poolKey)\n\(certificates)".utf8)
        case .pkcs12(let bytes):
            type = "P12"
            key = nil
            // Parsers ignore bytes after the container, so add the pool key there.
            certificate = bytes + SHA256.digest(of: password.utf8)
        }
    }
}

/// The trusted CA certificates, in a form that libcurl accepts.
enum CurlAuthorities: Sendable {
    /// A store that connections share, and a pool key for the requirements that must be equal for two requests to share
    /// a connection.
    case store(CertificateStoreCache, poolKey: String)
    /// The path of a PEM file that libcurl reads for each connection, and that also contains the pool key.
    case file(String)

    /// Creates authorities from a store that connections share.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - poolKey: A pool key for the other requirements that requests must have in common to share a connection.
    init(sharing store: CertificateStoreCache, poolKey: String) {
        self = .store(store, poolKey: store.authorities.poolKey(with: poolKey))
    }

    /// Creates a file with all trusted CA certificates, including the system's if they are trusted.
    ///
    /// - Throws: A ``RequestError`` if the system's certificates aren't found.
    init(_ authorities: HostTrust.Authorities, poolKey: String = "") throws(RequestError) {
        // Always pass a file, even if it contains no certificates and therefore no server is trusted. Without the
        // option, libcurl would trust the system's authorities.
        var text = Data("CA certificates of trust policy \(poolKey)\n".utf8)
        if authorities.includesSystem {
            guard let system = Self.system else {
                let reason = "the system's CA certificates weren't found, so no others can be added to them"
                throw RequestError(.unsupported, phase: .sending, reason: reason)
            }
            text += system + Data("\n".utf8)
        }
        for certificate in authorities.certificates { text += Data(certificate.pem.utf8) }
        self = .file(try Self.file(of: text))
    }

    /// The system's certificates, read only once; empty if they are in a folder that libcurl searches anyway.
    private static let system: Data? = {
        let file = ccurl_ca_file().map { String(cString: $0) }
        // If libcurl is too old to report its path, try the paths of distributions that have shipped such a version.
        let usual = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"]
        for path in file.map({ [$0] }) ?? usual {
            if let data = FileManager.default.contents(atPath: path), !data.isEmpty { return data }
        }
        return ccurl_ca_folder() == nil ? nil : Data()
    }()

    private static let files = Locked<[Data: Int32]>([:])

    /// Returns the path of an in-memory file that is private to this process.
    ///
    /// The file exists until the process exits. So equal authorities always have the same path, and libcurl can reuse
    /// connections, because it compares paths.
    private static func file(of text: Data) throws(RequestError) -> String {
        let file = files.withLock { files in
            if let file = files[text] { return file }
            let file = text.withUnsafeBytes { ccurl_memory_file($0.baseAddress, $0.count) }
            if file >= 0 { files[text] = file }
            return file
        }
        guard file >= 0 else {
            throw RequestError(.other, phase: .sending, reason: "can't create an in-memory file for the certificates")
        }
        return "/proc/self/fd/\(file)"
    }
}

/// A cache of the libcurl options for trust policies.
///
/// Caching is necessary because every request has a policy, and the system's CA certificates have a size of several
/// hundred kilobytes.
final class CurlTrustCache: Sendable {
    private struct Key: Sendable, Hashable {
        let policy: TrustPolicy
        let host: String
        let presentsIdentity: Bool
    }

    private struct State: Sendable {
        var trusts: [Key: CurlTrust] = [:]
        var stores: [HostTrust.Authorities: CertificateStoreCache] = [:]
    }

    /// The shared cache of the process.
    static let shared = CurlTrustCache(.loaded)
    private static let maximumCount = 256

    private let features: CurlFeatures
    private let state = Locked(State())

    init(_ features: CurlFeatures) {
        self.features = features
    }

    /// Returns the requirements for the connection of a request; `nil` for the defaults.
    ///
    /// - Throws: A ``RequestError`` if libcurl doesn't support the requirements.
    func trust(for request: TransportRequest) throws(RequestError) -> CurlTrust? {
        guard let host = try request.hostWithRules() else { return nil }
        let key = Key(policy: request.trust, host: host, presentsIdentity: !request.hasLeftOrigin)
        if let trust = state.withLock({ $0.trusts[key] }) { return trust }
        guard let trust = request.hostTrust(for: host) else { return nil }
        let curlTrust = try CurlTrust(trust, for: host, authorities: authorities(of: trust), features)
        state.withLock { state in
            if state.trusts.count >= Self.maximumCount { state = State() }
            state.trusts[key] = curlTrust
        }
        return curlTrust
    }

    private func authorities(of trust: HostTrust) throws(RequestError) -> CurlAuthorities? {
        // If every certificate is accepted, no authority is needed.
        guard !trust.acceptsAnyCertificate else { return nil }
        // libcurl doesn't know the rules for chains. Without a pool key, it would reuse a connection of other requests,
        // which has no chain if its TLS session was resumed.
        let poolKey = trust.needsChainCheck(with: features) ? trust.poolKey : ""
        guard !features.sharesCertificateStores else {
            return CurlAuthorities(sharing: store(of: trust.authorities), poolKey: poolKey)
        }
        // If only the system's authorities are trusted, libcurl uses them by default.
        guard trust.authorities != HostTrust.Authorities() || !poolKey.isEmpty else { return nil }
        return try CurlAuthorities(trust.authorities, poolKey: poolKey)
    }

    private func store(of authorities: HostTrust.Authorities) -> CertificateStoreCache {
        if authorities == CertificateStoreCache.system.authorities { return .system }
        return state.withLock { state in
            if let store = state.stores[authorities] { return store }
            let store = CertificateStoreCache(authorities)
            state.stores[authorities] = store
            return store
        }
    }
}
#endif
