// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation

/// The parsed CA certificates, shared by all connections that trust them.
///
/// libcurl would read and parse the system's CA certificates, well over a hundred, for each connection. With OpenSSL
/// 3, that would block the thread that runs all transfers for 20 ms. Here, they are parsed once, and again for the
/// first connection after the system's CA certificates have changed.
final class CertificateStoreCache: Sendable {
    /// The paths at which libcurl looks for the system's CA certificates.
    struct SystemPaths: Sendable {
        let file: String?
        let folder: String?

        /// The paths of the loaded libcurl; `nil` if it is too old to report them, or has none.
        static let current: SystemPaths? = {
            let (file, folder) = (ccurl_ca_file(), ccurl_ca_folder())
            guard file != nil || folder != nil else { return nil }
            return SystemPaths(file: file.map { String(cString: $0) }, folder: folder.map { String(cString: $0) })
        }()
    }

    private struct Parsed: Sendable {
        let certificates: Certificates?
        let versions: [[Int]]
    }

    /// The cache for the system's authorities.
    static let system = CertificateStoreCache(HostTrust.Authorities())

    let authorities: HostTrust.Authorities
    private let system: SystemPaths?
    private let parsed = Locked<Parsed?>(nil)

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - authorities: The trusted authorities.
    ///   - paths: The paths of the system's certificates; used only if `authorities` includes the system's.
    init(_ authorities: HostTrust.Authorities, system paths: SystemPaths? = .current) {
        self.authorities = authorities
        system = authorities.includesSystem ? paths : nil
    }

    /// Restricts the trust of new connections of a handle to exactly these certificates.
    ///
    /// - Parameters:
    ///   - handle: The handle; the cache must not be deallocated before the handle is freed.
    ///   - poolKey: A string that must be equal for two transfers to share a connection.
    /// - Returns: 0 if this libcurl accepts the options.
    func apply(to handle: CurlHandle, poolKey: String) -> Int32 {
        // Parse the certificates for the first time on the caller's thread, so that parsing doesn't block the loop.
        if parsed.withLock({ $0 == nil }) { _ = current() }
        ccurl_handle_set_store(
            handle,
            { _, connection, context in
                guard let connection, let context, !ccurl_connection_is_to_proxy(connection) else { return 0 }
                let store = Unmanaged<CertificateStoreCache>.fromOpaque(context).takeUnretainedValue()
                let certificates = store.current()
                return withExtendedLifetime(certificates) {
                    ccurl_connection_use_store(connection, certificates?.store)
                }
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
        let easy: CurlEasy = handle.pointee.easy
        let failure = ccurl_easy_set_text(easy, CCURL_CAINFO, nil) | Self.setPoolKey(poolKey, of: easy)
        guard CurlFeatures.loaded.restoresAuthorityPaths else { return failure }
        return Self.emptyRevocationList.withUnsafeBytes {
            failure | ccurl_easy_set_blob(easy, CCURL_CAINFO_BLOB, $0.baseAddress, $0.count)
        }
    }

    /// An empty certificate revocation list that replaces the system's CA file.
    ///
    /// libcurl requires data that it can parse. A revocation list isn't a certificate, so it adds no trusted authority.
    static let emptyRevocationList = Data(
        """
        -----BEGIN X509 CRL-----
        MIGUMD0wCgYIKoZIzj0EAwIwETEPMA0GA1UEAwwGTm9ib2R5Fw0yNjExMjgxNjM1
        MjVaFw0yNjExMjkxNjM1MjVaMAoGCCqGSM49BAMCA0cAMEQCIHtcKeunrsOt8WIV
        etaVRNtumkmwiHSMHiXadJb3BX4zAiBs+gj5LKqhEYxbIHp/NxjuOrA5KAVL6vx9
        n7TugO4wQg==
        -----END X509 CRL-----
        """.utf8
    )

    /// Sets a string that must be equal for two transfers to share a connection or a TLS session.
    ///
    /// The string is part of a path to a nonexistent CA folder. libcurl compares that path when it looks for a
    /// connection or a TLS session to reuse.
    static func setPoolKey(_ poolKey: String, of easy: CurlEasy) -> Int32 {
        ccurl_easy_set_text(easy, CCURL_CAPATH, "/dev/null/\(poolKey)")
    }

    /// Returns the parsed certificates; `nil` if there are none, in which case no connection can be trusted.
    func current() -> Certificates? {
        // Read the versions before the certificates, so that the next connection detects a change in between.
        let versions = [system?.file, system?.folder].map(Self.version)
        if let parsed = parsed.withLock({ $0 }), parsed.versions == versions { return parsed.certificates }
        let new = Parsed(certificates: Certificates(system, authorities.certificates), versions: versions)
        // Release the previous certificates outside of the lock.
        let previous = parsed.withLock { parsed in
            defer { parsed = new }
            return parsed
        }
        return withExtendedLifetime(previous) { new.certificates }
    }

    /// Returns numbers that change whenever a file or folder changes; empty if it doesn't exist.
    private static func version(of path: String?) -> [Int] {
        var info = stat()
        guard let path, stat(path, &info) == 0 else { return [] }
        let file = [Int(truncatingIfNeeded: info.st_dev), Int(truncatingIfNeeded: info.st_ino), Int(info.st_size)]
        return file + [info.st_ctim.tv_sec, info.st_ctim.tv_nsec]
    }

    /// An immutable OpenSSL store of parsed certificates.
    final class Certificates: Sendable {
        // The address of the store, because a pointer isn't `Sendable`.
        private let storeAddress: UInt
        var store: OpaquePointer? { OpaquePointer(bitPattern: storeAddress) }

        fileprivate init?(_ system: SystemPaths?, _ certificates: [TrustPolicy.Certificate]) {
            guard let store = ccurl_store_new() else { return nil }
            storeAddress = UInt(bitPattern: store)
            var isEmpty = true
            if let file = system?.file, ccurl_store_add_file(store, file) { isEmpty = false }
            if let folder = system?.folder, ccurl_store_add_folder(store, folder), Self.isHashed(folder) {
                isEmpty = false
            }
            for certificate in certificates {
                let isAdded = certificate.der.withUnsafeBytes { ccurl_store_add(store, $0.baseAddress, $0.count) }
                if isAdded { isEmpty = false }
            }
            if isEmpty { return nil }
        }

        deinit {
            if let store { ccurl_store_free(store) }
        }

        /// Returns whether a folder contains files named after the hashes of certificate subjects, as OpenSSL requires.
        private static func isHashed(_ folder: String) -> Bool {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.contains { $0.wholeMatch(of: /[0-9a-f]{8}\.[0-9]+/) != nil }
        }
    }
}
#endif
