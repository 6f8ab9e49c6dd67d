// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import Foundation

/// A transport over the libcurl of the system: the default on Linux.
///
/// Foundation's own networking is linked to libcurl there, so it is installed wherever this library runs; it is found
/// at run time, and nothing has to be installed or linked for it. One thread drives all transfers of a transport. It
/// gives what `URLSession` can't on Linux: timeouts to the millisecond, back-pressure, ordered headers, bodies of
/// known length from streams, Unix sockets, every ``TrustPolicy``, and survival of anything that a peer answers.
///
/// Connections are kept and used again. Redirects, cookies, `.netrc` and every protocol but http and https are off: the
/// pipeline does what has to be done, the same over every transport.
///
/// The environment variables of libcurl and its TLS library apply, as they do to every program that uses these: those for
/// proxies, and `SSLKEYLOGFILE`, which names a file that the keys of all connections are written to. An answer without a
/// length that ends with its connection counts as complete, over TLS as well, also where the server didn't say that this was
/// its end: many don't.
///
/// Compressed content is decoded here, by the zlib, brotli and zstd that the system has, and what these can decode is what
/// is asked for: content of any size in flat memory, of one member or several. Content that ends inside its coding, or
/// isn't in it, is an error of code `badResponse`. Content in another coding comes as it is, and so does a part (206) of
/// encoded content.
public final class CurlTransport: HTTPTransport {
    /// What a transport is made of.
    public struct Configuration: Sendable {
        /// How many connections to one host there may be at a time; nil, the default, is as many as there are
        /// transfers.
        ///
        /// What finds none waits for one, first come, first served; that time isn't counted as silence of the server.
        public var maximumConnectionsPerHost: Int?
        /// How long a connection may take to be made, its look-up of the name and its handshake included; 10 seconds by
        /// default.
        ///
        /// A request's own timeout counts if it is shorter.
        public var connectTimeout: Duration = .seconds(10)
        /// How many connections there may be at a time; nil, the default, is as many as there are transfers.
        public var maximumConnections: Int?
        /// Whether HTTP/2 is spoken over TLS with servers that have it; true by default.
        public var usesHTTP2 = true
        /// The address of this machine that connections are made from, where it has several; nil, the default, leaves that
        /// to the system.
        ///
        /// A request over an address that the machine doesn't have ends with an error of code `cannotConnect`.
        public var localAddress: String?
        /// How long a connection is kept that isn't used; 60 seconds by default.
        ///
        /// One that the server has ended is closed at once, or at the latest a second later.
        public var idleConnectionLifetime: Duration = .seconds(60)
        /// How old a connection may be that is used again; nil, the default, is any age.
        public var maximumConnectionAge: Duration?
        /// How many requests go over one connection, before another is made; nil, the default, is as many as the server
        /// allows.
        ///
        /// Over HTTP/2 it may be more, as many as are on their way when the number is reached.
        public var maximumRequestsPerConnection: Int?
        /// The addresses of hosts, which are connected to without a look-up: by name, or by name and port as
        /// `host:port`.
        ///
        /// The name stays what it is for everything else, such as the certificate. Where several addresses are given, they
        /// are tried in that order, those of IPv6 and of IPv4 beside each other (RFC 8305).
        public var addresses: [String: [String]] = [:]
        /// The proxy to use for every host, such as `http://proxy.example:3128`; an empty one is none at all.
        ///
        /// Nil, the default, is the one that the environment variables `http_proxy`, `https_proxy`, `all_proxy` and
        /// `no_proxy` say.
        public var proxy: String?
        /// The Unix socket to connect to, whatever host a request names, and whatever proxy there is.
        ///
        /// An empty path counts as nil.
        public var unixSocketPath: String?
        /// Whether compressed content is asked for, and decoded; true by default.
        ///
        /// ``HTTPRequest/decodesContent`` says so for one request.
        public var decodesContent = true
        /// How many bytes the head of a response may have; 256 KiB by default.
        ///
        /// Over HTTP/1.1 libcurl has limits of its own, 100 KB for one line and in many releases 300 KB for all, and ends
        /// the transfer beyond them with the same error, `headTooLarge`.
        public var maximumHeadSize = 256 * 1024
        /// How many lines the head of a response may have; 1,000 by default.
        public var maximumHeadLines = 1_000

        /// Where names are looked up.
        package var names = HostNames.shared

        /// Makes a configuration with the defaults.
        public init() {}

        /// Whether requests may go to a proxy, by this or by what the environment says when this is read.
        var usesProxy: Bool {
            if let proxy { return !proxy.isEmpty }
            let environment = ProcessInfo.processInfo.environment
            let names = ["http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"]
            return names.contains { environment[$0]?.isEmpty == false }
        }

