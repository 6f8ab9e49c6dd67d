// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// The proxies of a transport: the one of its configuration, or those of the environment.
///
/// The environment is read once. libcurl would read it for each transfer, on the loop's thread, which isn't safe while
/// the program changes it (`setenv`); and the names of proxies are looked up here, as those of hosts are.
struct CurlProxies: Sendable {
    /// A proxy.
    struct Proxy: Sendable {
        /// Its address as libcurl takes it, perhaps with a user and a password.
        let url: String
        /// The place to connect to.
        let destination: CurlDestination
        private let scheme: String

        init(_ text: String) {
            self.url = text
            let mark = text.firstRange(of: "://")
            scheme = mark.map { text[..<$0.lowerBound].lowercased() } ?? "http"
            let rest = text[(mark?.upperBound ?? text.startIndex)...].split(separator: "@").last ?? ""
            let authority = rest.prefix { $0 != "/" }
            // An address of IPv6 has colons of its own, within brackets. The ports are libcurl's defaults.
            let hasPort = (authority.split(separator: "]").last ?? "").contains(":")
            let port = hasPort ? "" : scheme == "https" ? ":443" : ":1080"
            destination = CurlDestination("http://\(authority)\(port)")
        }

        /// Whether the connection to the proxy uses TLS.
        var isSecure: Bool { scheme == "https" }
        /// Whether it forwards plain requests to their hosts, all of them over the same connection.
        var forwardsRequests: Bool { scheme == "http" || scheme == "https" }
        var origin: Origin { Origin(scheme: scheme, host: destination.host, port: destination.port) }
        /// Whether libcurl gives it addresses of hosts, rather than their names.
        var requiresResolvedAddress: Bool { scheme == "socks4" || scheme == "socks5" }

        private static let schemes: Set = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

        /// - Throws: A ``RequestError`` if libcurl doesn't know the scheme.
        func validate() throws(RequestError) {
            guard !Self.schemes.contains(scheme) else { return }
            let reason = "the scheme of the proxy has to be one of \(Self.schemes.sorted().joined(separator: ", "))"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
    }

    private var plain: Proxy?
    private var secure: Proxy?
    /// The hosts that are connected to directly.
    private var exceptions: [ProxyException] = []

    init(
        _ configuration: CurlTransport.Configuration,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        guard configuration.unixSocketPath?.isEmpty ?? true else { return }
        if let proxy = configuration.proxy {
            plain = proxy.isEmpty ? nil : Proxy(proxy)
            secure = plain
            return
        }
        func first(_ names: String...) -> String? { names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } }
        // Not HTTP_PROXY: a server may be started with a header field as this variable (CVE-2016-5385).
        plain = first("http_proxy", "all_proxy", "ALL_PROXY").map(Proxy.init)
        secure = first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY").map(Proxy.init)
        let entries = first("no_proxy", "NO_PROXY")?.split { ", \t".contains($0) } ?? []
        exceptions = entries.compactMap { ProxyException($0) }
    }

    /// Whether a connection to a proxy may use TLS.
    var mayUseTLS: Bool { plain?.isSecure == true || secure?.isSecure == true }

    /// The proxy for a host; `nil` if it is connected to directly.
    func proxy(for destination: CurlDestination) -> Proxy? {
        guard let proxy = destination.isSecure ? secure : plain else { return nil }
        return exceptions.contains { $0.includes(destination.canonicalHost, port: destination.port) } ? nil : proxy
    }
}
#endif
