// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct StubTransferStateTests {
    enum Step: Sendable {
        case begin, beginHead, beginEnd, finish, cancel, timeOut
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [(Step, String)]
        let isRunning: Bool
    }

    static let rows = [
        Row(
            testDescription: "events come one after the other",
            steps: [
                (.beginHead, "yes"), (.begin, "no"), (.finish, "-"), (.begin, "yes"), (.finish, "-"), (.finish, "-"),
            ],
            isRunning: true
        ),
        Row(
            testDescription: "nothing comes after the end",
            steps: [
                (.beginEnd, "yes"), (.begin, "no"), (.finish, "-"), (.beginEnd, "no"), (.beginHead, "no"),
                (.cancel, "-"),
            ],
            isRunning: false
        ),
        Row(
            testDescription: "a cancel ends what is idle",
            steps: [(.cancel, "cancelled while sending"), (.cancel, "-"), (.beginHead, "no"), (.finish, "-")],
            isRunning: false
        ),
        Row(
            testDescription: "a cancel behind the head knows of it",
            steps: [(.beginHead, "yes"), (.finish, "-"), (.cancel, "cancelled while receiving")],
            isRunning: false
        ),
        Row(
            testDescription: "a cancel waits for the event that is being reported",
            steps: [
                (.begin, "yes"), (.cancel, "-"), (.cancel, "-"), (.begin, "no"), (.finish, "cancelled while sending"),
                (.finish, "-"), (.beginEnd, "no"),
            ],
            isRunning: false
        ),
        Row(
            testDescription: "a timeout ends it once, before a cancel",
            steps: [(.timeOut, "timedOut while sending"), (.cancel, "-"), (.timeOut, "-"), (.beginHead, "no")],
            isRunning: false
        ),
        Row(
            testDescription: "a cancel while the end is being reported is too late",
            steps: [(.beginEnd, "yes"), (.cancel, "-"), (.finish, "-")],
            isRunning: false
        ),
    ]

    @Test(arguments: rows) func transcript(_ row: Row) {
        var state = StubTransferState()

        let answers = row.steps.map { step, _ in state.apply(step) }

        #expect(answers == row.steps.map(\.1))
        #expect(state.isRunning == row.isRunning)
    }
}

extension StubTransferState {
    fileprivate mutating func apply(_ step: StubTransferStateTests.Step) -> String {
        switch step {
        case .begin: begin(.data(Data())) ? "yes" : "no"
        case .beginHead: begin(.head(HTTPResponseHead(status: .ok))) ? "yes" : "no"
        case .beginEnd: begin(.end(nil)) ? "yes" : "no"
        case .finish: finish().map { "\($0.shortDescription) while \($0.phase)" } ?? "-"
        case .cancel: end(.cancelled).map { "\($0.shortDescription) while \($0.phase)" } ?? "-"
        case .timeOut: end(.timedOut).map { "\($0.shortDescription) while \($0.phase)" } ?? "-"
        }
    }
}
