// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Glibc
import Requests
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// Through the tunnel of a proxy, trust is checked for the server behind it.
    @Suite(
        .bounded,
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

        @Test func trustIsVerifiedThroughTunnel() async throws {
            let trust = try servers.authority.pinning([servers.pin("server")], forHosts: ["localhost"])

            let answer = try await servers.ask(.trusted, trust: trust, over: transport)

            #expect(answer.version == "HTTP/2.0")
            #expect(tunnel.targets == [try servers.url(.trusted).port.map { "localhost:\($0)" }])
        }

        @Test func untrustedServerIsRejectedThroughTunnel() async throws {
            let authority = try servers.authority
            // A connection that one policy trusted isn't reused for another policy.
            _ = try await servers.ask(.trusted, trust: authority, over: transport)
            let wrongPin = try authority.pinning([servers.pin("elsewhere")], forHosts: ["localhost"])

            let pin = try await servers.refusal(.trusted, trust: wrongPin, over: transport)
            let system = try await servers.refusal(.trusted, trust: .system, over: transport)
            let expired = try await servers.refusal(.expired, trust: authority, over: transport)
            let elsewhere = try await servers.refusal(.elsewhere, trust: authority, over: transport)

            for error in [pin, system, expired, elsewhere] { #expect(error?.code == .untrusted) }
            #expect(tunnel.targets.count == 5)
        }

        @Test(arguments: ["socks4", "socks4a", "socks5", "socks5h"])
        func trustIsVerifiedThroughSOCKSProxy(scheme: String) async throws {
            let proxy = try SocksProxy()
            let transport = CurlTransport.configured { $0.proxy = "\(scheme)://127.0.0.1:\(proxy.port)" }
            let authority = try servers.authority
            let wrongPin = try authority.pinning([servers.pin("elsewhere")], forHosts: ["localhost"])

            let answer = try await servers.ask(.trusted, trust: authority, over: transport)
            let pin = try await servers.refusal(.trusted, trust: wrongPin, over: transport)
            let system = try await servers.refusal(.trusted, trust: .system, over: transport)
            let elsewhere = try await servers.refusal(.elsewhere, trust: authority, over: transport)
            transport.close()

            #expect(answer.version == "HTTP/2.0")
            for error in [pin, system, elsewhere] { #expect(error?.code == .untrusted) }
            #expect(proxy.ports.count == 4)
        }

        @Test(arguments: ["Basic", "Digest"])
        func tunnelOpensAfterProxyAuthentication(_ scheme: String) async throws {
            let parameters = scheme == "Basic" ? "" : #", nonce="n", qop="auth", algorithm=SHA-256"#
            let tunnel = try Tunnel(asking: "\(scheme) realm=\"p\"\(parameters)")
            let transport = CurlTransport.configured { $0.proxy = "http://127.0.0.1:\(tunnel.port)" }
            let (url, trust) = (try servers.url(.trusted), try servers.authority)
            let client = HTTPClient(transport: transport) {
                $0.trust = trust
                $0.interceptors = [
                    ChallengeInterceptor(
                        proxy: { _, _ in URLCredential(user: "u", password: "p", persistence: .none) },
                        { _, _ in nil }
                    )
                ]
            }

            let first = try await client.send(HTTPRequest(url: url))
            let second = try await client.send(HTTPRequest(url: url))
            transport.close()

            #expect(first.status == .ok && first.transfers.map(\.cause) == [.initial, .challenge])
            #expect(first.metrics?.isProxyConnection == true && first.metrics?.tlsVersion != nil)
            #expect(first.transfers.first?.error?.code == .proxyRefused)
            #expect(second.status == .ok && second.transfers.count == 1 && second.metrics?.isReusedConnection == true)
            let port = try #require(url.port)
            #expect(tunnel.targets == ["localhost:\(port)", "localhost:\(port)"])
            let answers = tunnel.answers
            #expect(answers.count == 2 && answers.first == .some(nil))
            let answer = Authorization(try #require(answers.last ?? nil))
            #expect(answer.scheme == scheme)
            guard scheme == "Digest" else { return #expect(answer.rawValue == "Basic dTpw") }
            #expect(answer.parameters.first { $0.name == "uri" }?.value == "localhost:\(port)")
        }

        /// The proxy may allow one user what it refuses another.
        @Test func tunnelIsReusedOnlyWithSameCredentials() async throws {
            let (url, trust, transport) = (try servers.url(.trusted), try servers.authority, transport)
            func send(as user: String?) async throws -> String {
                let headers: HTTPHeaders = user.map { [.proxyAuthorization: $0] } ?? []
                let transcript = Transcript()
                var request = TransportRequest(HTTPRequest(url: url, headers: headers))
                request.trust = trust
                _ = transport.send(request) { transcript.receive($0) }
                try await transcript.ended.wait()
                return InteropAnswer(transcript.text).connection
            }
            let users = ["Basic a", nil, "Basic b"]

            var connections: [String] = []
            for user in users + users { connections.append(try await send(as: user)) }

            // Without OpenSSL, or with an old libcurl, a tunnel with credentials serves one request only.
            #expect(tunnel.answers.prefix(3) == users[...] && tunnel.answers.count <= 5)
            for (one, other) in [(0, 1), (1, 2), (2, 0)] {
                #expect(
                    Set([connections[one], connections[one + 3]]).isDisjoint(with: [
                        connections[other], connections[other + 3],
                    ])
                )
            }
            #expect(connections[1] == connections[4])
        }

        /// The script sets `no_proxy=*`; the environment applies only to transports without a configured proxy.
        @Test func configuredProxyAppliesToAllHosts() async throws {
            #expect(ProcessInfo.processInfo.environment["no_proxy"] == "*")

            _ = try await servers.ask(.trusted, trust: servers.authority, over: transport)

            #expect(tunnel.targets.count == 1)
        }
    }
}

/// A proxy that opens tunnels to any requested address.
final class Tunnel: Sendable {
    private let listener: RawListener
    private let log: Locked<[(target: String, answer: String?)]>

    var port: Int { listener.port }
    /// The addresses of the requested tunnels, in order.
    var targets: [String] { log.withLock { $0.map(\.target) } }
    /// The credentials that these requests had.
    var answers: [String?] { log.withLock { $0.map(\.answer) } }

    /// - Parameter challenge: The challenge for requests without credentials; `nil`, the default, refuses none.
    init(asking challenge: String? = nil) throws {
        let log = Locked<[(target: String, answer: String?)]>([])
        self.log = log
        listener = try RawListener { connection in
            guard let head = connection.readHead(),
                let target = head.split(separator: " ").dropFirst().first.map(String.init),
                let port = target.split(separator: ":").last.flatMap({ UInt16($0) })
            else { return }
            let field = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("proxy-authorization: ") }
            let answer = field.map { String($0.dropFirst("proxy-authorization: ".count)) }
            log.withLock { $0.append((target, answer)) }
            if let challenge, answer == nil {
                let status = "HTTP/1.1 407 Proxy Authentication Required"
                connection.write("\(status)\r\nProxy-Authenticate: \(challenge)\r\nContent-Length: 0\r\n\r\n")
                return
            }
            guard let server = RawConnection(connectedTo: port) else { return }
            connection.write("HTTP/1.1 200 Connection established\r\n\r\n")
            connection.relay(to: server)
        }
    }
}

/// A proxy of SOCKS 4 and 5 that connects to any port of this machine, without credentials (RFC 1928).
final class SocksProxy: Sendable {
    private let listener: RawListener
    private let log: Locked<[UInt16]>

    var port: Int { listener.port }
    /// The ports that were asked for, in order.
    var ports: [UInt16] { log.withLock { $0 } }

    init() throws {
        let log = Locked<[UInt16]>([])
        self.log = log
        listener = try RawListener { connection in
            guard let version = connection.read(1)?.first else { return }
            let isFifth = version == 5
            guard let port = isFifth ? Self.port5(connection) : Self.port4(connection) else { return }
            log.withLock { $0.append(port) }
            guard let server = RawConnection(connectedTo: port) else { return }
            connection.write(isFifth ? [5, 0, 0, 1, 0, 0, 0, 0, 0, 0] : [0, 90, 0, 0, 0, 0, 0, 0])
            connection.relay(to: server)
        }
    }

    private static func port5(_ connection: RawConnection) -> UInt16? {
        guard let methods = connection.read(1)?.first, connection.skip(Int(methods)), connection.write([5, 0]),
            let request = connection.read(4), let kind = request.last
        else { return nil }
        let length = kind == 3 ? connection.read(1).map { Int($0[0]) } : kind == 1 ? 4 : 16
        guard let length, connection.skip(length), let port = connection.read(2) else { return nil }
        return UInt16(port[0]) << 8 | UInt16(port[1])
    }

    private static func port4(_ connection: RawConnection) -> UInt16? {
        guard let request = connection.read(7), skipText(connection) else { return nil }
        // An address of 0.0.0.x announces a name (SOCKS 4a).
        let hasName = request[3...5].allSatisfy { $0 == 0 } && request[6] != 0
        guard !hasName || skipText(connection) else { return nil }
        return UInt16(request[1]) << 8 | UInt16(request[2])
    }

    private static func skipText(_ connection: RawConnection) -> Bool {
        while let byte = connection.read(1)?.first { if byte == 0 { return true } }
        return false
    }
}
#endif
