// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import Testing

@testable import RequestsTesting

@Suite(.timeLimit(.minutes(5))) struct StubUsageTests {
    private let request = StubbedRequest(url: URL(string: "https://a/x")!)

    @Test func theLastAnswerIsRepeated() async throws {
        var usage = StubUsage()
        usage.responders = [{ _ in .status(.serviceUnavailable) }, { _ in .status(.ok) }]

        var codes: [Int?] = []
        for _ in 0..<4 { codes.append(try await usage.claim(request)?(request).status?.code) }

        #expect(codes == [503, 200, 200, 200])
    }

    @Test func theLimitIsKept() {
        var usage = StubUsage()
        usage.limit = 2

        let claims = [usage.claim(request), usage.claim(request), usage.claim(request)].map { $0 != nil }

        #expect(claims == [true, true, false])
        #expect(usage.requests.count == 2)
    }

    @Test func expectationsAreJudged() {
        var usage = StubUsage()
        #expect(usage.complaint == nil)

        usage.expectation = StubUsage.Expectation(description: "1") { $0 == 1 }
        #expect(usage.complaint == "answered 0, expected 1")
        _ = usage.claim(request)
        #expect(usage.complaint == nil)
        _ = usage.claim(request)
        #expect(usage.complaint == "answered 2, expected 1")
    }
}
