// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// A server sees the version of the library that the changelog has.
@Suite(.bounded) struct ChangelogTests {
    @Test func userAgentContainsLatestVersion() async throws {
        let changes = try String(contentsOf: SnippetTests.root.appending(path: "CHANGELOG.md"), encoding: .utf8)
        let heading = try #require(changes.split(separator: "\n").first { $0.hasPrefix("## [") })
        let version = heading.dropFirst(4).prefix { $0 != "]" }
        let transport = InMemoryTransport { _ in .noContent }

        try await HTTPClient(baseURL: api, transport: transport).fetch(Get<Void>("recipes"))

        #expect(transport.requests.first?.headers[.userAgent]?.hasSuffix(" Requests/\(version)") == true)
    }
}