        var lifetime: CurlSockets.Lifetime {
            func nanoseconds(_ duration: Duration) -> UInt64 { UInt64(max(0, min(duration / .nanoseconds(1), 1e18))) }
            var lifetime = CurlSockets.Lifetime()
            lifetime.idle = nanoseconds(idleConnectionLifetime)
            if let maximumConnectionAge { lifetime.age = nanoseconds(maximumConnectionAge) }
            if let maximumRequestsPerConnection { lifetime.uses = maximumRequestsPerConnection }
            return lifetime
        }

        var limits: CurlTransferState.Limits {
            var limits = CurlTransferState.Limits()
            limits.head = maximumHeadSize
            limits.headLines = maximumHeadLines
            return limits
        }
    }

    /// Whether libcurl can be loaded: not in statically linked programs, and not where it is older than 7.68.
    public static var isAvailable: Bool { ccurl_load() }

    private let loop: CurlLoop

    /// Makes a transport.
    ///
    /// Its thread starts with the first request, and ends when the transport is closed or gone. Where libcurl isn't
    /// available, every request ends with an error of code `unsupported`; ``isAvailable`` tells beforehand.
    public init(configuration: Configuration = Configuration()) {
        loop = CurlLoop(configuration)
    }

    deinit {
        loop.finish()
    }

    /// Everything that there is.
    public var capabilities: TransportCapabilities {
        [.concurrentDelivery, .pausing, .bodyWithAnyMethod, .sizedStreams, .orderedHeaders, .proxyAuthorization]
    }

    /// Starts a transfer, as ``HTTPTransport`` says.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any Transfer {
        guard Self.isAvailable else {
            receive(.end(RequestError(.unsupported, phase: .sending, reason: "libcurl can't be loaded, or is too old")))
            return EndedTransfer()
        }
        return loop.start(request, receive: receive)
    }

    /// Cancels what runs, and waits until its thread has ended.
    ///
    /// Every transfer has had its end reported, or is about to, when this returns. A request that comes later ends
    /// with an error of code `closed`. Safe from any thread but those that events are delivered on, and more than
    /// once.
    public func close() {
        loop.close()
    }
}

extension CurlTransport: CustomReflectable {
    /// What `dump` shows: how it is configured.
    ///
    /// What its thread works on can't be read from another one.
    public var customMirror: Mirror {
        Mirror(self, children: ["configuration": loop.configuration], displayStyle: .class)
    }
}

extension CurlTransport.Configuration: CustomStringConvertible, CustomReflectable {
    /// What is set, without the user and the password of a proxy.
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
                "usesHTTP2": usesHTTP2, "localAddress": text(localAddress), "proxy": text(proxy),
                "unixSocketPath": text(unixSocketPath), "decodesContent": decodesContent,
                "maximumHeadSize": maximumHeadSize, "maximumHeadLines": maximumHeadLines,
            ],
            displayStyle: .struct
        )
    }
}

extension HTTPTransport where Self == CurlTransport {
    /// The libcurl transport of the process.
    public static var curl: CurlTransport { CurlTransport.shared }
}

extension CurlTransport {
    /// The one of the process, never closed.
    static let shared = CurlTransport()
}

/// Easy handles that aren't in use: making one costs more than a small request.
final class CurlHandlePool: Sendable {
    private struct State {
        var handles: [OpaquePointer] = []
        var isClosed = false
    }

    private static let mostIdle = 256
    private let state = Locked(State())

    deinit {
        close()
    }

    /// A handle without options; nil where memory is short.
    func take() -> OpaquePointer? {
        state.withLock { UInt(bitPattern: $0.handles.popLast()) }.handle ?? ccurl_easy_new()
    }

    /// Takes a handle back that is in no multi handle any more.
    func put(_ handle: OpaquePointer) {
        ccurl_easy_reset(handle)
        let bits = UInt(bitPattern: handle)
        let isKept = state.withLock { state in
            guard !state.isClosed, state.handles.count < Self.mostIdle, let handle = bits.handle else { return false }
            state.handles.append(handle)
            return true
        }
        if !isKept { ccurl_easy_free(handle) }
    }

    /// Frees what is here, and what comes from now on.
    func close() {
        let handles = state.withLock { state in
            defer { state.handles = [] }
            state.isClosed = true
            return state.handles.map { UInt(bitPattern: $0) }
        }
        for handle in handles.compactMap(\.handle) { ccurl_easy_free(handle) }
    }
}

// A pointer isn't Sendable, and what goes in and out of a lock has to be; a number is.
extension UInt {
    fileprivate var handle: OpaquePointer? { OpaquePointer(bitPattern: self) }
}
#endif
