// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation

/// A transport over the libcurl of the system: the default on Linux.
///
/// Foundation's own networking is linked to libcurl there, so it is installed wherever this library runs. It is found
/// at run time, so nothing has to be installed or linked for it. One thread drives all transfers of a transport. It
/// supports what `URLSession` can't on Linux: timeouts to the millisecond, back-pressure, ordered headers, bodies of
/// known length from streams, Unix sockets, every ``TrustPolicy``, and invalid responses without a crash.
///
/// A transport belongs to the process in which it sends its first request. In a fork of that process, its requests end
/// with an error of code `closed`. A fork that sends requests of its own has to start a program first (`exec`).
///
/// Connections are kept and reused. Redirects, cookies, `.netrc` and every protocol but http and https are off: the
/// library handles these itself, in the same way over every transport.
///
/// The environment variables of libcurl and its TLS library apply, as to every program that uses these: those for
/// proxies, and `SSLKEYLOGFILE`, which names a file for the keys of all connections. A response without a length that
/// ends with its connection counts as complete; over TLS only if the server announces the end, unless
/// ``Configuration/acceptsMissingCloseNotify`` is set. So does one whose stream of HTTP/2 the server resets without an
/// error, which libcurl takes for the end.
///
/// Compressed content is decoded by the zlib, brotli and zstd of the system, and the transport asks for the codings
/// that they support: content of any size in constant memory, of one member or several. Content that ends inside its
/// coding, or isn't valid in it, is an error of code `badResponse`. Content in another coding is delivered unchanged,
/// and so is a part (206) of encoded content.
public final class CurlTransport: HTTPTransport {
    /// Whether libcurl can be loaded: it can't in statically linked programs, and if it is older than 7.68.
    public static var isAvailable: Bool { ccurl_load() }

    private let loop: CurlLoop

    /// Makes a transport.
    ///
    /// Its thread starts with the first request, and ends when the transport is closed or deallocated. If libcurl isn't
    /// available, every request ends with an error of code `unsupported`; check ``isAvailable`` before.
    public init(configuration: Configuration = Configuration()) {
        loop = CurlLoop(configuration)
    }

    deinit {
        loop.finish()
    }

    /// All capabilities.
    public var capabilities: TransportCapabilities {
        [
            .concurrentDelivery, .pausing, .bodyWithAnyMethod, .sizedStreams, .orderedHeaders, .proxyAuthorization,
            .upgrades,
        ]
    }

    /// Starts a transfer, as ``HTTPTransport`` says.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        guard Self.isAvailable else {
            receive(.end(RequestError(.unsupported, phase: .sending, reason: "libcurl can't be loaded, or is too old")))
            return EndedTransfer.shared
        }
        return loop.start(request, receive: receive)
    }

    /// The connections at one moment, and what waits for them.
    public struct Usage: Sendable, Hashable {
        /// The number of connections that are open or being made.
        public var openConnections = 0
        /// The number of those that no request uses, which are kept for the next ones.
        public var idleConnections = 0
        /// The number of requests that wait for their turn, since a limit of connections is reached.
        ///
        /// For a moment, a request whose turn has come is counted neither here nor as a connection being made.
        public var waitingRequests = 0
        /// The number of host names that are being looked up for waiting requests.
        public var lookUps = 0

        /// Makes the use of a transport without connections.
        public init() {}
    }

    /// The present use of connections, for the metrics of a service.
    ///
    /// The transport's thread counts when it is asked, between two events, and not otherwise. Before the first request,
    /// and after ``close()``, all numbers are zero. May be called from any task, at any time; a cancelled task gets the
    /// numbers too.
    public var usage: Usage {
        get async {
            guard Self.isAvailable else { return Usage() }
            return await withCheckedContinuation { continuation in
                loop.report { continuation.resume(returning: $0) }
            }
        }
    }

    /// Cancels all transfers, and waits until the thread has ended.
    ///
    /// When this returns, the end of every transfer has been reported, or is about to be. A later request ends with an
    /// error of code `closed`. May be called repeatedly, and from any thread except those that deliver events.
    public func close() {
        loop.close()
    }
}

extension CurlTransport: CustomReflectable {
    /// A mirror of the configuration, for `dump`.
    ///
    /// The state of its thread can't be read from another one.
    public var customMirror: Mirror {
        Mirror(self, children: ["configuration": loop.configuration], displayStyle: .class)
    }
}

extension HTTPTransport where Self == CurlTransport {
    /// The libcurl transport of the process.
    public static var curl: CurlTransport { CurlTransport.shared }
}

extension CurlTransport {
    /// The shared transport of the process, which is never closed.
    static let shared = CurlTransport()
}
#endif
