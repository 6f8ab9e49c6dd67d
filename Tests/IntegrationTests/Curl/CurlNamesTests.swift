// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// Names are looked up by threads that block and can't be stopped.
    @Suite(.bounded) struct CurlNamesTests {
        /// Look-ups that wait for a gate.
        private final class LookUps: Sendable {
            let gate = Gate()
            let begun = Gate()
            private let state = Locked((names: [String](), now: 0, most: 0))
            private let addresses: [String]

            init(_ addresses: [String] = ["127.0.0.1"]) {
                self.addresses = addresses
            }

            func names(maximumWorkers: Int = 16) -> HostResolver {
                HostResolver(maximumWorkers: maximumWorkers) { name in
                    self.state.withLock { state in
                        state.names.append(name)
                        state.now += 1
                        state.most = max(state.most, state.now)
                    }
                    self.begun.open()
                    try? self.gate.wait()
                    self.state.withLock { $0.now -= 1 }
                    return name.hasPrefix("no-such")
                        ? .failure(.init(reason: "Name not known")) : .success(self.addresses)
                }
            }

            var all: [String] { state.withLock { $0.names } }
            var most: Int { state.withLock { $0.most } }
        }

        private static func url(_ name: String, _ server: MockServer, _ path: String = "/") -> URL {
            URL(string: "http://\(name):\(server.port)\(path)")!
        }

        @Test func lookupsOfSameNameAreShared() async throws {
            let server = try MockServer { _ in .text("hi") }
            let lookUps = LookUps()
            let transport = CurlTransport.configured { $0.names = lookUps.names() }
            let transcripts = (0..<600).map { _ in Transcript() }

            for (index, transcript) in transcripts.enumerated() {
                let url = Self.url("host-\(index % 3).test", server)
                transport.send(url, timeout: .milliseconds(100), to: transcript)
            }
            for transcript in transcripts { try await transcript.ended.wait() }

            #expect(Set(transcripts.map(\.result)) == ["timedOut"])
            #expect(lookUps.all.sorted() == ["host-0.test", "host-1.test", "host-2.test"])

            lookUps.gate.open()
            #expect(await transport.run(Self.url("host-0.test", server)).text == "hi")
            #expect(transcripts.flatMap(\.violations) == [])
        }

        @Test func concurrentLookupsAreLimited() async throws {
            let server = try MockServer { _ in .text("hi") }
            let lookUps = LookUps()
            let transport = CurlTransport.configured { $0.names = lookUps.names(maximumWorkers: 2) }
            let transcripts = (0..<20).map { _ in Transcript() }

            for (index, transcript) in transcripts.enumerated() {
                transport.send(Self.url("host-\(index).test", server), to: transcript)
            }
            try await lookUps.begun.wait()
            lookUps.gate.open()
            for transcript in transcripts { try await transcript.ended.wait() }

            #expect(transcripts.allSatisfy { $0.text == "hi" })
            #expect(lookUps.all.count == 20)
            #expect(lookUps.most <= 2)
        }

        @Test func resolvedNameIsCached() async throws {
            let server = try MockServer { _ in .text("hi") }
            let lookUps = LookUps()
            lookUps.gate.open()
            let transport = CurlTransport.configured { $0.names = lookUps.names() }

            for name in ["Host.Test", "host.test", "HOST.test"] {
                #expect(await transport.run(Self.url(name, server)).text == "hi")
            }

            #expect(lookUps.all == ["host.test"])
            #expect(server.requests.first?.headers["Host"] == "Host.Test:\(server.port)")
        }

        /// Its first address refuses connections, as that of a service does that has moved.
        @Test func movedServiceIsFoundAfterRejectedConnection() async throws {
            let server = try MockServer { _ in .text("hi") }
            let lookUps = Locked(0)
            let names = HostResolver { _ in
                let count = lookUps.withLock { count in
                    count += 1
                    return count
                }
                return .success([count == 1 ? "127.0.0.2" : "127.0.0.1"])
            }
            let (one, other) = (
                CurlTransport.configured { $0.names = names }, CurlTransport.configured { $0.names = names }
            )
            let url = Self.url("host.test", server)

            #expect(await one.run(url).result == "cannotConnect")
            for transport in [one, other, one] { #expect(await transport.run(url).text == "hi") }

            #expect(lookUps.withLock { $0 } == 2)
        }

        @Test func unknownNameCannotConnect() async throws {
            let server = try MockServer { _ in .text("hi") }
            let lookUps = LookUps()
            lookUps.gate.open()
            let transport = CurlTransport.configured { $0.names = lookUps.names() }

            let transcript = await transport.run(Self.url("no-such-host.test", server))

            #expect(transcript.result == "cannotConnect")
            #expect((transcript.error?.underlying as? URLError)?.code == .cannotFindHost)
            #expect("\(String(describing: transcript.error))".contains("no-such-host.test (Name not known)"))
            #expect(transcript.violations == [])
        }

        @Test func cancelDuringLookupIsImmediate() async throws {
            let server = try MockServer { _ in .text("hi") }
            let lookUps = LookUps()
            let transport = CurlTransport.configured { $0.names = lookUps.names() }
            let (cancelled, other) = (Transcript(), Transcript())
            let transfer = transport.send(Self.url("host.test", server), to: cancelled)
            transport.send(Self.url("host.test", server), to: other)
            try await lookUps.begun.wait()

            transfer.cancel()
            try await cancelled.ended.wait()
            #expect(cancelled.result == "cancelled")
            lookUps.gate.open()
            try await other.ended.wait()

            #expect(other.text == "hi")
            #expect(server.requests.count == 1)
        }

        /// Each of its look-ups occupies a thread for half a minute.
        @Test func slowLookupsDelayOthersOnlyTemporarily() async throws {
            let server = try MockServer { _ in .text("hi") }
            let silence = Gate()
            defer { silence.open() }
            let names = HostResolver(maximumAwaited: 2) { name in
                if name.hasPrefix("silent") { try? silence.wait() }
                return .success(["127.0.0.1"])
            }
            let transport = CurlTransport.configured { $0.names = names }

            for number in 0..<20 {
                let url = Self.url("silent-\(number).test", server)
                #expect(await transport.run(url, timeout: .milliseconds(5)).result == "timedOut")
            }

            #expect(await transport.run(Self.url("good.test", server)).text == "hi")
        }

        @Test func pausedTimeDoesNotReduceConnectTimeout() async throws {
            let server = try MockServer { _ in .text("hi") }
            let lookUps = LookUps()
            let transport = CurlTransport.configured {
                $0.names = lookUps.names()
                $0.connectTimeout = .milliseconds(500)
            }
            let transcript = Transcript()
            let transfer = transport.send(Self.url("host.test", server), to: transcript)
            try await lookUps.begun.wait()
            transfer.pause()
            // Meanwhile it is paused, for longer than it may wait otherwise.
            let silent = try MockServer { _ in .never }
            #expect(await transport.run(silent.url, timeout: .milliseconds(600)).result == "timedOut")
            transfer.resume()
            lookUps.gate.open()
            try await transcript.ended.wait()

            #expect(transcript.text == "hi", "\(String(describing: transcript.error))")
        }

        @Test(arguments: ["host.test.", "host.1st", "a.0day", "1.2.3.host"])
        func unusualNamesAreLookedUp(_ name: String) async throws {
            let server = try MockServer { _ in .text("hi") }
            let lookUps = LookUps()
            lookUps.gate.open()
            let transport = CurlTransport.configured { $0.names = lookUps.names() }

            #expect(await transport.run(Self.url(name, server)).text == "hi")
            #expect(lookUps.all == [name.hasSuffix(".") ? String(name.dropLast()) : name])
            #expect(server.requests.first?.headers["Host"] == "\(name):\(server.port)")
        }

        @Test func emptyUnixSocketPathKeepsNameLookup() async throws {
            let server = try MockServer { _ in .text("hi") }
            let lookUps = LookUps()
            lookUps.gate.open()
            let transport = CurlTransport.configured {
                $0.names = lookUps.names()
                $0.unixSocketPath = ""
            }

            #expect(await transport.run(Self.url("host.test", server)).text == "hi")
        }

        /// libcurl would look it up for each request, with a thread for each.
        @Test(arguments: ["http://proxy.test:", "http://user:pass%40word@Proxy.Test:", "proxy.test:"])
        func proxyNameIsLookedUpOnce(_ proxy: String) async throws {
            let server = try MockServer { _ in .text("from the proxy") }
            let lookUps = LookUps()
            lookUps.gate.open()
            let transport = CurlTransport.configured {
                $0.names = lookUps.names()
                $0.proxy = proxy + "\(server.port)"
            }

            for number in 0..<3 {
                let url = try #require(URL(string: "http://host-\(number).test/"))
                #expect(await transport.run(url).text == "from the proxy")
            }

            #expect(lookUps.all == ["proxy.test"])
            #expect(server.requests.map(\.target) == (0..<3).map { "http://host-\($0).test/" })
        }

        @Test func cancelDuringProxyLookupIsImmediate() async throws {
            let lookUps = LookUps()
            let transport = CurlTransport.configured {
                $0.names = lookUps.names()
                $0.proxy = "http://proxy.test:1"
            }
            let transcript = Transcript()
            let transfer = transport.send(URL(string: "http://host.test/")!, to: transcript)
            try await lookUps.begun.wait()

            transfer.cancel()
            try await transcript.ended.wait()
            lookUps.gate.open()

            #expect(transcript.result == "cancelled")
            #expect(lookUps.all == ["proxy.test"])
        }

        /// A proxy of SOCKS 5 is told the address of the host, or its name (RFC 1928, 5).
        @Test(arguments: ["socks5", "socks5h"])
        func hostIsLookedUpForProxyRequiringAddress(_ scheme: String) async throws {
            let lookUps = LookUps()
            lookUps.gate.open()
            let kind = Locked<UInt8?>(nil)
            let server = try RawListener { connection in
                guard let greeting = connection.read(2), connection.skip(Int(greeting[1])) else { return }
                connection.write("\u{5}\0")
                guard let request = connection.read(4) else { return }
                kind.withLock { $0 = request[3] }
            }
            let transport = CurlTransport.configured {
                $0.names = lookUps.names()
                $0.proxy = "\(scheme)://proxy.test:\(server.port)"
            }

            _ = await transport.run(URL(string: "http://host.test/")!)

            #expect(lookUps.all == (scheme == "socks5" ? ["proxy.test", "host.test"] : ["proxy.test"]))
            #expect(kind.withLock { $0 } == (scheme == "socks5" ? 1 : 3))
        }

        @Test(arguments: [[], ["localhost"], ["127.0.0.1", "nowhere"], ["127.0.0.1:80"], [""]])
        func invalidConfiguredAddressesFail(_ addresses: [String]) async throws {
            let server = try MockServer { _ in .text("hi") }
            let transport = CurlTransport.configured { $0.addresses = ["host.test": addresses] }

            let transcript = await transport.run(Self.url("host.test", server))

            #expect(transcript.result == "cannotConnect")
            #expect(transcript.error?.reason?.contains("host.test (the configured addresses") == true)
        }

        @Test func nameLookupIsSeparatePhase() async throws {
            let server = try MockServer { _ in .text("hi") }
            let lookUps = LookUps()
            let transport = CurlTransport.configured { $0.names = lookUps.names() }
            let transcript = Transcript()
            transport.send(Self.url("host.test", server), to: transcript)
            try await lookUps.begun.wait()
            // Meanwhile, another request waits for its timeout.
            let silent = try MockServer { _ in .never }
            #expect(await transport.run(silent.url, timeout: .milliseconds(20)).result == "timedOut")
            lookUps.gate.open()
            try await transcript.ended.wait()

            let metrics = try #require(transcript.metrics)
            let (dispatched, resolved) = (try #require(metrics.fetchStart), try #require(metrics.domainLookupEnd))
            #expect(resolved - dispatched >= .milliseconds(20))
            #expect(try #require(metrics.connectEnd) >= resolved)
        }

        @Test(arguments: [["api.test": ["127.0.0.1"]], ["API.test": ["127.0.0.1"]]])
        func hostAddressCanBeConfigured(_ addresses: [String: [String]]) async throws {
            let server = try MockServer { _ in .text("hi") }
            let lookUps = LookUps()
            let transport = CurlTransport.configured {
                $0.names = lookUps.names()
                $0.addresses = addresses
            }

            #expect(await transport.run(Self.url("api.test", server)).text == "hi")
            #expect(lookUps.all == [])
        }

        @Test func hostAndPortAddressCanBeConfigured() async throws {
            let server = try MockServer { _ in .text("hi") }
            let transport = CurlTransport.configured {
                $0.addresses = ["api.test:\(server.port)": ["127.0.0.1"], "api.test": ["127.0.0.2"]]
            }

            #expect(await transport.run(Self.url("api.test", server)).text == "hi")
        }

        /// An IPv6 address whose queue of waiting connections is full gives no answer.
        @Test func fallsBackToSecondAddress() async throws {
            let server = try MockServer { _ in .text("hi") }
            let silent = try RawListener.listen(at: .ipv6, port: server.port, backlog: 0)
            defer { close(silent.descriptor) }
            let fillers = RawConnection.fill(silent.port)
            defer { for filler in fillers { close(filler) } }
            let transport = CurlTransport.configured { $0.addresses = ["both.test": ["::1", "127.0.0.1"]] }

            let transcript = await transport.run(Self.url("both.test", server))

            #expect(transcript.text == "hi")
            #expect(transcript.duration < .seconds(9), "it hasn't waited for the limit of a connection")
        }
    }
}
#endif
