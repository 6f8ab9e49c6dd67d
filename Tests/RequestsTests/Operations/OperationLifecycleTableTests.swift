// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import TestSupport
import Testing

@testable import Requests

/// Every input in every state, against a table that is typed in here and not computed from the machine.
@Suite(.bounded) struct OperationLifecycleTableTests {
    typealias State = OperationLifecycle.State
    typealias Input = OperationLifecycle.Input
    typealias Action = OperationLifecycle.Action

    /// What happens: the action, and the state after it. Nil stands for an input that is ignored.
    struct Cell: Sendable, Equatable {
        let action: Action
        let next: State
    }

    /// The inputs of each state are made so that the numbers of the present attempt and transfer are 2; 1 is stale.
    static let inputs: [Input] = [
        .start, .announced, .join, .part, .built(attempt: 1), .built(attempt: 2), .adapted(attempt: 1),
        .adapted(attempt: 2), .responded(transfer: 1), .responded(transfer: 2), .ended(transfer: 1),
        .ended(transfer: 2), .answered, .accepted, .redirected, .retry, .elapsed(attempt: 1), .elapsed(attempt: 2),
        .settle,
        .delivered, .finished,
    ]

    /// The way to each state, by inputs alone.
    static let toWaiting: [Input] = [
        .start, .announced, .built(attempt: 1), .adapted(attempt: 1), .responded(transfer: 1), .ended(transfer: 1),
        .retry,
    ]
    static let toBuilding = toWaiting + [.elapsed(attempt: 2)]
    static let toSending = toBuilding + [.built(attempt: 2), .adapted(attempt: 2)]
    static let toJudging = toSending + [.ended(transfer: 2)]

    struct Row: Sendable, CustomStringConvertible {
        let state: State
        let path: [Input]
        /// One cell for every input of ``inputs``, in their order.
        let cells: [Cell?]
        var description: String { "\(state)" }

        /// A row, with the inputs that mean something; every other is listed as ignored.
        init(_ state: State, by path: [Input], _ meaningful: [(Input, Action, State)], ignored: [Input]) {
            self.state = state
            self.path = path
            cells = OperationLifecycleTableTests.inputs.map { input in
                meaningful.first { $0.0 == input }.map { Cell(action: $0.1, next: $0.2) }
            }
            stated = meaningful.map(\.0) + ignored
        }

        /// The inputs that the table says something about.
        let stated: [Input]
    }

    // Abbreviations of groups of inputs, so that the ignored ones can be written out.
    static let numbersOfAttempts: [Input] = [
        .built(attempt: 1), .built(attempt: 2), .adapted(attempt: 1), .adapted(attempt: 2), .elapsed(attempt: 1),
        .elapsed(attempt: 2),
    ]
    static let numbersOfTransfers: [Input] = [
        .responded(transfer: 1), .responded(transfer: 2), .ended(transfer: 1), .ended(transfer: 2),
    ]
    static let verdicts: [Input] = [.answered, .accepted, .redirected, .retry]
    static let ending: [Input] = [.delivered, .finished]
    static let entering: [Input] = [.start, .announced, .join, .part]

