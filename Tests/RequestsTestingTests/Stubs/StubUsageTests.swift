// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct StubUsageTests {
    private let request = ReceivedRequest(url: URL(string: "https://a/x")!)

    @Test func lastResponseIsRepeated() {
        var usage = StubUsage()
        usage.responders = [.fixed(.status(.serviceUnavailable)), .fixed(.status(.ok))]

        var codes: [Int?] = []
        for _ in 0..<4 { codes.append(usage.claim(request).response?.status?.code) }

        #expect(codes == [503, 200, 200, 200])
    }

    @Test func callLimitIsEnforced() {
        var usage = StubUsage()
        (usage.responders, usage.limit) = ([], 2)

        let codes = (0..<3).map { _ in usage.claim(request).response?.status?.code }

        #expect(codes == [200, 200, nil])
        #expect(usage.requests.count == 2)
    }

    @Test func stubWithoutResponseIsSkipped() {
        var usage = StubUsage()
        usage.limit = 1

        guard case .skipped(["its response hasn't been set yet"]) = usage.claim(request) else {
            Issue.record("claimed")
            return
        }
        #expect(usage.requests.isEmpty)

        usage.responders = []
        #expect(usage.claim(request).response?.status == .ok)
    }

    @Test func callCountExpectationIsChecked() {
        var usage = StubUsage()
        usage.responders = []
        #expect(usage.complaint == nil)

        usage.expectation = ("1", { $0 == 1 })
        #expect(usage.complaint == "was called 0 times, expected 1")
        _ = usage.claim(request)
        #expect(usage.complaint == nil)
        _ = usage.claim(request)
        #expect(usage.complaint == "was called 2 times, expected 1")
    }
}

extension StubUsage.Claim {
    /// The response, if it is ready-made.
    fileprivate var response: StubResponse? {
        guard case .matched(_, .fixed(let response)) = self else { return nil }
        return response
    }
}
