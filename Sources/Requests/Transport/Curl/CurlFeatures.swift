// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

/// The features of a libcurl that depend on its version and its TLS library.
struct CurlFeatures: Sendable, Hashable {
    /// Those of the loaded libcurl.
    static let loaded = CurlFeatures(
        version: ccurl_version(),
        tlsLibrary: ccurl_tls_library().map { String(cString: $0) } ?? ""
    )

    /// The version, as 0xMMmmpp.
    let version: UInt32
    /// The TLS library in use, with its version.
    private let tlsLibrary: Substring
    private let isOpenSSL: Bool
    /// Whether the library is OpenSSL, or a variant with the same functions.
    let usesOpenSSL: Bool

    /// - Parameters:
    ///   - version: The version, as 0xMMmmpp.
    ///   - tlsLibrary: The TLS libraries, as libcurl reports them: those in parentheses are built in as well, and not
    ///     in use.
    init(version: UInt32, tlsLibrary: String) {
        self.version = version
        let library = tlsLibrary.split(separator: " ").first { !$0.hasPrefix("(") } ?? ""
        self.tlsLibrary = library
        // Every request asks, and to compare texts takes long.
        isOpenSSL = library.hasPrefix("OpenSSL/")
        usesOpenSSL = ["OpenSSL", "LibreSSL", "BoringSSL", "AWS-LC", "quictls"].contains { library.hasPrefix($0) }
    }

    /// Whether libcurl calls back before it sends a request, so that it can be kept from sending it twice.
    var hasPrerequestCallback: Bool { version >= 0x075000 }
    /// Whether addresses that libcurl is given can expire.
    var supportsExpiringAddresses: Bool { version >= 0x074B00 }
    /// Whether libcurl closes a connection on which more than the response has arrived, over TLS too.
    var detectsExtraData: Bool { version >= 0x080000 }
    /// Whether libcurl returns to the paths of authorities that it was built with, when it is given none.
    var restoresAuthorityPaths: Bool { version >= 0x081500 }

    /// Whether the verified chains of certificates can be read.
    var exposesChains: Bool { hasPrerequestCallback && usesOpenSSL && ccurl_finds_chains() }
    /// Whether connections can share certificates.
    var sharesCertificateStores: Bool {
        isOpenSSL && ccurl_finds_stores() && CertificateStoreCache.SystemPaths.current != nil
    }

    /// Whether libcurl reports that a host announces the end of its data, rather than a proxy.
    var reportsCloseNotify: Bool { isOpenSSL && ccurl_finds_stores() }

    /// Whether libcurl sends client certificates from memory; over other TLS libraries, it accepts the option, and
    /// sends none.
    ///
    /// 7.71.0 didn't compare the certificates of connections.
    var supportsClientIdentities: Bool {
        guard version >= 0x074701 else { return false }
        if tlsLibrary.hasPrefix("wolfSSL") { return version >= 0x080A00 }
        return usesOpenSSL || tlsLibrary.hasPrefix("mbedTLS")
    }
}
#endif
