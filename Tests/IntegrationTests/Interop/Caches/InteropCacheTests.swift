// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// The cache of a client, run against the tests for browsers.
    @Suite(
        .bounded,
        .enabled(if: CacheRun.server != nil, "Scripts/interop starts the server of the suite")
    )
    struct InteropCacheTests {
        private enum Outcome: Sendable {
            case passed
            case failed(String)
            /// A test that this one depends on didn't pass.
            case skipped
        }

        /// The cookies of the client.
        enum Cookies: CaseIterable {
            case jar
            case none
            /// A jar, whose cookies identify no user: the profile of a browser belongs to one person.
            case browser
        }

        @Test(arguments: Cookies.allCases) func cachePassesChecksThatBrowsersPass(_ cookies: Cookies) async throws {
            let environment = ProcessInfo.processInfo.environment
            let folder = URL(fileURLWithPath: try #require(environment["REQUESTS_INTEROP_FOLDER"]))
            let suites = try JSONDecoder().decode(
                [CacheSuite].self,
                from: Data(contentsOf: folder.appendingPathComponent("cache-tests.json"))
            )
            let tests = suites.flatMap(\.tests).filter(\.isForBrowsers)
            let server = try #require(CacheRun.server)
            let transport = HTTPClient().transport

            let outcomes = await outcomes(of: tests) {
                // A client of its own for each: a cookie makes a request that of another user.
                let identity: ResponseCache.Identity = cookies == .browser ? .cookies(named: []) : .automatic
                let client = HTTPClient(transport: transport) {
                    // The suite's own fields differ in each request.
                    $0.cache = ResponseCache(identity: identity.ignoringHeaders(["Test-ID", "Req-Num"]))
                    if cookies == .none { $0.cookies = nil }
                }
                return CacheRun(server: server, client: client)
            }

            var passed: [CacheTest.Kind: Int] = [:]
            for test in tests {
                let kind = test.kind ?? .required
                switch outcomes[test.id] {
                case .passed?: passed[kind, default: 0] += 1
                case .failed(let reason)? where kind != .check && !Self.isDeviation(test.id, cookies):
                    Issue.record("\(kind) \(test.id): \(reason)")
                default: break
                }
            }
            let (required, optimal) = (passed[.required] ?? 0, passed[.optimal] ?? 0)
            print("cache-tests, cookies: \(cookies): \(required) required, \(optimal) optimal")
            #expect(tests.count >= 300)
            #expect(required >= 128)
            #expect(optimal >= 60)
        }

        private static func isDeviation(_ id: String, _ cookies: Cookies) -> Bool {
            deviations[id] != nil || cookies != .browser && ["other-cookie", "other-set-cookie"].contains(id)
        }

        /// The tests that the cache doesn't pass, each with its reason.
        private static let deviations = [
            // A cache returns a stale response only if the server or the request allows it.
            "stale-close-must-revalidate": "depends on a stale response being used whenever the server isn't reached",
            "stale-close-no-cache": "depends on a stale response being used whenever the server isn't reached",
            "headers-store-Set-Cookie": "a cookie was for one response, and would come back as an old one",
            "headers-store-Content-Encoding": "the content isn't coded as the field says, and may be refused",
            "headers-store-Transfer-Encoding": "the content isn't coded as the field says, and may be refused",
            "heuristic-501-cached": "the method is to work as soon as the server has learned it",
            "heuristic-599-cached": "nothing is guessed about unknown statuses",
            "method-POST": "a POST is always sent",
            "vary-cache-key": "a field that may identify a user counts, whether or not `Vary` names it",
            "vary-normalise-lang-order": "servers may prefer the language that comes first",
            "vary-normalise-lang-select": "the server selects the language",
            "partial-store-partial-reuse-partial": "parts aren't stored",
            "partial-store-partial-reuse-partial-byterange": "parts aren't stored",
            "partial-store-partial-reuse-partial-absent": "parts aren't stored",
            "partial-store-partial-reuse-partial-suffix": "parts aren't stored",
            "partial-store-partial-complete": "parts aren't stored; a download resumes them",
        ]

        /// Runs the tests, several at a time: most of them only wait for stored responses to become stale.
        private func outcomes(
            of tests: [CacheTest],
            _ makeRun: @escaping @Sendable () -> CacheRun
        ) async -> [String: Outcome] {
            var outcomes: [String: Outcome] = [:]
            await withTaskGroup(of: (String, Outcome).self) { group in
                for (index, test) in tests.enumerated() {
                    if index >= 50, let (id, outcome) = await group.next() { outcomes[id] = outcome }
                    group.addTask {
                        do {
                            try await makeRun().run(test)
                            return (test.id, .passed)
                        } catch {
                            return (test.id, .failed("\(error)"))
                        }
                    }
                }
                for await (id, outcome) in group { outcomes[id] = outcome }
            }
            // As the suite counts: a test that depends on a failed one fails too.
            for test in tests {
                let met = (test.dependsOn ?? []).allSatisfy { if case .passed? = outcomes[$0] { true } else { false } }
                if !met { outcomes[test.id] = .skipped }
            }
            return outcomes
        }
    }
}
#endif
