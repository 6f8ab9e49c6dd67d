// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import TestSupport
import Testing

extension OverLoopback {
    /// The configuration of a transport, as the server and the log see it.
    @Suite(.bounded, .tags(.behaviour)) struct CurlConfigurationTests {
        @Test(arguments: [nil, "127.0.0.7"])
        func connectionIsMadeFromTheAddressThatIsGiven(_ address: String?) async throws {
            let server = try RawListener { connection in
                guard connection.readHead() != nil else { return }
                let peer = connection.peer
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(peer.utf8.count)\r\n\r\n\(peer)")
            }
            let transport = CurlTransport.configured { $0.localAddress = address }

            let transcript = await transport.run(URL(string: "http://127.0.0.1:\(server.port)/")!)
            transport.close()

            #expect(transcript.text == address ?? "127.0.0.1")
        }

        @Test func addressThatTheMachineDoesNotHaveCannotBeConnectedFrom() async throws {
            let server = try MockServer { _ in .text("hi") }
            let transport = CurlTransport.configured { $0.localAddress = "192.0.2.1" }

            #expect(await transport.run(server.url).result == "cannotConnect")
        }

        /// The client's first message lists its protocols (RFC 7301, 3.1).
        @Test(arguments: [true, false])
        func serverIsAskedForHTTP2OnlyWhereItIsWanted(_ usesHTTP2: Bool) async throws {
            let hello = Locked<[UInt8]>([])
            let server = try RawListener { connection in
                guard let head = connection.read(5) else { return }
                let rest = connection.read(Int(head[3]) << 8 | Int(head[4])) ?? []
                hello.withLock { $0 = rest }
            }
            let transport = CurlTransport.configured { $0.usesHTTP2 = usesHTTP2 }

            _ = await transport.run(URL(string: "https://127.0.0.1:\(server.port)/")!)
            transport.close()

            let message = String(decoding: hello.withLock { $0 }, as: Unicode.ASCII.self)
            #expect(message.contains("\u{8}http/1.1"))
            #expect(message.contains("\u{2}h2") == usesHTTP2)
        }

        @Test func passwordOfAProxyIsNotInItsConfiguration() {
            var configuration = CurlTransport.Configuration()
            configuration.proxy = "http://user:s3cret@proxy.example:3128"
            var dumped = ""
            dump(configuration, to: &dumped)

            for text in ["\(configuration)", String(reflecting: configuration), dumped] {
                #expect(!text.contains("s3cret") && !text.contains("user"))
                #expect(text.contains("@proxy.example:3128"))
            }
        }
    }
}
#endif
