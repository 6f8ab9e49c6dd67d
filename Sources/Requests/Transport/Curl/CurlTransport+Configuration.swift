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
        /// A transfer without a connection waits for one, first come, first served; that time doesn't count as silence
        /// of the server. If the host can't be connected to in time, and no connection to it is open, those that wait
        /// for one fail with the same error. HTTP/2 requests share a connection.
        ///
        /// The default is for callers that set no limit. It doesn't apply to requests with
        /// ``TransportRequest/hasOwnLimit``, nor to streams that have received their head, nor if
        /// ``maximumConnections`` is set. A limit that you set applies to all, also one of 16.
        public var maximumConnectionsPerHost: Int? {
            get { usesDefaultLimit ? 16 : ownMaximumPerHost }
            set { (ownMaximumPerHost, hasOwnMaximumPerHost) = (newValue.map { max(1, $0) }, true) }
        }
        private var ownMaximumPerHost: Int?
        private var hasOwnMaximumPerHost = false

        /// Whether the caller has set no limit of connections.
        var usesDefaultLimit: Bool { !hasOwnMaximumPerHost && maximumConnections == nil }

        /// The maximum time for making a connection, including the look-up of the name and the handshake; 10 seconds by
        /// default.
        ///
        /// It begins when the request has a place among the connections to its host. A request's own timeout counts if
        /// it is shorter.
        public var connectTimeout: Duration = .seconds(10)
        /// The maximum number of concurrent connections, at least one; `nil`, the default, sets no limit.
        public var maximumConnections: Int?
        /// Whether HTTP/2 is used over TLS with servers that support it; true by default.
        ///
        /// ``HTTPRequest/usesHTTP2`` switches it off for one request.
        public var usesHTTP2 = true
        /// The time without data after which the system asks whether the peer is still there, and between repetitions;
        /// 60 seconds by default, and `nil` doesn't ask.
        ///
        /// It is rounded down to seconds, at least one. A connection whose peer has vanished without a word ends after
        /// about ten intervals, which is the only way to notice it on a stream with a long timeout. It also keeps
        /// routers in between from forgetting a connection on which nothing happens.
        public var keepAliveInterval: Duration? = .seconds(60)
        /// The address of this machine to connect from, if it has several; `nil`, the default, lets the system choose.
        ///
        /// A request from an address that the machine doesn't have ends with an error of code `cannotConnect`, one from
        /// a text that isn't an address with `unsupported`.
        public var localAddress: String?
        /// The time for which an unused connection is kept; 60 seconds by default.
        ///
        /// A connection that the server has ended is closed at once, or at the latest a second later.
        public var idleConnectionLifetime: Duration = .seconds(60)
        /// The maximum age of a connection for further use; `nil`, the default, sets no limit.
        public var maximumConnectionAge: Duration?
        /// The maximum number of requests over one connection; `nil`, the default, sets no limit besides the server's.
        ///
        /// Over HTTP/2 there may be more: all that are on their way when the number is reached.
        public var maximumRequestsPerConnection: Int?
        /// The addresses of hosts, to connect without a look-up: by name, or by name and port as `host:port`.
        ///
        /// Everything else, such as the certificate, still uses the name. Several addresses are tried in their order,
        /// those of IPv6 and of IPv4 in parallel (RFC 8305). A request to a host with no address, or with a text that
        /// isn't one, ends with an error of code `cannotConnect`. The addresses are used for proxies, too; a proxy may
        /// look up the target host itself.
        public var addresses: [String: [String]] = [:]
        /// The proxy to use for every host, such as `http://proxy.example:3128`; an empty text disables proxies.
        ///
        /// `nil`, the default, uses the environment variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`,
        /// as they are when the transport is made. An entry of `no_proxy` is a host, with the hosts below it
        /// (`example.com`), only the hosts below it (`*.example.com`), an address, a network (`10.0.0.0/8`) or `*`, and
        /// may end with a port (`example.com:8080`). The spelling of a host doesn't matter: `localhost` excepts
        /// `localhost.`, and `127.0.0.1` excepts `127.1`.
        public var proxy: String?
        /// The Unix socket to connect to, for every host, and instead of any proxy.
        ///
        /// An empty path counts as `nil`.
        public var unixSocketPath: String?
        /// Whether content over TLS that ends with the connection is complete even if the server doesn't announce the
        /// end (`close_notify`); false by default.
        ///
        /// It concerns only responses without a length, of HTTP/1.0 and 1.1, whose content anyone in the network could
        /// cut unnoticed (RFC 9112, 9.8): they end with an error of code `connectionLost`. Set it for a server that
        /// never announces the end, and whose content tells by itself whether it is complete. It has no effect unless
        /// libcurl uses OpenSSL.
        public var acceptsMissingCloseNotify = false
        /// Whether compressed content is requested and decoded; true by default.
        ///
        /// ``HTTPRequest/decodesContent`` decides it for one request.
        public var decodesContent = true
        /// The maximum byte count of a response's head; 256 KiB by default.
        ///
        /// Over HTTP/1.1 libcurl has limits of its own, 100 KB for one line and in many releases 300 KB for all, and
        /// ends the transfer beyond them with the same error, `headTooLarge`.
        public var maximumHeadSize = 256 * 1024
        /// The maximum number of lines in a response's head; 1,000 by default.
        public var maximumHeadLines = 1_000

        /// The look-up of names.
        package var names = HostResolver.shared
        /// Returns the time for which the system has been suspended, in nanoseconds.
        package var suspendedTime: @Sendable () -> UInt64 = { ccurl_suspended_time() }

        /// Makes a configuration with the defaults.
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
    /// The settings, without the user and the password of a proxy.
    public var description: String {
        let fields = customMirror.children.map { "\($0.label ?? ""): \($0.value)" }
        return "CurlTransport.Configuration(\(fields.joined(separator: ", ")))"
    }

    /// A mirror without the user and the password of a proxy.
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
