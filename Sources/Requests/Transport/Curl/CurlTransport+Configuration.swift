// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

extension CurlTransport {
    /// The settings of a transport.
    public struct Configuration: Sendable {
        /// The maximum number of concurrent connections to one host, at least one; 16 by default, and `nil` sets no
        /// limit.
        ///
        /// A transfer without a connection waits for one, first come, first served. The request's timeout doesn't apply
        /// to this wait. If no connection to the host can be established in time, and none is open, the transfers that
        /// wait for the host fail with the same error. HTTP/2 requests share a connection.
        ///
        /// The default applies only if you set no limit, either here or in ``maximumConnections``. It doesn't apply to
        /// requests with ``TransportRequest/hasOwnLimit``, nor to streams that have received their head. A limit that
        /// you set applies to all requests, even if it is 16.
        public var maximumConnectionsPerHost: Int? {
            get { usesDefaultLimit ? 16 : explicitMaximumPerHost }
            set { (explicitMaximumPerHost, hasExplicitMaximumPerHost) = (newValue.map { max(1, $0) }, true) }
        }
        private var explicitMaximumPerHost: Int?
        private var hasExplicitMaximumPerHost = false

        /// Whether the caller hasn't limited the number of connections.
        var usesDefaultLimit: Bool { !hasExplicitMaximumPerHost && maximumConnections == nil }

        /// The maximum time for establishing a connection, including the name lookup and the handshake; 10 seconds by
        /// default.
        ///
        /// The time starts once the request has been admitted within the connection limits. If the request's own
        /// timeout is shorter, that timeout applies instead.
        public var connectTimeout: Duration = .seconds(10)
        /// The maximum number of concurrent connections, at least one; `nil`, the default, sets no limit.
        public var maximumConnections: Int?
        /// Whether HTTP/2 is used over TLS with servers that support it; true by default.
        ///
        /// ``HTTPRequest/usesHTTP2`` disables it for a single request.
        public var usesHTTP2 = true
        /// The idle time after which the system sends a TCP keep-alive probe, and the time between probes; 60 seconds
        /// by default, and `nil` disables probes.
        ///
        /// The interval is rounded down to seconds, but is at least one second. If the peer has vanished silently, the
        /// connection ends after about ten intervals. For a stream with a long timeout, this is the only way to notice
        /// that the peer has vanished. Probes also keep routers on the path from dropping an idle connection.
        public var keepAliveInterval: Duration? = .seconds(60)
        /// The local address to connect from, if this machine has several; `nil`, the default, lets the system choose.
        ///
        /// If the machine doesn't have the address, requests end with the error code `cannotConnect`. If the string
        /// isn't a valid IP address, they end with `unsupported`.
        public var localAddress: String?
        /// The time for which an idle connection is kept; 60 seconds by default.
        ///
        /// If the server closes a connection, the transport closes it immediately, or after one second at the latest.
        public var idleConnectionLifetime: Duration = .seconds(60)
        /// The maximum age at which a connection may be reused; `nil`, the default, sets no limit.
        public var maximumConnectionAge: Duration?
        /// The maximum number of requests over one connection; `nil`, the default, leaves the limit to the server.
        ///
        /// An HTTP/2 connection may exceed the maximum, because the requests in flight when it is reached are
        /// completed.
        public var maximumRequestsPerConnection: Int?
        /// Fixed addresses of hosts, which replace the name lookup; each key is a host name, or a name and port as
        /// `host:port`.
        ///
        /// Everything else, such as certificate validation, still uses the name. Several addresses are tried in order,
        /// and IPv6 in parallel with IPv4 (RFC 8305). If a host has no address, or one of its strings isn't a valid
        /// address, a request to the host ends with the error code `cannotConnect`. The addresses apply to proxies,
        /// too. A proxy may look up the target host itself.
        public var addresses: [String: [String]] = [:]
        /// The proxy to use for every host, such as `http://proxy.example:3128`; an empty string disables proxies.
        ///
        /// `nil`, the default, uses the environment variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`,
        /// which are read when the transport is created. An entry of `no_proxy` is a domain with its subdomains
        /// (`example.com`), only the subdomains (`*.example.com`), an address, a network (`10.0.0.0/8`) or `*`. Each
        /// entry may end with a port (`example.com:8080`). Different spellings of a host are equivalent: `localhost`
        /// also excludes `localhost.`, and `127.0.0.1` also excludes `127.1`.
        public var proxy: String?
        /// The Unix socket to connect to for every host; it takes precedence over any proxy.
        ///
        /// An empty path counts as `nil`.
        public var unixSocketPath: String?
        /// Whether content that extends to the end of its TLS connection is accepted without a `close_notify` from the
        /// server; false by default.
        ///
        /// This affects only HTTP/1.0 and 1.1 responses without a length. Without `close_notify`, an attacker in the
        /// network could truncate their content unnoticed (RFC 9112, 9.8). By default, such a transfer therefore ends
        /// with the error code `connectionLost`. Set this to true for a server that never sends `close_notify`, if you
        /// can detect truncation from the content itself. The setting has no effect unless libcurl uses OpenSSL.
        public var acceptsMissingCloseNotify = false
        /// Whether compressed content is requested and decoded; true by default.
        ///
        /// ``HTTPRequest/decodesContent`` overrides this for a single request.
        public var decodesContent = true
        /// The maximum byte count of a response head; 256 KiB by default.
        ///
        /// Over HTTP/1.1, libcurl has its own limits: 100 KB for a line and, in many releases, 300 KB for the head.
        /// Beyond them, it ends the transfer with the same error, `headTooLarge`.
        public var maximumHeadSize = 256 * 1024
        /// The maximum number of lines in a response head; 1,000 by default.
        public var maximumHeadLines = 1_000

