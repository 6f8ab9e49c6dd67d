// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ClientSettingsTests {
    @Test func aRequestOverridesItsClient() async throws {
        let client = HTTPClient(baseURL: api) {
            $0.timeout = .seconds(15)
            $0.retry = RetryPolicy(limit: 2)
        }
        let patient = client.inheriting { $0.timeout = .seconds(120) }
        let report = Get<Data>("reports/7").deadline(.seconds(30)).retry(.never)

        #expect(client.environment.timeout == .seconds(15) && patient.environment.timeout == .seconds(120))
        #expect(report.options.deadline == .seconds(30) && report.options.retry == .never)
    }

    @Test func clientHasLimiters() {
        let client = HTTPClient(baseURL: api)

        let limited = client.inheriting {
            $0.rateLimiter = RateLimiter(10, per: .seconds(1))
            $0.hostLimiter = HostLimiter(limit: 4)
            $0.bandwidthLimiter = BandwidthLimiter(bytesPerSecond: 500_000)
        }

        #expect(limited.environment.rateLimiter != nil && limited.environment.hostLimiter != nil)
        #expect(limited.environment.bandwidthLimiter?.bytesPerSecond == 500_000)
    }

    /// The page has a line for every property of the environment, and for every modifier of a request, that the dump of
    /// the public interface contains.
    @Test func thePageListsEverySetting() throws {
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
            guard parts[0].hasPrefix("ModifiableRequest."), parts[1].hasSuffix("-> Self") else { return nil }
            return ".\(parts[0].dropFirst("ModifiableRequest.".count).prefix { $0 != "(" })("
        }

        #expect(names.count > 70)
        for name in Set(names) where ![".modified(", ".options("].contains(name) {
            #expect(page.contains(name), "no line for \(name)")
        }
    }
}
