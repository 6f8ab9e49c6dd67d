// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import Testing

@testable import RequestsTesting

/// The checks are checked: a transport with a fault fails the check that is about it, with a report that names it.
@Suite(.timeLimit(.minutes(5)), .serialized) struct TransportConformanceTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let fault: BrokenTransport.Fault
        let check: String
        /// What the report says.
        let problem: String

        var testDescription: String { fault.rawValue }
    }

    static let rows: [Row] = [
        Row(fault: .twoEnds, check: answer, problem: "end came after the end"),
        Row(fault: .noEnd, check: answer, problem: "no end came within"),
        Row(fault: .contentAfterEnd, check: answer, problem: "data came after the end"),
        Row(fault: .contentBeforeHead, check: answer, problem: "content came before the head"),
        Row(fault: .twoHeads, check: answer, problem: "a second head came"),
        Row(fault: .noHead, check: answer, problem: "without a head"),
        Row(fault: .overlapping, check: answer, problem: "while the call of another event had not returned"),
        Row(fault: .loosesContent, check: answer, problem: "3 bytes of content: tex"),
        Row(fault: .followsRedirects, check: "a redirect is an answer", problem: "redirects were followed"),
        Row(fault: .ignoresCancel, check: "a cancel while waiting ends the transfer", problem: "no end came within"),
        Row(fault: .changesCancel, check: "a cancel while waiting ends the transfer", problem: "not cancelled"),
        Row(fault: .keepsCookies, check: "cookies aren't kept", problem: "conformance=1"),
        Row(fault: .blocks, check: "sending returns at once", problem: "send took"),
        Row(fault: .retries, check: "failures aren't tried again", problem: "3 requests were sent, not 2"),
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
    ]

    private static let answer = "an answer is a head, content and one end"

    @Test(arguments: rows)
    func brokenTransportFailsTheCheckThatIsAboutIt(_ row: Row) async throws {
        let check = try #require(TransportConformance.checks.first { $0.name == row.check })

        // What is a matter of time may be hidden by a busy machine: of some attempts, one has to find it.
        var failure: ConformanceFailure?
        for _ in 0..<5 where failure == nil {
            do throws(ConformanceFailure) {
                try await check.run(on: { BrokenTransport(row.fault) }, patience: .seconds(1))
            } catch {
                failure = error
            }
        }

        #expect(failure?.name == check.name)
        #expect(failure?.problems.contains { $0.contains(row.problem) } == true, "\(failure?.description ?? "")")
        #expect(failure?.description.hasPrefix("BrokenTransport fails: \(check.name)\n  Rule: \(check.rule)\n") == true)
    }

    @Test func everyFaultHasItsRow() {
        #expect(Set(Self.rows.map(\.fault)) == Set(BrokenTransport.Fault.allCases))
    }

    @Test func faultThatIsDeclaredIsNoFailure() async throws {
        let check = try #require(TransportConformance.checks.first)

        let outcome = try await check.run(on: { BrokenTransport(.twoEnds) }, knownFault: .fails("it was told to"))

        #expect(outcome.description == "failed, as is known: it was told to")
        guard case .known(_, let failure?) = outcome else { return _ = Issue.record("\(outcome)") }
        #expect(failure.transcript == ["GET /text: head 200, data, end, end"] || failure.transcript.count == 1)
    }

    @Test func faultThatIsDeclaredAndNotThereIsAFailure() async throws {
        let check = try #require(TransportConformance.checks.first)

        let failure = await #expect(throws: ConformanceFailure.self) {
            try await check.run(on: { DefaultTransport.shared }, knownFault: .fails("of old"))
        }

        #expect(failure?.problems == ["the check is declared to fail, since of old, but it is passed"])
        try await check.run(on: { DefaultTransport.shared }, knownFault: .mayFail("of luck"))
    }

    @Test func faultThatEndsTheProcessIsNotTried() async throws {
        let check = try #require(TransportConformance.checks.first)
        struct Tried: Error {}

        let outcome = try await check.run(on: { throw Tried() }, knownFault: .endsProcess("of a trap"))

        #expect(outcome.description == "not run, as is known: of a trap")
    }

    @Test(arguments: [TransportConformance.KnownFault.fails("of old"), .mayFail("of luck")])
    func noDeclarationHidesThatNothingCouldBeTried(_ fault: TransportConformance.KnownFault) async throws {
        let check = try #require(TransportConformance.checks.first)
        struct Broken: Error {}

        let failure = await #expect(throws: ConformanceFailure.self) {
            try await check.run(on: { throw Broken() }, knownFault: fault)
        }

        #expect(failure?.problems == ["nothing could be tried: Broken()"])
    }

    @Test func transportThatCannotBeMadeIsAFailure() async throws {
        let check = try #require(TransportConformance.checks.first)
        struct Broken: Error {}

        let failure = await #expect(throws: ConformanceFailure.self) { try await check.run(on: { throw Broken() }) }

        #expect(failure?.problems == ["nothing could be tried: Broken()"])
    }

    /// A server that is none of the suite's own, and does what the documentation says.
    @Test func aServerOfOnesOwnIsAskedWhatItIsSaidToDo() async throws {
        let server = try MockServer()
        server.routeConformance()
        var skipped = 0

        for check in TransportConformance.checks {
            let outcome = try await check.run(on: { DefaultTransport.shared }, at: server.url)
            switch outcome {
            case .passed: #expect(!check.needsMockServer)
            case .skipped(let reason):
                skipped += 1
                #expect(check.needsMockServer == (reason == "only a MockServer does what the check is about"))
            case .known: Issue.record("\(check): \(outcome)")
            }
        }

        #expect(TransportConformance.checks.count - skipped > 30)
        #expect(server.requestCount > 200)
    }

    @Test func aServerThatDoesOtherwiseIsTold() async throws {
        let server = try MockServer { _ in .text("something else") }

        let report = await TransportConformance.run(at: server.url, patience: .seconds(1)) { DefaultTransport.shared }

        #expect(!report.isConforming)
        #expect(report.description.contains("is an answer: failed"))
    }

    @Test func namesAreUnique() {
        let names = TransportConformance.checks.map(\.name)

        #expect(Set(names).count == names.count)
        #expect(TransportConformance.checks.allSatisfy { !$0.rule.isEmpty })
    }
}
