// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct OperationLifecycleTests {
    typealias State = OperationLifecycle.State
    typealias Input = OperationLifecycle.Input
    typealias Action = OperationLifecycle.Action
    typealias Step = (input: Input, action: Action)

    struct Transcript: Sendable, CustomStringConvertible {
        let description: String
        let steps: [Step]
    }

    static let transcripts = [
        Transcript(
            description: "one transfer, and success",
            steps: [
                (.start, .announce), (.announced, .execute), (.transferBegins, .send), (.transferEnded, .none),
                (.complete, .deliver), (.delivered, .finish), (.finished, .none),
            ]
        ),
        Transcript(
            description: "two transfers at once, and a result between their ends",
            steps: [
                (.start, .announce), (.announced, .execute), (.transferBegins, .send), (.transferBegins, .send),
                (.transferEnded, .none), (.complete, .deliver), (.delivered, .none), (.transferEnded, .finish),
                (.finished, .none),
            ]
        ),
        Transcript(
            description: "cancel before the start",
            steps: [
                (.complete, .deliver), (.delivered, .none), (.complete, .none), (.start, .finish), (.finished, .none),
            ]
        ),
        Transcript(
            description: "start while the cancellation is being delivered",
            steps: [(.complete, .deliver), (.start, .none), (.delivered, .finish), (.finished, .none)]
        ),
        Transcript(
            description: "cancel while the start is announced",
            steps: [
                (.start, .announce), (.complete, .deliver), (.delivered, .none), (.announced, .finish),
                (.finished, .none),
            ]
        ),
        Transcript(
            description: "cancel while the start is announced, which ends first",
            steps: [
                (.start, .announce), (.complete, .deliver), (.announced, .none), (.delivered, .finish),
                (.finished, .none),
            ]
        ),
        Transcript(
            description: "cancel with two transfers: the end of the last one finishes, and no other begins",
            steps: [
                (.start, .announce), (.announced, .execute), (.transferBegins, .send), (.transferBegins, .send),
                (.complete, .deliver), (.transferBegins, .none), (.delivered, .none), (.transferBegins, .none),
                (.transferEnded, .none), (.transferEnded, .finish), (.transferBegins, .none), (.finished, .none),
            ]
        ),
        Transcript(
            description: "both transfers end while the cancellation is being delivered",
            steps: [
                (.start, .announce), (.announced, .execute), (.transferBegins, .send), (.transferBegins, .send),
                (.complete, .deliver), (.transferEnded, .none), (.transferEnded, .none), (.delivered, .finish),
                (.finished, .none),
            ]
        ),
        Transcript(
            description: "two completions: the second has no effect",
            steps: [
                (.start, .announce), (.announced, .execute), (.complete, .deliver), (.complete, .none),
                (.delivered, .finish), (.complete, .none), (.finished, .none), (.complete, .none),
            ]
        ),
    ]

    @Test(arguments: transcripts) func transcriptProducesExpectedActions(_ transcript: Transcript) {
        var lifecycle = OperationLifecycle()

        for (index, step) in transcript.steps.enumerated() {
            #expect(lifecycle.handle(step.input) == step.action, "step \(index): \(step.input)")
        }

        #expect(lifecycle.state == .finished)
    }

    /// The inputs with an effect, for each state; any other input has none. Written by hand, not computed from the
    /// machine.
    static let table: [(reached: [Input], effects: [(Input, Action, State)])] = [
        ([], [(.start, .announce, .starting), (.complete, .deliver, .delivering(then: .start))]),
        (
            [.start],
            [
                (.announced, .execute, .running(transfers: 0)),
                (.complete, .deliver, .delivering(then: .announcement)),
            ]
        ),
        (
            [.start, .announced],
            [
                (.transferBegins, .send, .running(transfers: 1)),
                (.complete, .deliver, .delivering(then: nil)),
            ]
        ),
        (
            [.start, .announced, .transferBegins],
            [
                (.transferBegins, .send, .running(transfers: 2)),
                (.transferEnded, .none, .running(transfers: 0)),
                (.complete, .deliver, .delivering(then: .transfers(1))),
            ]
        ),
        (
            [.complete],
            [(.start, .none, .delivering(then: nil)), (.delivered, .none, .completed(.start))]
        ),
        (
            [.start, .complete],
            [(.announced, .none, .delivering(then: nil)), (.delivered, .none, .completed(.announcement))]
        ),
        (
            [.start, .announced, .transferBegins, .complete],
            [(.transferEnded, .none, .delivering(then: nil)), (.delivered, .none, .completed(.transfers(1)))]
        ),
        ([.start, .announced, .complete], [(.delivered, .finish, .finishing)]),
        ([.complete, .delivered], [(.start, .finish, .finishing)]),
        ([.start, .complete, .delivered], [(.announced, .finish, .finishing)]),
        ([.start, .announced, .transferBegins, .complete, .delivered], [(.transferEnded, .finish, .finishing)]),
        ([.start, .announced, .complete, .delivered], [(.finished, .none, .finished)]),
        ([.start, .announced, .complete, .delivered, .finished], []),
    ]

    static let inputs: [Input] = [
        .start, .announced, .transferBegins, .transferEnded, .complete, .delivered, .finished,
    ]

    @Test func transitionsMatchTable() {
        for (reached, effects) in Self.table {
            var state = OperationLifecycle()
            for input in reached { _ = state.handle(input) }
            for input in Self.inputs {
                var lifecycle = state
                let action = lifecycle.handle(input)
                let effect = effects.first { $0.0 == input }
                #expect(action == effect?.1 ?? .none, "\(input) in \(state.state)")
                #expect(lifecycle.state == effect?.2 ?? state.state, "\(input) in \(state.state)")
            }
        }
    }
}
