// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct KeepAliveLimitTests {
    private static let second: UInt64 = 1_000_000_000

    private static func limit(_ values: String...) -> KeepAliveLimit? {
        var headers = HTTPHeaders()
        for value in values { headers.add(value, for: .keepAlive) }
        return KeepAliveLimit(HTTPResponseHead(status: .ok, headers: headers))
    }

    static let fields: [(String, seconds: UInt64?, requests: Int?)] = [
        ("timeout=5", 5, nil), ("timeout=5, max=100", 5, 100), ("max=0", nil, 0), ("TIMEOUT = 5 ,Max=1", 5, 1),
        ("timeout=0", 0, nil), ("timeout=5, x=\"a, max=1", 5, nil), ("timeout=x, max=3", nil, 3),
        ("timeout=4294967295", 4_294_967_295, nil),
    ]

    @Test(arguments: fields)
    func parsesKeepAliveField(_ text: String, _ seconds: UInt64?, _ requests: Int?) throws {
        let limit = try #require(Self.limit(text))

        #expect(limit.timeout == seconds.map { $0 * Self.second })
        #expect(limit.requests == requests)
    }

    @Test(arguments: ["", "timeout", "timeout=-1", "timeout=99999999999", "max=1.5", "other=5"])
    func invalidKeepAliveFieldIsIgnored(_ text: String) {
        #expect(Self.limit(text) == nil)
        #expect(KeepAliveLimit(HTTPResponseHead(status: .ok)) == nil)
    }

    @Test func repeatedFieldsAreCombined() {
        #expect(Self.limit("timeout=5", "max=2") == Self.limit("timeout=5, max=2"))
    }

    @Test func endIsNearWithinSecondAndRoundTrip() throws {
        let limit = try #require(Self.limit("timeout=5"))
        let roundTrip = Self.second / 10

        #expect(!limit.isEnding(after: 0, roundTrip: roundTrip))
        #expect(!limit.isEnding(after: 4 * Self.second - roundTrip - 1, roundTrip: roundTrip))
        #expect(limit.isEnding(after: 4 * Self.second - roundTrip, roundTrip: roundTrip))
        #expect(try #require(Self.limit("timeout=1")).isEnding(after: 0, roundTrip: 0))
    }

    /// Apache announces how many requests are left, Node how many there are in all.
    @Test(arguments: [[3, 2, 1, 0], [3, 3, 3, 3]])
    func remainingRequestsAreCountedDown(_ announced: [Int]) throws {
        var limit: KeepAliveLimit?
        var endings: [Bool] = []
        for count in announced {
            limit = try #require(Self.limit("timeout=60, max=\(count)")).following(limit)
            endings.append(try #require(limit).isEnding(after: 0, roundTrip: 0))
        }

        #expect(endings == [false, false, false, true])
    }
}
#endif
