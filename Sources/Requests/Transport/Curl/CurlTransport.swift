// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation

/// A transport based on the system's libcurl, and the default transport on Linux.
///
/// Foundation's own networking is linked to libcurl on Linux, so libcurl is installed wherever this library runs. It is
/// loaded at run time, so you don't have to install or link anything. One thread drives all transfers of a transport.
/// The transport supports what `URLSession` on Linux doesn't: timeouts in milliseconds, backpressure, ordered headers,
/// streamed bodies of known length, Unix sockets, every ``TrustPolicy``, and invalid responses without a crash.
///
/// A transport belongs to the process in which it sends its first request. In a fork of that process, requests over the
/// transport end with the error code `closed`. A forked process that needs to send requests must first start a program
/// (`exec`).
///
/// Connections are kept alive and reused. Redirects, cookies, `.netrc` and every protocol except http and https are
/// disabled in libcurl. This library handles redirects and cookies itself, in the same way for every transport.
///
/// The environment variables of libcurl and its TLS library apply as usual. They include the variables for proxies, and
/// `SSLKEYLOGFILE`, which names a file for the keys of all connections. If a response without a length ends with its
/// connection, it counts as complete. Over TLS, the server must also send a `close_notify`, unless
/// ``Configuration/acceptsMissingCloseNotify`` is set. A response also counts as complete if the server resets its
/// HTTP/2 stream without an error, because libcurl treats this as the end of the response.
///
/// Compressed content is decoded with the system's zlib, brotli and zstd, and the transport requests the codings that
/// these libraries support. Decoding needs constant memory, whatever the size of the content, and supports content that
/// consists of several members. Content that is truncated, or isn't valid in its content coding, causes an error with
/// the code `badResponse`. Content with another content coding is delivered unchanged, and so is a part (206) of
/// encoded content.
public final class CurlTransport: HTTPTransport {
    /// Whether libcurl can be loaded; false in statically linked programs, and if libcurl is older than 7.68.
    public static var isAvailable: Bool { ccurl_load() }

    private let loop: CurlLoop

    /// Creates a transport.
    ///
    /// The transport's thread starts with the first request, and ends when the transport is closed or deallocated. If
    /// libcurl isn't available, every request ends with the error code `unsupported`, so check ``isAvailable`` first.
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

    /// Starts a transfer, as described in ``HTTPTransport``.
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

    /// The numbers of connections and of waiting requests at one moment.
    public struct Usage: Sendable, Hashable {
        /// The number of connections that are open or being established.
        public var openConnections = 0
        /// The number of idle connections, which are kept for later requests.
        public var idleConnections = 0
        /// The number of requests that wait because a connection limit has been reached.
        ///
        /// A request that has just been admitted is briefly counted neither here nor as a connection being established.
        public var waitingRequests = 0
        /// The number of host names that are being looked up for waiting requests.
        public var lookUps = 0

        /// Creates the usage of a transport without connections.
        public init() {}
    }

    /// The current use of connections, for the metrics of a service.
    ///
    /// The transport's thread counts only on demand, between two events. Before the first request and after
    /// ``close()``, all numbers are zero. This property may be read from any task at any time. A cancelled task also
    /// receives the numbers.
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
    /// When this method returns, the end of every transfer has been reported, or is about to be. A later request ends
    /// with the error code `closed`. You may call this repeatedly, and from any thread except those that deliver
    /// events.
    public func close() {
        loop.close()
    }
}

extension CurlTransport: CustomReflectable {
    /// A mirror of the configuration, for `dump`.
    ///
    /// The mirror can't show the state of the transport's thread, because other threads must not read it.
    public var customMirror: Mirror {
        Mirror(self, children: ["configuration": loop.configuration], displayStyle: .class)
    }
}

extension HTTPTransport where Self == CurlTransport {
    /// The process-wide libcurl transport.
    public static var curl: CurlTransport { CurlTransport.shared }
}

extension CurlTransport {
    /// The process-wide transport, which is never closed.
    static let shared = CurlTransport()
}
#endif
