// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// The requests that share a connection with nginx, and those that must not.
    @Suite(
        .bounded,
        .enabled(if: InteropServers.current != nil, "Scripts/interop starts the servers")
    )
    struct InteropConnectionTests {
        let servers: InteropServers

        init() throws {
            servers = try #require(InteropServers.current)
        }

        @Test func requestsShareHTTP2Connection() async throws {
            let (queue, transport) = (OperationQueue(), CurlTransport())
            let url = try servers.url(.trusted)
            let trust = try servers.extra
            queue.maxConcurrentOperationCount = 100

            let operations = (0..<100).map { _ in queue.addRequest(Call(url) { $0.trust = trust }, session: transport) }
            await queue.drain()

            let answers = try operations.map {
                InteropAnswer(String(decoding: try #require($0.result).get(), as: UTF8.self))
            }
            #expect(Set(answers.map(\.version)) == ["HTTP/2.0"])
            #expect(Set(answers.map(\.connection)).count <= 3)
        }

        /// A request without an answer keeps the first connection from being idle.
        @Test(.enabled(if: InteropServers.current?.has(.peer) == true), arguments: ["requests", "age"])
        func busyConnectionIsReplacedAtLimit(_ limit: String) async throws {
            let (url, trust) = (try servers.url(.peer), try servers.authority)
            let transport = CurlTransport.configured {
                if limit == "age" { $0.maximumConnectionAge = .zero } else { $0.maximumRequestsPerConnection = 3 }
            }
            func send(_ path: String) -> (Transcript, any TransferHandle) {
                let transcript = Transcript()
                let request = TransportRequest(HTTPRequest(url: url.appending(path: path)), trust: trust)
                return (transcript, transport.send(request, receive: transcript.receive))
            }

            let (silent, transfer) = send("silence")
            var connections: [String] = []
            for _ in 0..<9 {
                let (transcript, _) = send("connection")
                try await transcript.ended.wait()
                connections.append(transcript.text)
            }
            transfer.cancel()
            try await silent.ended.wait()
            transport.close()

            let counts = Dictionary(grouping: connections) { $0 }.mapValues(\.count)
            #expect(!connections.contains(""))
            #expect(counts.values.allSatisfy { $0 <= (limit == "age" ? 1 : 3) }, "\(counts)")
        }

        struct End: Sendable, CustomTestStringConvertible {
            let path: String
            var acceptsMissing = false
            let result: String

            var testDescription: String { path + (acceptsMissing ? " if that is accepted" : "") }
        }

        static let ends: [End] = [
            End(path: "closed/open", result: "success"), End(path: "cut/open", result: "connectionLost"),
            End(path: "cut/open", acceptsMissing: true, result: "success"),
            // Content with a length of its own can't be cut unnoticed.
            End(path: "cut/length", result: "success"), End(path: "cut/chunked", result: "success"),
            End(path: "closed/length", result: "success"), End(path: "closed/chunked", result: "success"),
        ]

        /// Anyone in the network can end a TCP connection, but not announce the end in the name of the server.
        @Test(arguments: ends)
        func truncatedContentIsDetected(_ end: End) async throws {
            let transport = CurlTransport.configured { $0.acceptsMissingCloseNotify = end.acceptsMissing }
            var request = TransportRequest(HTTPRequest(url: try servers.url(.updates).appending(path: end.path)))
            request.trust = try servers.authority
            let transcript = Transcript()
            _ = transport.send(request) { transcript.receive($0) }
            try await transcript.ended.wait()
            transport.close()

            #expect(transcript.result == end.result, "\(String(describing: transcript.error))")
            #expect(transcript.text == "hello")
            #expect(transcript.violations == [])
        }

        /// Policies under which the server is trusted, each with other rules.
        private var policies: [TrustPolicy] {
            get throws {
                let authority = try servers.authority
                let (text, encrypted) = (try servers.text("client.pem"), try servers.text("client-encrypted.key"))
                let container = try Data(contentsOf: servers.file("client.p12"))
                let (pin, other) = (try servers.pin("server"), try servers.pin("elsewhere"))
                return [
                    authority, try servers.extra, authority.requiring(.tls13),
                    authority.adding([try servers.certificate("stranger")]),
                    try authority.pinning([pin], forHosts: ["localhost"]),
                    try authority.pinning([pin, other], forHosts: ["localhost"]),
                    try TrustPolicy.system.insecurelyAcceptingAnyCertificate(forHosts: ["localhost"]),
                    authority.presenting(try servers.identity("client")),
                    authority.presenting(try TrustPolicy.ClientIdentity(pem: text + encrypted, password: "secret")),
                    authority.presenting(try TrustPolicy.ClientIdentity(pkcs12: container, password: "secret")),
                ]
            }
        }

        /// Policies under which the server isn't trusted, or can't be reached, each similar to one that works.
        private var refusals: [TrustPolicy] {
            get throws {
                let authority = try servers.authority
                let (text, encrypted) = (try servers.text("client.pem"), try servers.text("client-encrypted.key"))
                let container = try Data(contentsOf: servers.file("client.p12"))
                // Only the case of one letter is wrong here, which libcurl wouldn't notice.
                let pin = try servers.pin("server").description.dropFirst("sha256/".count)
                let flipped = try TrustPolicy.PublicKeyPin(
                    "sha256/"
                        + pin.replacing(/[a-zA-Z]/, maxReplacements: 1) {
                            let letter = String($0.output)
                            return letter == letter.lowercased() ? letter.uppercased() : letter.lowercased()
                        }
                )
                return [
                    .system, .only([]), .only([try servers.certificate("stranger")]),
                    try authority.pinning([servers.pin("elsewhere")], forHosts: ["localhost"]),
                    try authority.pinning([flipped], forHosts: ["localhost"]),
                    authority.presenting(try TrustPolicy.ClientIdentity(pem: text + servers.text("intruder.key"))),
                    authority.presenting(try TrustPolicy.ClientIdentity(pem: text + encrypted, password: "wrong")),
                    authority.presenting(try TrustPolicy.ClientIdentity(pem: text + encrypted)),
                    authority.presenting(try TrustPolicy.ClientIdentity(pkcs12: container, password: "wrong")),
                ]
            }
        }

        @Test func connectionServesOnlyItsTrustPolicy() async throws {
            let transport = CurlTransport()
            let policies = try policies

            var first: [String] = []
            for trust in policies {
                first.append(try await servers.ask(.clients, trust: trust, over: transport).connection)
            }
            var second: [String] = []
            for trust in policies {
                second.append(try await servers.ask(.clients, trust: trust, over: transport).connection)
            }

            #expect(Set(first).count == policies.count)
            #expect(second == first)
            for (index, trust) in try refusals.enumerated() {
                let error = try await servers.refusal(.clients, trust: trust, over: transport)
                #expect(error?.code == .untrusted, "\(index)")
            }
        }

        @Test func trustPoliciesStaySeparateUnderLoad() async throws {
            let (queue, transport) = (OperationQueue(), CurlTransport())
            let url = try servers.url(.clients)
            queue.maxConcurrentOperationCount = 32
            let all = try policies.map { ($0, true) } + refusals.map { ($0, false) }

            var random = Fuzz()
            let operations = (0..<20).flatMap { _ in
                all.shuffled(using: &random).map { trust, isTrusted in
                    (queue.addRequest(Call(url) { $0.trust = trust }, session: transport), trust, isTrusted)
                }
            }
            await queue.drain()

            var connections: [TrustPolicy: Set<String>] = [:]
            for (operation, trust, isTrusted) in operations {
                let result = try #require(operation.result)
                guard isTrusted else {
                    #expect(throws: RequestError.self) { try result.get() }
                    continue
                }
                let answer = InteropAnswer(String(decoding: try result.get(), as: UTF8.self))
                connections[trust, default: []].insert(answer.connection)
            }
            let used = connections.values.flatMap { $0 }
            #expect(Set(used).count == used.count, "seed \(Fuzz.seed)")
        }

        /// Returns the responses on connections that are made while another to the same server is open.
        private func answersOnOtherConnections(_ trust: TrustPolicy) async throws -> [InteropAnswer] {
            let transport = CurlTransport.configured { $0.usesHTTP2 = false }
            let first = try await servers.ask(.trusted, trust: trust, over: transport)
            #expect(!first.isResumed)
            for _ in 0..<100 {
                let answers = try await withThrowingTaskGroup(of: InteropAnswer.self) { group in
                    for _ in 0..<8 {
                        group.addTask { try await servers.ask(.trusted, trust: trust, over: transport) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                let others = answers.filter { $0.connection != first.connection }
                if !others.isEmpty { return others }
            }
            return []
        }

        /// The handshake is shorter, and has no certificate.
        @Test func nextConnectionResumesTLSSession() async throws {
            for trust in [try servers.authority, try servers.extra] {
                let answers = try await answersOnOtherConnections(trust)
                // A session may be replaced by that of another connection while this one is being made.
                #expect(answers.contains { $0.isResumed })
            }
        }

        @Test func tlsSessionIsNotResumedWithPinning() async throws {
            let trust = try servers.authority.pinning([servers.pin("authority")], forHosts: ["localhost"])
            let answers = try await answersOnOtherConnections(trust)
            #expect(!answers.isEmpty && !answers.contains(where: \.isResumed))
        }

        @Test func tlsSessionOfOtherPolicyIsNotResumed() async throws {
            let transport = CurlTransport.configured { $0.usesHTTP2 = false }
            for trust in [try servers.authority, try servers.extra, try servers.authority.requiring(.tls13)] {
                #expect(try await !servers.ask(.trusted, trust: trust, over: transport).isResumed)
            }
        }

        /// A connection of HTTP/2 that is open isn't used for it, and one of HTTP/1.1 may be used by any later request.
        @Test func requestSelectsHTTPVersion() async throws {
            let transport = CurlTransport()
            let trust = try servers.authority
            var versions: [String] = []

            for usesHTTP2 in [true, false, true, false] {
                var call = Call(try servers.url(.trusted)) { $0.trust = trust }
                call.http.usesHTTP2 = usesHTTP2
                let answer = InteropAnswer(try await OperationQueue().send(call, session: transport).text)
                versions.append(answer.version)
            }

            #expect(versions[0] == "HTTP/2.0")
            #expect(versions[1] == "HTTP/1.1" && versions[3] == "HTTP/1.1")
        }

        @Test func eachConnectionRequestsStapledStatus() async throws {
            let transport = CurlTransport.configured { $0.maximumRequestsPerConnection = 1 }
            let trust = try servers.authority.requiringStapledStatus(forHosts: ["localhost"])

            for _ in 0..<3 { _ = try await servers.ask(.stapled, trust: trust, over: transport) }
        }

        // MARK: Kept connections of HTTP/1.1

        private func text(
            _ server: InteropServers.Server,
            _ path: String,
            over transport: CurlTransport
        ) async throws -> String {
            let trust = try servers.authority
            let call = Call(try servers.url(server).appending(path: path)) { $0.trust = trust }
            return try await OperationQueue().send(call, session: transport).text
        }

        /// The tickets of TLS 1.3 come before the first response.
        @Test func connectionToNginxIsReused() async throws {
            let transport = CurlTransport.configured { $0.usesHTTP2 = false }
            let trust = try servers.authority

            var answers: [InteropAnswer] = []
            for _ in 0..<20 { answers.append(try await servers.ask(.trusted, trust: trust, over: transport)) }

            #expect(Set(answers.map(\.version)) == ["HTTP/1.1"])
            #expect(Set(answers.map(\.connection)).count == 1)
        }

        @Test(.enabled(if: InteropServers.current?.has(.peer) == true))
        func connectionToPythonIsReused() async throws {
            let transport = CurlTransport.configured { $0.usesHTTP2 = false }

            var connections: Set<String> = []
            for _ in 0..<20 { connections.insert(try await text(.peer, "kept", over: transport)) }

            #expect(connections.count == 1)
        }

        @Test(.enabled(if: InteropServers.current?.has(.peer) == true), arguments: ["one", "two", "late"])
        func excessBytesDoNotReachNextResponse(_ kind: String) async throws {
            let transport = CurlTransport.configured { $0.usesHTTP2 = false }
            let witness = CurlTransport.configured { $0.usesHTTP2 = false }

            for _ in 0..<Scale.pick(20, whole: 1_000) {
                let count = try await text(.peer, "poisons/\(kind)", over: witness)
                #expect(try await text(.peer, "junk/\(kind)", over: transport) == "first")
                while try await text(.peer, "poisons/\(kind)", over: witness) == count {}
                #expect(try await text(.peer, "kept", over: transport) != "poison")
            }
        }

        @Test func equalPoliciesShareConnection() async throws {
            let transport = CurlTransport()
            var seen: Set<String> = []
            for _ in 0..<5 {
                let trust = try servers.extra.pinning([servers.pin("server")], forHosts: ["localhost"])
                seen.insert(try await servers.ask(.trusted, trust: trust, over: transport).connection)
            }
            #expect(seen.count == 1)
        }

        @Test func differentTrustPreventsCoalescing() async throws {
            let (queue, transport) = (OperationQueue(), CurlTransport())
            let url = try servers.url(.trusted)
            let trust = try servers.authority

            let trusting = queue.addRequest(Call(url) { $0.trust = trust }, session: transport, coalescing: true)
            let doubting = queue.addRequest(Call(url), session: transport, coalescing: true)
            await queue.drain()

            #expect((try? trusting.result?.get()) != nil)
            #expect(throws: RequestError.self) { try doubting.result?.get() }
        }
    }
}
#endif
