// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

/// The capabilities of libcurl that depend on its version and its TLS library.
struct CurlFeatures: Sendable, Hashable {
    /// The capabilities of the loaded libcurl.
    static let loaded = CurlFeatures(
        version: ccurl_version(),
        tlsLibrary: ccurl_tls_library().map { String(cString: $0) } ?? ""
    )

    /// The version, as 0xMMmmpp.
    let version: UInt32
    /// The TLS library in use, with its version.
    private let tlsLibrary: Substring
    private let isOpenSSL: Bool
    /// Whether the TLS library is OpenSSL, or a fork with the same API.
    let usesOpenSSL: Bool

    /// - Parameters:
    ///   - version: The version, as 0xMMmmpp.
    ///   - tlsLibrary: The TLS libraries, as reported by libcurl. Those in parentheses are built in, but not in use.
    init(version: UInt32, tlsLibrary: String) {
        self.version = version
        let library = tlsLibrary.split(separator: " ").first { !$0.hasPrefix("(") } ?? ""
        self.tlsLibrary = library
        // Stored, because every request needs the result, and comparing strings is slow.
        isOpenSSL = library.hasPrefix("OpenSSL/")
        usesOpenSSL = ["OpenSSL", "LibreSSL", "BoringSSL", "AWS-LC", "quictls"].contains { library.hasPrefix($0) }
    }

    /// Whether libcurl calls a function before it sends a request (`CURLOPT_PREREQFUNCTION`), which can prevent libcurl
    /// from sending the request twice.
    var hasPrerequestCallback: Bool { version >= 0x075000 }
    /// Whether the addresses that are passed to libcurl (`CURLOPT_RESOLVE`) can expire.
    var supportsExpiringAddresses: Bool { version >= 0x074B00 }
    /// Whether libcurl closes a connection that has received more than the response, even over TLS.
    var detectsExtraData: Bool { version >= 0x080000 }
    /// Whether libcurl restores its built-in paths of certificate authorities if a path is set to null.
    var restoresAuthorityPaths: Bool { version >= 0x081500 }

    /// Whether the verified certificate chain of a connection can be read.
    var exposesChains: Bool { hasPrerequestCallback && usesOpenSSL && ccurl_finds_chains() }
    /// Whether several connections can share one store of trusted certificates.
    var sharesCertificateStores: Bool {
        isOpenSSL && ccurl_finds_stores() && CertificateStoreCache.SystemPaths.current != nil
    }

    /// Whether libcurl reports a `close_notify` of the host, as opposed to that of a proxy.
    var reportsCloseNotify: Bool { isOpenSSL && ccurl_finds_stores() }

    /// Whether libcurl can send client certificates from memory.
    ///
    /// Only some TLS libraries support this: with any other, libcurl accepts the option, but sends no certificate.
    /// 7.71.0 is excluded because it reused connections without comparing their certificates.
    var supportsClientIdentities: Bool {
        guard version >= 0x074701 else { return false }
        if tlsLibrary.hasPrefix("wolfSSL") { return version >= 0x080A00 }
        return usesOpenSSL || tlsLibrary.hasPrefix("mbedTLS")
    }
}
#endif
