// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux) || os(macOS)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// The demo with a list of any API: `requests-demo --url URL`.
    @Suite(.bounded, .enabled(if: DemoProgram.url != nil)) struct DemoPagesTests {
        /// Returns a server with three pages of repositories, each of which links the next.
        private func list() throws -> MockServer {
            let server = try MockServer()
            server.route(.get, "/repos{?page}") { request in
                let page = request["page"].flatMap { Int($0) } ?? 1
                let next: HTTPHeaders = page < 3 ? [.link: "</repos?page=\(page + 1)>; rel=\"next\""] : []
                return .json(#"[{"id": \#(page)1, "name": "first \#(page)"}, {"id": \#(page)2}]"#, headers: next)
            }
            return server
        }

        @Test func pagesArePrintedWithTheirElements() async throws {
            let server = try list()

            let (text, status) = try await DemoProgram.page(through: server.url("/repos"), pages: 5)

            #expect(status == 0)
            let lines = text.split(separator: "\n").map { $0.prefix { $0 != "," } }
            #expect(lines.filter { $0.hasPrefix("Page") }.count == 3 && text.contains("2 elements"))
            #expect(
                lines.filter { $0.hasPrefix("  ") } == ["  first 1", "  12", "  first 2", "  22", "  first 3", "  32"]
            )
            #expect(server.requests.map(\.target) == ["/repos", "/repos?page=2", "/repos?page=3"])
        }

        @Test func pageCountIsLimitedToRequest() async throws {
            let server = try list()

            let (text, status) = try await DemoProgram.page(through: server.url("/repos"), pages: 2)

            #expect(status == 0)
            #expect(text.contains("Page 2") && !text.contains("Page 3"))
            #expect(text.contains("The next page is \(server.url("/repos?page=3").absoluteString)"))
        }

        @Test func failureSetsExitStatus() async throws {
            let server = try MockServer { _ in .status(.notFound) }

            let (text, status) = try await DemoProgram.page(through: server.url("/repos"), pages: 2)

            #expect(status == 2 && text.isEmpty)
        }
    }
}
#endif
