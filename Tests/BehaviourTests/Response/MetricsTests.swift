// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct MetricsTests {
    private static let whole: TransferRecord.Metrics = {
        var metrics = TransferRecord.Metrics()
        metrics.fetchStart = .milliseconds(1)
        metrics.domainLookupEnd = .milliseconds(3)
        metrics.connectEnd = .milliseconds(6)
        metrics.secureConnectionEnd = .milliseconds(10)
        metrics.requestEnd = .milliseconds(15)
        metrics.responseStart = .milliseconds(21)
        metrics.end = .milliseconds(28)
        return metrics
    }()

    @Test(
        arguments: zip(TransferRecord.Metrics.Phase.allCases, [0..<1, 1..<3, 3..<6, 6..<10, 10..<15, 15..<21, 21..<28])
    )
    func phaseStartsWhenPreviousPhaseEnds(_ phase: TransferRecord.Metrics.Phase, _ milliseconds: Range<Int>) {
        let expected: Range<Duration> =
            .milliseconds(milliseconds.lowerBound)..<(.milliseconds(milliseconds.upperBound))

        #expect(Self.whole[phase] == expected)
        #expect(Self.whole.duration(of: phase) == .milliseconds(milliseconds.count))
    }

    @Test func phaseBeginsAtLastKnownEnd() {
        var metrics = Self.whole
        metrics.domainLookupEnd = nil
        metrics.connectEnd = nil
        metrics.secureConnectionEnd = nil

        #expect(metrics[.connect] == nil)
        #expect(metrics.duration(of: .request) == .milliseconds(14))
    }

    @Test func overlappingPhasesAreNotNegative() {
        var metrics = Self.whole
        metrics.responseStart = .milliseconds(12)  // A response before the request was sent completely.

        #expect(metrics.duration(of: .wait) == .zero)
    }

    @Test func metricsExistWithoutTransportMetrics() async throws {
        let queue = TestQueue()

        let operation = queue.addRequest(TextRequest())
        _ = try await operation.value()

        let metrics = try #require(operation.metrics)
        let (first, end) = try (#require(metrics.responseStart), #require(metrics.end))
        #expect(first <= end)
        #expect(metrics.networkProtocol == nil)
    }

    @Test func transportMetricsTakePrecedence() async throws {
        let transport = ManualTransport()
        let queue = TestQueue(transport)
        defer { queue.base.cancelAllOperations() }

        let operation = queue.addRequest(TextRequest())
        let transfer = try await transport.awaitTransfer()
        transfer.receive(.head(HTTPResponseHead(status: .ok)))
        transfer.receive(.metrics(Self.whole))
        transfer.receive(.end(nil))
        _ = try await operation.value()

        #expect(operation.metrics == Self.whole)
    }

    @Test func responseIncludesMetrics() async throws {
        let response = try await TestQueue().send(TextRequest())

        #expect(response.metrics?.end != nil)
    }
}
