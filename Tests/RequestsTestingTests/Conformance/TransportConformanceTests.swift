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
        var patience = Duration.seconds(30)

        var testDescription: String { fault.rawValue }
    }

    static let rows: [Row] = [
        Row(fault: .twoEnds, check: answer, problem: "end came after the end"),
        Row(fault: .noEnd, check: answer, problem: "no end came within", patience: .seconds(1)),
        Row(fault: .contentAfterEnd, check: answer, problem: "data came after the end"),
        Row(fault: .contentBeforeHead, check: answer, problem: "content came before the head"),
        Row(fault: .twoHeads, check: answer, problem: "head 200 came after the head"),
        Row(fault: .noHead, check: answer, problem: "without a head"),
        Row(fault: .overlapping, check: answer, problem: "while the call of another event had not returned"),
        Row(fault: .loosesContent, check: answer, problem: "3 bytes of content: tex"),
        Row(fault: .followsRedirects, check: "a redirect is an answer", problem: "redirects were followed"),
        Row(
            fault: .ignoresCancel,
            check: "a cancel while waiting ends the transfer",
            problem: "no end came within",
            patience: .seconds(1)
        ),
        Row(fault: .changesCancel, check: "a cancel while waiting ends the transfer", problem: "not cancelled"),
        Row(fault: .keepsCookies, check: "cookies aren't kept", problem: "conformance=1"),
        Row(fault: .blocks, check: "sending returns at once", problem: "send took", patience: .seconds(1)),
        Row(fault: .retries, check: "failures aren't retried", problem: "3 requests were sent, not 2"),
        Row(
            fault: .claimsPausing,
            check: "a pause stops the peer, and resuming brings the rest",
            problem: "after the pause"
        ),
        Row(
            fault: .timesOutInPause,
            check: "a pause longer than the idle timeout isn't silence",
            problem: "ended with a timeout"
        ),
        Row(
            fault: .changesCancel,
            check: "a cancel between sending and the first event ends the transfer",
            problem: "not cancelled"
        ),
        Row(fault: .sendsAfterCancel, check: "nothing is sent after a cancel", problem: "sent after their end"),
        Row(
            fault: .namesTheProxy,
            check: "credentials for a proxy don't reach the origin",
            problem: "Proxy-Authorization was sent to the origin"
        ),
        Row(
            fault: .timesOutInTurn,
            check: "connections that aren't answered time out side by side",
            problem: "8 timeouts of"
        ),
    ]

    private static let answer = "an answer is a head, content and one end"

    @Test(arguments: rows)
    func brokenTransportFailsTheCheckThatIsAboutIt(_ row: Row) async throws {
        let check = try #require(TransportConformance.checks.first { $0.name == row.check })

        let failure = await #expect(throws: ConformanceFailure.self) {
            try await check.run(on: { BrokenTransport(row.fault) }, patience: row.patience)
        }

        #expect(failure?.name == check.name)
        #expect(failure?.problems.contains { $0.contains(row.problem) } == true, "\(failure?.description ?? "none")")
        #expect(failure?.description.hasPrefix("BrokenTransport fails: \(check.name)\n  Rule: \(check.rule)\n") == true)
    }

    @Test func everyFaultHasItsRow() {
        #expect(Set(Self.rows.map(\.fault)) == Set(BrokenTransport.Fault.allCases))
    }

    @Test func failureHasTheTranscript() async throws {
        let check = try #require(TransportConformance.checks.first)

        let failure = await #expect(throws: ConformanceFailure.self) {
            try await check.run(on: { BrokenTransport(.twoEnds) })
        }

        #expect(failure?.transcript == ["GET /text: head 200, data, metrics, end ×2"])
    }

    @Test func transportThatCannotBeMadeIsAFailure() async throws {
        let check = try #require(TransportConformance.checks.first)
        struct Broken: Error {}

        let failure = await #expect(throws: ConformanceFailure.self) { try await check.run(on: { throw Broken() }) }

        #expect(failure?.problems == ["nothing could be tried: Broken()"])
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

    @Test func aServerOfOnesOwnIsAskedWhatItIsSaidToDo() async throws {
        let server = try MockServer()
        server.addConformanceRoutes()
        var skipped = 0

        for check in Self.checksAtAServer {
            let skip = try await check.run(on: { HTTPClient.defaultTransport }, at: server.url)
            if skip != nil { skipped += 1 }
            #expect(check.needsMockServer == (skip?.reason == "only a MockServer does what the check is about"))
        }

        #expect(Self.checksAtAServer.count - skipped > Scale.pick(6, whole: 30))
        #expect(server.requestCount > Scale.pick(10, whole: 200))
    }

    @Test func aServerThatDoesOtherwiseIsAFailure() async throws {
        let server = try MockServer { _ in .text("something else") }
        let check = try #require(TransportConformance.checks.first)

        let failure = await #expect(throws: ConformanceFailure.self) {
            try await check.run(on: { HTTPClient.defaultTransport }, at: server.url)
        }

        #expect(failure?.problems.contains { $0.contains("something else") } == true)
    }

    @Test func namesAreUnique() {
        let names = TransportConformance.checks.map(\.name)

        #expect(Set(names).count == names.count)
        #expect(TransportConformance.checks.allSatisfy { !$0.rule.isEmpty })
    }
}