    // A fresh machine's numbers are 1 and 0, so that in the rows before the first retry all numbers of 2 are wrong
    // ones, and those of 1 are right only where a row says so.
    static let table: [Row] = [
        Row(
            .ready,
            by: [],
            [(.start, .announce, .starting), (.settle, .deliver, .delivering(then: .start))],
            ignored: [.announced, .join, .part] + numbersOfAttempts + numbersOfTransfers + verdicts + ending
        ),
        Row(
            .starting,
            by: [.start],
            [
                (.announced, .build(attempt: 1), .building),
                (.settle, .deliver, .delivering(then: .announcement)),
            ],
            ignored: [.start, .join, .part] + numbersOfAttempts + numbersOfTransfers + verdicts + ending
        ),
        Row(
            .building,
            by: toBuilding,
            [
                (.join, .attach, .joined), (.built(attempt: 2), .adapt(attempt: 2), .adapting),
                (.settle, .deliver, .delivering(then: nil)),
            ],
            ignored: [
                .start, .announced, .part, .built(attempt: 1), .adapted(attempt: 1), .adapted(attempt: 2),
                .elapsed(attempt: 1), .elapsed(attempt: 2),
            ] + numbersOfTransfers + verdicts + ending
        ),
        Row(
            .joined,
            by: [.start, .announced, .join],
            [(.part, .build(attempt: 1), .building), (.settle, .deliver, .delivering(then: nil))],
            ignored: [.start, .announced, .join] + numbersOfAttempts + numbersOfTransfers + verdicts + ending
        ),
        Row(
            .adapting,
            by: toBuilding + [.built(attempt: 2)],
            [
                (.adapted(attempt: 2), .send(transfer: 2), .sending), (.answered, .judge, .judging),
                (.settle, .deliver, .delivering(then: nil)),
            ],
            ignored: [
                .built(attempt: 1), .built(attempt: 2), .adapted(attempt: 1), .elapsed(attempt: 1),
                .elapsed(attempt: 2), .accepted, .redirected, .retry,
            ] + entering + numbersOfTransfers + ending
        ),
        Row(
            .sending,
            by: toSending,
            [
                (.responded(transfer: 2), .none, .receiving), (.ended(transfer: 2), .judge, .judging),
                (.settle, .deliver, .delivering(then: .transfer)),
            ],
            ignored: [.responded(transfer: 1), .ended(transfer: 1)] + entering + numbersOfAttempts + verdicts + ending
        ),
        Row(
            .receiving,
            by: toSending + [.responded(transfer: 2)],
            [(.ended(transfer: 2), .judge, .judging), (.settle, .deliver, .delivering(then: .transfer))],
            ignored: [.responded(transfer: 1), .responded(transfer: 2), .ended(transfer: 1)] + entering
                + numbersOfAttempts + verdicts + ending
        ),
        Row(
            .judging,
            by: toJudging,
            [
                (.answered, .judge, .judging), (.accepted, .decode, .decoding),
                (.redirected, .send(transfer: 3), .sending),
                (.retry, .wait(attempt: 3), .waiting), (.settle, .deliver, .delivering(then: nil)),
            ],
            ignored: entering + numbersOfAttempts + numbersOfTransfers + ending
        ),
        Row(
            .waiting,
            by: toWaiting,
            [(.elapsed(attempt: 2), .build(attempt: 2), .building), (.settle, .deliver, .delivering(then: nil))],
            ignored: [
                .built(attempt: 1), .built(attempt: 2), .adapted(attempt: 1), .adapted(attempt: 2),
                .elapsed(attempt: 1),
            ] + entering + numbersOfTransfers + verdicts + ending
        ),
        Row(
            .decoding,
            by: toJudging + [.accepted],
            [(.settle, .deliver, .delivering(then: nil))],
            ignored: entering + numbersOfAttempts + numbersOfTransfers + verdicts + ending
        ),
        Row(
            .delivering(then: .start),
            by: [.settle],
            [(.start, .none, .delivering(then: nil)), (.delivered, .none, .settled(.start))],
            ignored: [.announced, .join, .part, .settle, .finished] + numbersOfAttempts + numbersOfTransfers + verdicts
        ),
        Row(
            .delivering(then: .announcement),
            by: [.start, .settle],
            [(.announced, .none, .delivering(then: nil)), (.delivered, .none, .settled(.announcement))],
            ignored: [.start, .join, .part, .settle, .finished] + numbersOfAttempts + numbersOfTransfers + verdicts
        ),
        Row(
            .delivering(then: .transfer),
            by: toSending + [.settle],
            [(.ended(transfer: 2), .none, .delivering(then: nil)), (.delivered, .none, .settled(.transfer))],
            ignored: [.responded(transfer: 1), .responded(transfer: 2), .ended(transfer: 1), .settle, .finished]
                + entering + numbersOfAttempts + verdicts
        ),
        Row(
            .delivering(then: nil),
            by: toJudging + [.settle],
            [(.delivered, .finish, .finishing)],
            ignored: [.settle, .finished] + entering + numbersOfAttempts + numbersOfTransfers + verdicts
        ),
        Row(
            .settled(.start),
            by: [.settle, .delivered],
            [(.start, .finish, .finishing)],
            ignored: [.announced, .join, .part, .settle] + numbersOfAttempts + numbersOfTransfers + verdicts + ending
        ),
        Row(
            .settled(.announcement),
            by: [.start, .settle, .delivered],
            [(.announced, .finish, .finishing)],
            ignored: [.start, .join, .part, .settle] + numbersOfAttempts + numbersOfTransfers + verdicts + ending
        ),
        Row(
            .settled(.transfer),
            by: toSending + [.settle, .delivered],
            [(.ended(transfer: 2), .finish, .finishing)],
            ignored: [.responded(transfer: 1), .responded(transfer: 2), .ended(transfer: 1), .settle] + entering
                + numbersOfAttempts + verdicts + ending
        ),
        Row(
            .finishing,
            by: toJudging + [.settle, .delivered],
            [(.finished, .none, .finished)],
            ignored: [.settle, .delivered] + entering + numbersOfAttempts + numbersOfTransfers + verdicts
        ),
        Row(
            .finished,
            by: toJudging + [.settle, .delivered, .finished],
            [],
            ignored: [.settle] + entering + numbersOfAttempts + numbersOfTransfers + verdicts + ending
        ),
    ]

