// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Glibc
import Requests
import TestSupport
import Testing

extension OverLoopback {
    /// Through the tunnel of a proxy, whom to trust is asked of the server behind it.
    @Suite(
        .bounded,
        .tags(.behaviour),
        .enabled(if: InteropServers.current != nil, "Scripts/interop starts the servers")
    )
    struct InteropProxyTests {
        let servers: InteropServers
        let tunnel: Tunnel
        let transport: CurlTransport

        init() throws {
            servers = try #require(InteropServers.current)
            tunnel = try Tunnel()
            transport = .configured { [tunnel] in $0.proxy = "http://127.0.0.1:\(tunnel.port)" }
        }

        @Test func serverBehindATunnelIsTrustedAsAnyOther() async throws {
            let trust = try servers.authority.pinning([servers.pin("server")], forHosts: ["localhost"])

            let answer = try await servers.ask(.trusted, trust: trust, over: transport)

            #expect(answer.version == "HTTP/2.0")
            #expect(tunnel.targets == [try servers.url(.trusted).port.map { "localhost:\($0)" }])
        }

        @Test func serverBehindATunnelIsRefusedAsAnyOther() async throws {
            let authority = try servers.authority
            // Where one connection was trusted, another policy doesn't get it.
            _ = try await servers.ask(.trusted, trust: authority, over: transport)
            let wrongPin = try authority.pinning([servers.pin("elsewhere")], forHosts: ["localhost"])

            let pin = try await servers.refusal(.trusted, trust: wrongPin, over: transport)
            let system = try await servers.refusal(.trusted, trust: .system, over: transport)
            let expired = try await servers.refusal(.expired, trust: authority, over: transport)
            let elsewhere = try await servers.refusal(.elsewhere, trust: authority, over: transport)

            for error in [pin, system, expired, elsewhere] { #expect(error?.code == .untrusted) }
            #expect(tunnel.targets.count == 5)
        }

        /// The script says `no_proxy=*`: what the environment says is for those who say nothing themselves.
        @Test func proxyOfAConfigurationIsForEveryHost() async throws {
            #expect(ProcessInfo.processInfo.environment["no_proxy"] == "*")

            _ = try await servers.ask(.trusted, trust: servers.authority, over: transport)

            #expect(tunnel.targets.count == 1)
        }
    }
}

/// A proxy that makes tunnels, to wherever it is asked to.
final class Tunnel: Sendable {
    private let listener: RawListener
    private let log: Locked<[String]>

    var port: Int { listener.port }
    var targets: [String] { log.withLock { $0 } }

    init() throws {
        let log = Locked<[String]>([])
        self.log = log
        listener = try RawListener { connection in
            guard let target = connection.readHead()?.split(separator: " ").dropFirst().first.map(String.init),
                let port = target.split(separator: ":").last.flatMap({ UInt16($0) })
            else { return }
            log.withLock { $0.append(target) }
            guard let server = RawConnection(connectedTo: port) else { return }
            connection.write("HTTP/1.1 200 Connection established\r\n\r\n")
            connection.relay(to: server)
        }
    }
}
#endif
