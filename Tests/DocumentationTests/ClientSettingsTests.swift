// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ClientSettingsTests {
    @Test func requestOverridesClientSettings() async throws {
        let client = HTTPClient(baseURL: api) {
            $0.timeout = .seconds(15)
            $0.retry = RetryPolicy(limit: 2)
        }
        let patient = client.inheriting { $0.timeout = .seconds(120) }
        let report = Get<Data>("reports/7").deadline(.seconds(30)).retry(.never)

        #expect(client.environment.timeout == .seconds(15) && patient.environment.timeout == .seconds(120))
        #expect(report.options.deadline == .seconds(30) && report.options.retry == .never)
    }

    @Test func clientAcceptsParametersInDocumentedOrder() {
        let transport = InMemoryTransport { _ in .noContent }

        let narrow = HTTPClient(baseURL: api, maxConcurrentRequests: 4, transport: transport) { $0.retry = .default }

        #expect(narrow.maxConcurrentRequests == 4 && narrow.environment.retry == .default)
    }

    @Test func clientUsesLimiters() {
        let client = HTTPClient(baseURL: api)

        let limited = client.inheriting {
            $0.rateLimiter = RateLimiter(10, per: .seconds(1))
            $0.hostLimiter = HostLimiter(limit: 4)
        }

        #expect(limited.environment.rateLimiter != nil && limited.environment.hostLimiter != nil)
    }

    @Test func replacementsAffectOnlyRequestsOwnValues() async throws {
        let transport = InMemoryTransport { _ in .status(.noContent) }
        let client = HTTPClient(baseURL: api, transport: transport) {
            $0.headers["X-A"] = "client"
            $0.headers["X-B"] = "client"
            $0.query = ["page": "1"]
        }
        let request = Get<Void>("recipes").header("X-C", "request").query(["q": "soup"])

        try await client.fetch(request.replacingHeaders(["X-A": "request"]).replacingQuery(["q": "stew"]))
        try await client.fetch(request.addingHeader(HTTPField("X-A", "request")))

        #expect(transport.requests.map { $0.headers[values: "X-A"] } == [["request"], ["request"]])
        #expect(transport.requests.map { $0.headers["X-B"] } == ["client", "client"])
        #expect(transport.requests.map { $0.headers["X-C"] } == [nil, "request"])
        #expect(transport.requests.map(\.target) == ["/recipes?page=1&q=stew", "/recipes?page=1&q=soup"])
    }

    /// The page has a line for every property of the environment, and for every modifier of a request, that the dump of
    /// the public interface contains.
    @Test func articleListsAllSettings() throws {
        let root = SnippetTests.root
        let dump = root.appending(path: "Tests/ArchitectureTests/PublicAPI/Requests.txt")
        let article = root.appending(path: "Sources/Requests/Requests.docc/Articles/ClientSettings.md")
        let page = try String(contentsOf: article, encoding: .utf8)
        let names = try String(contentsOf: dump, encoding: .utf8).split(separator: "\n").compactMap { line -> String? in
            let parts = line.components(separatedBy: " | ")
            let setting = "RequestEnvironment.Settings."
            if parts[0].hasPrefix(setting), parts[1].hasPrefix("var "), !parts[1].hasSuffix("{ get }") {
                return "`\(parts[0].dropFirst(setting.count))`"
            }
            let isModifier = ["ModifiableRequest.", "Download."].contains { parts[0].hasPrefix($0) }
            guard isModifier, let result = parts[1].components(separatedBy: " -> ").last,
                ["Self", "Download"].contains(result), parts[1].hasPrefix("func ")
            else { return nil }
            return ".\(parts[0].drop { $0 != "." }.dropFirst().prefix { $0 != "(" })("
        }

        #expect(names.count > 70)
        for name in Set(names) where ![".modified(", ".options("].contains(name) {
            #expect(page.contains(name), "no line for \(name)")
        }
    }
}