    @Test func theTableSaysWhatHappensInEveryStateOnEveryInputOnce() {
        #expect(Set(Self.table.map(\.state)).count == Self.table.count)
        for row in Self.table {
            #expect(row.stated.count == Set(row.stated).count, "\(row) says something twice")
            #expect(Set(row.stated) == Set(Self.inputs), "\(row) leaves something out")
        }
    }

    @Test func noStateIsMissingFromTheTable() {
        // What can be reached from the states of the table by any input is in the table.
        let listed = Set(Self.table.map(\.state))
        for row in Self.table {
            for input in Self.inputs {
                var lifecycle = Self.drive(row.path)
                _ = lifecycle.handle(input)
                #expect(listed.contains(lifecycle.state), "\(row) on \(input)")
            }
        }
        #expect(Set(listed.map(Self.kind)).count == 14)
    }

    @Test(arguments: table) func everyInputDoesWhatTheTableSays(_ row: Row) {
        #expect(Self.drive(row.path).state == row.state)
        for (input, cell) in zip(Self.inputs, row.cells) {
            var lifecycle = Self.drive(row.path)
            let before = lifecycle

            let action = lifecycle.handle(input)

            if let cell {
                #expect(Cell(action: action, next: lifecycle.state) == cell, "\(input)")
            } else {
                #expect(action == .none && lifecycle == before, "\(input) is ignored")
            }
        }
    }

    static let executing: Set<State> = [
        .starting, .building, .joined, .adapting, .sending, .receiving, .judging, .waiting, .decoding,
        .delivering(then: .announcement), .delivering(then: .transfer), .delivering(then: nil),
        .settled(.announcement), .settled(.transfer), .finishing,
    ]

    @Test(arguments: table) func theFlagsOfTheOperationFollowFromTheState(_ row: Row) {
        let lifecycle = Self.drive(row.path)

        #expect(lifecycle.isExecuting == Self.executing.contains(row.state))
        #expect(lifecycle.isFinished == (row.state == .finished))
    }

    private static func drive(_ path: [Input]) -> OperationLifecycle {
        var lifecycle = OperationLifecycle()
        for input in path { _ = lifecycle.handle(input) }
        return lifecycle
    }

    /// The name of the case. The switch has no default, so that a new state doesn't compile until it is here.
    private static func kind(_ state: State) -> String {
        switch state {
        case .ready: "ready"
        case .starting: "starting"
        case .building: "building"
        case .joined: "joined"
        case .adapting: "adapting"
        case .sending: "sending"
        case .receiving: "receiving"
        case .judging: "judging"
        case .waiting: "waiting"
        case .decoding: "decoding"
        case .delivering: "delivering"
        case .settled: "settled"
        case .finishing: "finishing"
        case .finished: "finished"
        }
    }
}
