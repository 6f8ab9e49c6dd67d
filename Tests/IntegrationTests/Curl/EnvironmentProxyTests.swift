// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import Testing

extension OverLoopback {
    /// The environment is a process's own, and so is the process: which proxy it names, and for whom.
    @Suite(.enabled(if: DemoProgram.url != nil)) struct EnvironmentProxyTests {
        struct Row: Sendable, CustomTestStringConvertible {
            var testDescription: String { environment.map { "\($0)=\($1)" }.sorted().joined(separator: " ") }
            let environment: [String: String]
            let isAsked: Bool
        }

        static let rows = [
            Row(environment: ["http_proxy": "PROXY"], isAsked: true),
            Row(environment: ["all_proxy": "PROXY"], isAsked: true),
            Row(environment: ["https_proxy": "PROXY"], isAsked: false),
            // A server may be started with a header as a variable, which this would be (CVE-2016-5385).
            Row(environment: ["HTTP_PROXY": "PROXY"], isAsked: false),
            Row(environment: ["http_proxy": "PROXY", "no_proxy": "*"], isAsked: false),
            Row(environment: ["http_proxy": "PROXY", "no_proxy": "films.invalid"], isAsked: false),
            Row(environment: ["http_proxy": "PROXY", "no_proxy": "others.invalid"], isAsked: true),
        ]

        @Test(arguments: rows)
        func proxyIsTheOneOfTheEnvironment(_ row: Row) async throws {
            let folder = try DownloadFolder()
            let proxy = try MockServer { _ in .text("from the proxy") }
            let none = Dictionary(uniqueKeysWithValues: ["http", "https", "all", "no"].map { ("\($0)_proxy", "") })
            let environment = row.environment.mapValues { $0 == "PROXY" ? "http://127.0.0.1:\(proxy.port)" : $0 }
            let file = folder.url.appendingPathComponent("film")

            let process = try DemoProgram.download(
                URL(string: "http://films.invalid/film")!,
                to: file,
                environment: none.merging(environment) { $1 }
            )
            await process.end()

            #expect((process.terminationStatus == 0) == row.isAsked)
            #expect(Set(proxy.requests.map(\.target)) == (row.isAsked ? ["http://films.invalid/film"] : []))
            if row.isAsked { #expect(try String(contentsOf: file, encoding: .utf8) == "from the proxy") }
        }
    }
}
#endif
