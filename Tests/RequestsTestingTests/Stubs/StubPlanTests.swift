// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct StubPlanTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let response: StubResponse
        var method = HTTPMethod.get
        let steps: [String]

        var testDescription: String { steps.joined(separator: ", ") }
    }

    private static let ten = Data("0123456789".utf8)

    static let rows: [Row] = [
        Row(response: .status(.ok), steps: ["200 length 0", "end"]),
        Row(response: .text("hello"), steps: ["200 length 5", "hello", "end"]),
        Row(response: .text("hello"), method: .head, steps: ["200 length 5", "end"]),
        Row(response: .status(.noContent, body: ten), steps: ["204", "end"]),
        Row(response: .status(.notModified, body: ten), steps: ["304", "end"]),
        Row(
            response: .status(.ok, headers: [.contentLength: "3"], body: ten),
            steps: ["200 length 3", "0123456789", "end"]
        ),
        Row(response: .text("a").delayed(by: .seconds(2)), steps: ["wait 2.0", "200 length 1", "a", "end"]),
        Row(
            response: .text("a").delayed(by: .seconds(2)).delayed(by: .seconds(1)),
            steps: ["wait 3.0", "200 length 1", "a", "end"]
        ),
        Row(response: .text("a").held(by: Gate()), steps: ["hold", "200 length 1", "a", "end"]),
        Row(response: .text("a").held(by: Gate(), after: 0), steps: ["200 length 1", "hold", "a", "end"]),
        Row(response: .text("ab").held(by: Gate(), after: 1), steps: ["200 length 2", "a", "hold", "b", "end"]),
        Row(response: .text("a").held(by: Gate(), after: 1), steps: ["200 length 1", "a", "hold", "end"]),
        Row(
            response: .text("ab").reset(after: 1).held(by: Gate(), after: 1).stalled(after: 1),
            steps: ["200 length 2", "a", "hold", "end connectionLost"]
        ),
        Row(
            response: .chunked([Data("ab".utf8), Data(), Data("cd".utf8)], trailers: ["X-T": "1"]).held(
                by: Gate(),
                after: 3
            ),
            steps: ["200", "ab", "c", "hold", "d", "X-T: 1", "end"]
        ),
        Row(response: .chunked([ten.prefix(6), ten.suffix(4)]), steps: ["200", "012345", "6789", "end"]),
        Row(response: .chunked([ten]), method: .head, steps: ["200", "end"]),
        Row(response: .noContent, steps: ["204", "end"]),
        Row(
            response: .data(ten).dripping(by: 4),
            steps: ["200 length 10", "0123", "4567", "89", "end"]
        ),
        Row(
            response: .data(ten).dripping(by: 4, every: .seconds(1)),
            steps: ["200 length 10", "0123", "wait 1.0", "4567", "wait 1.0", "89", "end"]
        ),
        Row(
            response: .data(ten).throttled(to: StubResponse.Speed(bytesPerSecond: 80)),
            steps: ["200 length 10", "wait 0.05", "0123", "wait 0.05", "4567", "wait 0.025", "89", "end"]
        ),
        Row(
            response: .data(ten).throttled(to: StubResponse.Speed(bytesPerSecond: 10)).dripping(by: 5),
            steps: ["200 length 10", "wait 0.5", "01234", "wait 0.5", "56789", "end"]
        ),
        Row(response: .status(.ok).throttled(to: .oneKilobit), steps: ["200 length 0", "end"]),
        Row(response: .data(ten).reset(after: 4), steps: ["200 length 10", "0123", "end connectionLost"]),
        Row(response: .data(ten).reset(after: 0), steps: ["200 length 10", "end connectionLost"]),
        Row(response: .data(ten).reset(after: -1), steps: ["200 length 10", "end connectionLost"]),
        Row(response: .data(ten).reset(after: 99), steps: ["200 length 10", "0123456789", "end"]),
        Row(response: .data(ten).truncated(after: 10), steps: ["200 length 10", "0123456789", "end"]),
        Row(response: .noContent.truncated(after: 0), steps: ["204", "end"]),
        Row(
            response: .data(ten, headers: [.contentLength: "1000"]).truncated(after: 10),
            steps: ["200 length 1000", "0123456789", "end connectionLost"]
        ),
        Row(
            response: .data(ten).truncated(after: 10).stalled(after: 20),
            steps: ["200 length 10", "0123456789", "end"]
        ),
        Row(
            response: .status(.ok).delayed(by: .seconds(2)).delayed(by: .seconds(2)),
            steps: ["wait 4.0", "200 length 0", "end"]
        ),
        Row(response: .data(ten).truncated(after: 4), steps: ["200 length 10", "0123", "end connectionLost"]),
        Row(response: .closed, steps: ["end connectionLost"]),
        Row(response: .reset.delayed(by: .seconds(1)), steps: ["wait 1.0", "end connectionLost"]),
        Row(response: .data(ten).stalled(after: 2), steps: ["200 length 10", "01", "stall"]),
        Row(response: .never, steps: ["stall"]),
        Row(response: .offline, steps: ["end offline"]),
        Row(response: .offline.delayed(by: .seconds(1)), steps: ["wait 1.0", "end offline"]),
        Row(response: .failure(.timedOut), steps: ["end timedOut"]),
        Row(response: .failure(RequestError(.badResponse, phase: .receiving)), steps: ["end badResponse"]),
        Row(response: .redirect(to: "/b"), steps: ["302 length 0 to /b", "end"]),
    ]

    @Test(arguments: rows) func plansResponseSteps(_ row: Row) throws {
        let request = ReceivedRequest(url: URL(string: "https://a/x")!, method: row.method)

        let plan = try StubPlan(row.response, to: request)

        #expect(plan.steps.flatMap(\.texts) == row.steps)
    }

    @Test func echoPlansRequestBodyAndType() throws {
        let request = ReceivedRequest(
            url: URL(string: "https://a/x")!,
            method: .put,
            headers: ["Content-Type": "text/x", "X-Other": "1"],
            body: Data("hello".utf8)
        )

        let plan = try StubPlan(.echo, to: request)

        guard case .head(_, let headers)? = plan.steps.first else {
            Issue.record("there is no head")
            return
        }
        #expect(headers == ["Content-Type": "text/x", "Content-Length": "5"])
        #expect(plan.steps.flatMap(\.texts) == ["200 length 5", "hello", "end"])
    }

    @Test func unencodableContentThrows() {
        let request = ReceivedRequest(url: URL(string: "https://a/x")!)

        #expect(throws: EncodingError.self) { try StubPlan(.json(Double.nan), to: request) }
        #expect(throws: (any Error).self) {
            try StubPlan(.file(URL(fileURLWithPath: "/nowhere/x.txt")), to: request)
        }
    }

    @Test(arguments: [
        (StubResponse.Speed.oneKilobit, 125), (.slow, 1500), (.gprs, 7000), (.edge, 16_000), (.threeG, 400_000),
        (.threeGPlus, 900_000), (.wiFi, 1_500_000), (StubResponse.Speed(bytesPerSecond: -1), 1),
        (StubResponse.Speed(kilobitsPerSecond: .max), 125_000_000_000),
        (StubResponse.Speed(kilobitsPerSecond: .min), 125),
    ])
    func presetSpeedsHaveExpectedRates(_ speed: StubResponse.Speed, _ bytes: Int) {
        #expect(speed.bytesPerSecond == bytes)
    }

    @Test func chunksOfAnySizeAddUpToContent() throws {
        var generator = SeededRandom(20_260_711)
        let request = ReceivedRequest(url: URL(string: "https://a/x")!)
        for _ in 0..<Scale.pick(100, whole: 2000) {
            let count = Int.random(in: 0...300, using: &generator)
            let limit = Int.random(in: 0...300, using: &generator)
            let content = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
            let speed = StubResponse.Speed(bytesPerSecond: .random(in: 1...600, using: &generator))
            var response = StubResponse.data(content).throttled(to: speed).reset(after: limit)
            if Bool.random(using: &generator) {
                response = response.dripping(by: .random(in: -1...40, using: &generator))
            }

            let steps = try StubPlan(response, to: request).steps

            var (received, waited) = (Data(), Duration.zero)
            for step in steps {
                guard case .content(let pieces) = step else { continue }
                for (wait, data) in pieces {
                    received += data
                    waited += wait
                }
            }
            #expect(received == content.prefix(limit))
            let expected = Double(received.count) / Double(speed.bytesPerSecond)
            #expect(abs(waited / .seconds(1) - expected) < 1e-9)
        }
    }
}

extension StubPlan.Step {
    fileprivate var texts: [String] {
        switch self {
        case .action(.wait(let duration), _): return ["wait \(duration / .seconds(1))"]
        case .action(.hold, _): return ["hold"]
        case .action(.stall, _): return ["stall"]
        case .head(let status, let headers):
            let length = headers[.contentLength].map { " length \($0)" } ?? ""
            return ["\(status.code)\(length)\(headers[.location].map { " to \($0)" } ?? "")"]
        case .content(let pieces):
            return pieces.flatMap { wait, data in
                (wait > .zero ? ["wait \(wait / .seconds(1))"] : []) + [String(decoding: data, as: UTF8.self)]
            }
        case .finish, .action:
            return events(at: URL(fileURLWithPath: "/")).flatMap { event in
                switch event {
                case .trailers(let trailers): trailers.map { "\($0.name.rawValue): \($0.value)" }
                case .end(let error): [error.map { "end \($0.shortDescription)" } ?? "end"]
                default: ["\(event)"]
                }
            }
        }
    }
}
