// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import RequestsConformance

/// The checks are tested: a transport with a fault fails the matching check, with a report that names the fault.
@Suite(.bounded) struct TransportConformanceTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let fault: BrokenTransport.Fault
        let check: String
        /// The text of the report.
        let problem: String
        /// The maximum time of a wait; short only if the fault is found by waiting for it.
        var maximumWait = Duration.seconds(30)

        var testDescription: String { fault.rawValue }
    }

    static let rows: [Row] = [
        Row(fault: .twoEnds, check: answer, problem: "end arrived after the end"),
        Row(fault: .noEnd, check: answer, problem: "no end was reported within", maximumWait: .seconds(1)),
        Row(fault: .contentAfterEnd, check: answer, problem: "data arrived after the end"),
        Row(fault: .contentBeforeHead, check: answer, problem: "content arrived before the head"),
        Row(fault: .twoHeads, check: answer, problem: "head 200 arrived after the head"),
        Row(fault: .noHead, check: answer, problem: "without a head"),
        Row(fault: .overlapping, check: answer, problem: "before the handler of the previous event had returned"),
        Row(fault: .loosesContent, check: answer, problem: "3 bytes of content: tex"),
        Row(
            fault: .followsRedirects,
            check: "a redirect is reported as a response",
            problem: "redirects were followed"
        ),
        Row(
            fault: .ignoresCancel,
            check: "cancelling while waiting for the response ends the transfer",
            problem: "no end was reported within",
            maximumWait: .seconds(1)
        ),
        Row(
            fault: .changesCancel,
            check: "cancelling while waiting for the response ends the transfer",
            problem: "expected cancelled"
        ),
        Row(fault: .keepsCookies, check: "cookies aren't stored", problem: "conformance=1"),
        Row(fault: .blocks, check: "sending returns immediately", problem: "`send` took", maximumWait: .seconds(1)),
        Row(fault: .retries, check: "failures aren't retried", problem: "3 requests were sent, expected 2"),
        Row(
            fault: .claimsPausing,
            check: "pausing stops the peer, and resuming delivers the rest",
            problem: "after the pause"
        ),
        Row(
            fault: .timesOutInPause,
            check: "a pause doesn't count as idle time",
            problem: "timed out after"
        ),
        Row(
            fault: .changesCancel,
            check: "cancelling before the first event ends the transfer",
            problem: "expected cancelled"
        ),
        Row(
            fault: .sendsAfterCancel,
            check: "nothing is sent after a cancellation",
            problem: "sent after their cancellation"
        ),
        Row(
            fault: .namesTheProxy,
            check: "proxy credentials aren't sent to the origin",
            problem: "Proxy-Authorization was sent to the origin"
        ),
        Row(
            fault: .timesOutInTurn,
            check: "unresponsive connections time out in parallel",
            problem: "8 transfers with a timeout of"
        ),
    ]

    private static let answer = "a response is a head, content and one end"

    @Test(arguments: rows)
    func brokenTransportFailsMatchingCheck(_ row: Row) async throws {
        let check = try #require(TransportConformance.checks.first { $0.name == row.check })

        let failure = await #expect(throws: ConformanceFailure.self) {
            try await check.run(on: { BrokenTransport(row.fault) }, maximumWait: row.maximumWait)
        }

        #expect(failure?.name == check.name)
        #expect(failure?.problems.contains { $0.contains(row.problem) } == true, "\(failure?.description ?? "none")")
        #expect(failure?.description.hasPrefix("BrokenTransport fails: \(check.name)\n  Rule: \(check.rule)\n") == true)
    }

    @Test func rowsCoverAllFaults() {
        #expect(Set(Self.rows.map(\.fault)) == Set(BrokenTransport.Fault.allCases))
    }

    @Test func failureIncludesTranscript() async throws {
        let check = try #require(TransportConformance.checks.first)

        let failure = await #expect(throws: ConformanceFailure.self) {
            try await check.run(on: { BrokenTransport(.twoEnds) })
        }

        #expect(failure?.transcript == ["GET /text: head 200, data, metrics, end ×2"])
    }

    @Test func transportCreationErrorIsReported() async throws {
        let check = try #require(TransportConformance.checks.first)
        struct Broken: Error {}

        let failure = await #expect(throws: ConformanceFailure.self) { try await check.run(on: { throw Broken() }) }

        #expect(failure?.problems == ["the check couldn't start: Broken()"])
    }

    /// The checks for a custom server: all in a full run, otherwise some of those that don't measure time.
    ///
    /// `ConformanceTests` runs all of them on the transport, each with its own server.
    static let checksAtAServer: [TransportConformance.Check] = {
        guard !Scale.isWhole else { return TransportConformance.checks }
        let limits = Set(TransportConformance.limits.map(\.name))
        let checks = TransportConformance.checks.filter { !limits.contains($0.name) }
        let run = checks.filter { !$0.needsMockServer }.enumerated().filter { $0.offset.isMultiple(of: 3) }
        return run.map(\.element) + checks.filter(\.needsMockServer)
    }()

    @Test func checksRunAgainstCustomServer() async throws {
        let server = try MockServer()
        server.addConformanceRoutes()
        var skipped = 0

        for check in Self.checksAtAServer {
            let skip = try await check.run(on: { HTTPClient.defaultTransport }, at: server.url)
            if skip != nil { skipped += 1 }
            #expect(check.needsMockServer == (skip?.reason == "the check requires a MockServer"))
        }

        #expect(Self.checksAtAServer.count - skipped > Scale.pick(6, whole: 30))
        #expect(server.requestCount > Scale.pick(10, whole: 200))
    }

    @Test func unexpectedServerResponseIsReported() async throws {
        let server = try MockServer { _ in .text("something else") }
        let check = try #require(TransportConformance.checks.first)

        let failure = await #expect(throws: ConformanceFailure.self) {
            try await check.run(on: { HTTPClient.defaultTransport }, at: server.url)
        }

        #expect(failure?.problems.contains { $0.contains("something else") } == true)
    }

    @Test func checkNamesAreUnique() {
        let names = TransportConformance.checks.map(\.name)

        #expect(Set(names).count == names.count)
        #expect(TransportConformance.checks.allSatisfy { !$0.rule.isEmpty })
    }
}
