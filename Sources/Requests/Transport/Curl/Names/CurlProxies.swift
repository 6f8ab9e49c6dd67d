// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// The proxies of a transport, from its configuration or from environment variables.
///
/// The environment is read only once. libcurl would read it for each transfer, on the loop's thread, which isn't safe
/// if another thread calls `setenv` at the same time. In addition, this library itself looks up the names of proxies,
/// just like the names of hosts.
struct CurlProxies: Sendable {
    /// A proxy.
    struct Proxy: Sendable {
        /// The URL in the form that libcurl accepts; it may contain a user and a password.
        let url: String
        /// The host and port of the proxy itself.
        let destination: CurlDestination
        private let scheme: String

        init(_ text: String) {
            self.url = text
            let separator = text.firstRange(of: "://")
            scheme = separator.map { text[..<$0.lowerBound].lowercased() } ?? "http"
            let rest = text[(separator?.upperBound ?? text.startIndex)...].split(separator: "@").last ?? ""
            let authority = rest.prefix { $0 != "/" }
            // Skip the colons of an IPv6 address within brackets. The default ports are the same as libcurl's.
            let hasPort = (authority.split(separator: "]").last ?? "").contains(":")
            let port = hasPort ? "" : scheme == "https" ? ":443" : ":1080"
            destination = CurlDestination("http://\(authority)\(port)")
        }

        /// Whether the connection to the proxy uses TLS.
        var isSecure: Bool { scheme == "https" }
        /// Whether the proxy forwards plain requests to any host, in which case requests to different hosts can share a
        /// connection.
        var forwardsRequests: Bool { scheme == "http" || scheme == "https" }
        var origin: Origin { Origin(scheme: scheme, host: destination.host, port: destination.port) }
        /// Whether the proxy must receive the resolved address of a host, rather than its name.
        var requiresResolvedAddress: Bool { scheme == "socks4" || scheme == "socks5" }

        private static let schemes: Set = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

        /// Checks the scheme of the proxy.
        ///
        /// - Throws: A ``RequestError`` if libcurl doesn't support the scheme.
        func validate() throws(RequestError) {
            guard !Self.schemes.contains(scheme) else { return }
            let reason = "the scheme of the proxy must be one of \(Self.schemes.sorted().joined(separator: ", "))"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
    }

    private var httpProxy: Proxy?
    private var httpsProxy: Proxy?
    /// The hosts that the transport connects to without a proxy.
    private var exceptions: [ProxyException] = []

    init(
        _ configuration: CurlTransport.Configuration,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        guard configuration.unixSocketPath?.isEmpty ?? true else { return }
        if let proxy = configuration.proxy {
            httpProxy = proxy.isEmpty ? nil : Proxy(proxy)
            httpsProxy = httpProxy
            return
        }
        func first(_ names: String...) -> String? { names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } }
        // Ignore HTTP_PROXY: in a CGI program, this variable contains a header field of the client (CVE-2016-5385).
        httpProxy = first("http_proxy", "all_proxy", "ALL_PROXY").map(Proxy.init)
        httpsProxy = first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY").map(Proxy.init)
        let entries = first("no_proxy", "NO_PROXY")?.split { ", \t".contains($0) } ?? []
        exceptions = entries.compactMap { ProxyException($0) }
    }

    /// Whether connections to a proxy may use TLS.
    var mayUseTLS: Bool { httpProxy?.isSecure == true || httpsProxy?.isSecure == true }

    /// Returns the proxy for a host; `nil` for a direct connection.
    func proxy(for destination: CurlDestination) -> Proxy? {
        guard let proxy = destination.isSecure ? httpsProxy : httpProxy else { return nil }
        return exceptions.contains { $0.includes(destination.canonicalHost, port: destination.port) } ? nil : proxy
    }
}
#endif