        /// Resolves host names.
        package var names = HostResolver.shared
        /// Returns the total time during which the system was suspended, in nanoseconds.
        package var suspendedTime: @Sendable () -> UInt64 = { ccurl_suspended_time() }

        /// Creates a configuration with the default values.
        public init() {}

        var lifetime: CurlSockets.Lifetime {
            CurlSockets.Lifetime(
                idle: UInt64(idleConnectionLifetime.clampedNanoseconds),
                age: maximumConnectionAge.map { UInt64($0.clampedNanoseconds) } ?? .max,
                uses: maximumRequestsPerConnection ?? .max
            )
        }

        var limits: CurlTransferState.Limits {
            CurlTransferState.Limits(head: maximumHeadSize, headLines: maximumHeadLines)
        }
    }
}

extension CurlTransport.Configuration: CustomStringConvertible, CustomReflectable {
    /// The settings, without the user name and password of the proxy.
    public var description: String {
        let fields = customMirror.children.map { "\($0.label ?? ""): \($0.value)" }
        return "CurlTransport.Configuration(\(fields.joined(separator: ", ")))"
    }

    /// A mirror without the user name and password of the proxy.
    public var customMirror: Mirror {
        func text(_ value: Any?) -> Any { value ?? "nil" }
        let proxy = proxy.map { proxy in
            proxy.lastIndex(of: "@").map { "…" + proxy[$0...] } ?? proxy
        }
        return Mirror(
            self,
            children: [
                "maximumConnectionsPerHost": text(maximumConnectionsPerHost),
                "maximumConnections": text(maximumConnections), "connectTimeout": connectTimeout,
                "idleConnectionLifetime": idleConnectionLifetime, "maximumConnectionAge": text(maximumConnectionAge),
                "maximumRequestsPerConnection": text(maximumRequestsPerConnection), "addresses": addresses,
                "keepAliveInterval": text(keepAliveInterval),
                "usesHTTP2": usesHTTP2, "localAddress": text(localAddress), "proxy": text(proxy),
                "unixSocketPath": text(unixSocketPath), "acceptsMissingCloseNotify": acceptsMissingCloseNotify,
                "decodesContent": decodesContent,
                "maximumHeadSize": maximumHeadSize, "maximumHeadLines": maximumHeadLines,
            ],
            displayStyle: .struct
        )
    }
}
#endif
