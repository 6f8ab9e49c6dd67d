// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation

/// The certificates of authorities, parsed once for all connections that trust them.
///
/// libcurl would read and parse the system's, well over a hundred, for each connection, on the thread of all transfers:
/// 20 ms of it with OpenSSL 3. They are parsed again for the first connection after a change of the system's.
final class CertificateStoreCache: Sendable {
    /// The paths at which libcurl looks for the certificates of the system's authorities.
    struct SystemPaths: Sendable {
        let file: String?
        let folder: String?

        /// Those of the loaded libcurl; `nil` if it is too old to report them, or has none.
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

    /// The certificates of the system's authorities.
    static let system = CertificateStoreCache(HostTrust.Authorities())

    let authorities: HostTrust.Authorities
    private let system: SystemPaths?
    private let parsed = Locked<Parsed?>(nil)

    /// - Parameters:
    ///   - authorities: The authorities that are trusted.
    ///   - paths: The paths of the system's, if these are included.
    init(_ authorities: HostTrust.Authorities, system paths: SystemPaths? = .current) {
        self.authorities = authorities
        system = authorities.includesSystem ? paths : nil
    }

    /// Makes the new connections of a handle trust the certificates, and no others.
    ///
    /// - Parameters:
    ///   - handle: The handle, before the end of which the store must not be deallocated.
    ///   - poolKey: A text that differs for connections that must not be shared.
    /// - Returns: 0 if this libcurl accepts the options.
    func apply(to handle: CurlHandle, poolKey: String) -> Int32 {
        // The first time, they are parsed on the thread of the caller, so that the loop needn't stop for it.
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

    /// An empty list of revoked certificates, which libcurl accepts in place of the system's file of authorities.
    ///
    /// It must be given something that it can parse. This is no certificate, so nobody is trusted because of it.
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

    /// Sets a poolKey: a folder that doesn't exist, whose path libcurl compares when it looks for a connection, or for a
    /// TLS session.
    static func setPoolKey(_ poolKey: String, of easy: CurlEasy) -> Int32 {
        ccurl_easy_set_text(easy, CCURL_CAPATH, "/dev/null/\(poolKey)")
    }

    /// The certificates; `nil` if there are none, in which case no connection can be trusted.
    func current() -> Certificates? {
        // Read before the certificates are: a change meanwhile is found by the next connection.
        let versions = [system?.file, system?.folder].map(Self.version)
        if let parsed = parsed.withLock({ $0 }), parsed.versions == versions { return parsed.certificates }
        let made = Parsed(certificates: Certificates(system, authorities.certificates), versions: versions)
        // The former ones are released outside of the lock.
        let former = parsed.withLock { parsed in
            defer { parsed = made }
            return parsed
        }
        return withExtendedLifetime(former) { made.certificates }
    }

    /// Numbers that change with the content of a file or folder; empty if it doesn't exist.
    private static func version(of path: String?) -> [Int] {
        var info = stat()
        guard let path, stat(path, &info) == 0 else { return [] }
        let file = [Int(truncatingIfNeeded: info.st_dev), Int(truncatingIfNeeded: info.st_ino), Int(info.st_size)]
        return file + [info.st_ctim.tv_sec, info.st_ctim.tv_nsec]
    }

    /// Parsed certificates, which never change.
    final class Certificates: Sendable {
        // A number, since a pointer isn't Sendable.
        private let bits: UInt
        var store: OpaquePointer? { OpaquePointer(bitPattern: bits) }

        fileprivate init?(_ system: SystemPaths?, _ certificates: [TrustPolicy.Certificate]) {
            guard let store = ccurl_store_new() else { return nil }
            bits = UInt(bitPattern: store)
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

        /// Whether a folder has a certificate that is found by the hash of its name.
        private static func isHashed(_ folder: String) -> Bool {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.contains { $0.wholeMatch(of: /[0-9a-f]{8}\.[0-9]+/) != nil }
        }
    }
}
#endif
