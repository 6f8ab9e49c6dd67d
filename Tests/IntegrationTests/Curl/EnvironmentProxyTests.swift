// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// The proxies of the environment, and their hosts. The environment belongs to a process, so a separate process is
    /// used.
    @Suite(.bounded, .enabled(if: DemoProgram.url != nil)) struct EnvironmentProxyTests {
        struct Row: Sendable, CustomTestStringConvertible {
            var testDescription: String { environment.map { "\($0)=\($1)" }.sorted().joined(separator: " ") }
            let environment: [String: String]
            let isAsked: Bool
        }

        static let rows = [
            Row(environment: ["http_proxy": "PROXY"], isAsked: true),
            Row(environment: ["all_proxy": "PROXY"], isAsked: true),
            Row(environment: ["https_proxy": "PROXY"], isAsked: false),
            // A server may be started with a header as this variable (CVE-2016-5385).
            Row(environment: ["HTTP_PROXY": "PROXY"], isAsked: false),
            Row(environment: ["http_proxy": "PROXY", "no_proxy": "*"], isAsked: false),
            Row(environment: ["http_proxy": "PROXY", "no_proxy": "127.0.0.1"], isAsked: false),
            Row(environment: ["http_proxy": "PROXY", "NO_PROXY": "a.example, 127.0.0.0/8"], isAsked: false),
            Row(environment: ["http_proxy": "PROXY", "no_proxy": "128.0.0.0/1 ::1/0"], isAsked: true),
            Row(environment: ["http_proxy": "PROXY", "no_proxy": "others.invalid"], isAsked: true),
        ]

        @Test(arguments: rows)
        func proxyIsTakenFromEnvironment(_ row: Row) async throws {
            let folder = try DownloadFolder()
            let proxy = try MockServer { _ in .text("from the proxy") }
            let server = try MockServer { _ in .text("from the server") }
            let names = ["http", "https", "all", "no"].map { "\($0)_proxy" }
            let none = Dictionary(uniqueKeysWithValues: (names + names.map { $0.uppercased() }).map { ($0, "") })
            let environment = row.environment.mapValues { $0 == "PROXY" ? proxy.url.absoluteString : $0 }
            let file = folder.url.appendingPathComponent("film")

            let process = try DemoProgram.download(
                server.url("/film"),
                to: file,
                environment: none.merging(environment) { $1 }
            )
            await process.end()

            #expect(process.terminationStatus == 0)
            #expect(Set(proxy.requests.map(\.target)) == (row.isAsked ? [server.url("/film").absoluteString] : []))
            #expect(server.requests.isEmpty == row.isAsked)
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(text == (row.isAsked ? "from the proxy" : "from the server"))
        }

        /// libcurl reads the environment for each request, on a thread of its own, which isn't safe meanwhile.
        @Test func environmentIsReadAtTransportCreation() async throws {
            let proxy = try MockServer { _ in .text("from the proxy") }
            let server = try MockServer { _ in .text("from the server") }

            let arguments = ["environment", "\(proxy.port)", "\(server.port)"]
            let (status, isSignal) = try await BuiltProgram.run("RequestsTransportProbe", arguments)

            #expect(status == 0 && !isSignal)
            #expect(proxy.requests.isEmpty && server.requests.count == 2)
        }
    }
}
#endif
