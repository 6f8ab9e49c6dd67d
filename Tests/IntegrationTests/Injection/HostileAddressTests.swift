// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// Addresses that two parsers read differently: the request goes to the host that its `URL` has.
    @Suite(.bounded) struct HostileAddressTests {
        static let addresses = [
            "http://A/@B", "http://A/\\@B", "http://A\\@B/", "http://A#@B/", "http://A?@B/", "http://A@B/",
            "http://A;@B/",
            "http://A%2F@B/", "http://A%00@B/", "http://A%0d%0a@B/", "http://A%20@B/", "http://A%5C@B/",
            "http://A%23@B/",
            "http://A @B/", "http://A\t@B/", "http://A\r\n@B/", "http://A\0@B/", "http://A@@B/", "http://A:x@B/",
            "http://A,B/", "http://A:B/", "http:///A@B/", "http:\\\\A\\@B/", "http:A@B/", "http:/A/", "//A/",
            "http://A／@B/",
            "http://A＠B/", "http://[A]/", "http://A./", "http://A%2FB/", "http://A%3A@B", "HTTP://A/#http://B/",
            "http://127.1/", "http://2130706433:1/", "http://0x7f000001/", "http://１27.0.0.1/", "http://A/..//B/",
        ]

        /// The addresses that Foundation makes no `URL` of.
        static let refused: Set = ["http://A%2FB/", "http://A,B/", "http://A./", "http://A:B/", "http://A＠B/"]

        @Test(arguments: InjectionTests.transports, addresses)
        func requestIsSentToHostOfItsURL(_ transport: TransportUnderTest, _ address: String) async throws {
            let servers = [try MockServer { _ in .noContent }, try MockServer { _ in .noContent }]
            let text = address.replacingOccurrences(of: "A", with: "127.0.0.1:\(servers[0].port)")
                .replacingOccurrences(of: "B", with: "127.0.0.1:\(servers[1].port)")
            guard let url = URL(string: text) else {
                #if os(Linux)
                #expect(Self.refused.contains(address))
                #endif
                return
            }

            let run = await transport.run(Call(url, options: { $0.timeout = .seconds(30) }))

            for server in servers where url.host(percentEncoded: false) != "127.0.0.1" || url.port != Int(server.port) {
                #expect(server.connectionCount == 0, "\(text) went elsewhere than its URL says")
            }
            for server in servers {
                guard let request = server.requests.first else { continue }
                #expect(run.error == nil)
                #expect(request.headers[values: .host] == ["127.0.0.1:\(server.port)"])
                #expect(request.target.hasPrefix("/"))
            }
            let count = servers.reduce(0) { $0 + $1.requests.count }
            #expect(count == (run.error == nil ? 1 : 0))
        }

        @Test(arguments: ["a%2Fb", "a%2fb.example", "a%00", "a%0d%0aX", "a%20b", "a%40b", "a%3A80", "a%23", "a%25"])
        func percentEncodedHostIsRejected(_ host: String) async throws {
            let url = try #require(URL(string: "http://\(host)/"))

            let run = await TransportUnderTest.standard.run(Call(url))

            #expect(run.error?.code == .invalidRequest)
        }

        @Test(arguments: InjectionTests.transports)
        func descriptionsHideURLCredentials(_ transport: TransportUnderTest) async throws {
            let closed = try ClosedPort()
            let url = try #require(URL(string: "http://us3r:s3cret@127.0.0.1:\(closed.number)/path"))

            let run = await transport.run(Call(url))

            let error = try #require(run.error)
            var texts = [String(describing: error), String(reflecting: error), "\(error.localizedDescription)"]
            texts += error.request.map { ["\($0)", String(reflecting: $0)] } ?? []
            let request = HTTPRequest(url: url).settingHeader(.authorization(.bearer("s3cret")))
            texts += ["\(request)", String(reflecting: request), request.identifier, try request.cURL()]
            dump(error, to: &texts[0])
            dump(request, to: &texts[1])
            for text in texts {
                #expect(!text.contains("us3r") && !text.contains("s3cret"), "\(text)")
            }
        }

        @Test(arguments: InjectionTests.transports)
        func absoluteURLInheritsNothingFromBase(_ transport: TransportUnderTest) async throws {
            let (ours, other) = (try MockServer { _ in .noContent }, try MockServer { _ in .noContent })
            let client = HTTPClient(
                baseURL: ours.url("/base?key=s3cret"),
                transport: transport.makeSession() ?? HTTPClient.defaultTransport
            ) { environment in
                environment.query = ["inherited": "s3cret"]
            }

            let address = other.url("/a").absoluteString
            _ = try await client.fetch(HTTPRequest("\(raw: address)"))
            _ = try await client.fetch(Get<Data>([address]))
            _ = try await client.fetch(Get<Data>("\(address)/x"))

            #expect(other.requests.map(\.target) == ["/a"])
            #expect(ours.requests.map { $0.path.hasPrefix("/base/http%3A%2F%2F") } == [true, true])
        }
    }
}
