// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import TestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct OperationLifecycleTests {
    typealias Step = (input: OperationLifecycle.Input, action: OperationLifecycle.Action)

    struct Transcript: Sendable, CustomStringConvertible {
        let description: String
        let steps: [Step]
        var end = OperationLifecycle.State.finished
    }

    static let upToSending: [Step] = [
        (.start, .announce), (.announced, .build(attempt: 1)), (.built(attempt: 1), .adapt(attempt: 1)),
        (.adapted(attempt: 1), .send(transfer: 1)),
    ]
    static let delivery: [Step] = [(.settle, .deliver), (.delivered, .finish), (.finished, .none)]

    static let transcripts = [
        Transcript(
            description: "success",
            steps: upToSending + [
                (.responded(transfer: 1), .none), (.ended(transfer: 1), .judge), (.accepted, .decode),
            ] + delivery
        ),
        Transcript(description: "no response", steps: upToSending + [(.ended(transfer: 1), .judge)] + delivery),
        Transcript(
            description: "redirect",
            steps: upToSending + [
                (.ended(transfer: 1), .judge), (.redirected, .send(transfer: 2)), (.responded(transfer: 1), .none),
                (.ended(transfer: 1), .none), (.responded(transfer: 2), .none), (.ended(transfer: 2), .judge),
                (.accepted, .decode),
            ] + delivery
        ),
        Transcript(
            description: "retry",
            steps: upToSending + [
                (.ended(transfer: 1), .judge), (.retry, .wait(attempt: 2)), (.elapsed(attempt: 1), .none),
                (.elapsed(attempt: 2), .build(attempt: 2)), (.built(attempt: 1), .none),
                (.built(attempt: 2), .adapt(attempt: 2)), (.adapted(attempt: 2), .send(transfer: 2)),
                (.ended(transfer: 2), .judge), (.accepted, .decode),
            ] + delivery
        ),
        Transcript(
            description: "cancel before the start",
            steps: [(.settle, .deliver), (.delivered, .none), (.settle, .none), (.start, .finish), (.finished, .none)]
        ),
        Transcript(
            description: "start while the cancellation is being delivered",
            steps: [(.settle, .deliver), (.start, .none), (.delivered, .finish), (.finished, .none)]
        ),
        Transcript(
            description: "cancel while the start is announced",
            steps: [
                (.start, .announce), (.settle, .deliver), (.delivered, .none), (.announced, .finish),
                (.finished, .none),
            ]
        ),
        Transcript(
            description: "cancel while sending: the end of the transfer finishes",
            steps: upToSending + [
                (.settle, .deliver), (.delivered, .none), (.responded(transfer: 1), .none),
                (.ended(transfer: 1), .finish), (.ended(transfer: 1), .none), (.finished, .none),
            ]
        ),
        Transcript(
            description: "the transfer ends while the cancellation is being delivered",
            steps: upToSending + [
                (.settle, .deliver), (.ended(transfer: 1), .none), (.delivered, .finish), (.finished, .none),
            ]
        ),
        Transcript(
            description: "a callback that comes twice",
            steps: Array(upToSending.prefix(3)) + [
                (.built(attempt: 1), .none), (.adapted(attempt: 1), .send(transfer: 1)), (.adapted(attempt: 1), .none),
                (.built(attempt: 1), .none),
            ],
            end: .sending
        ),
        Transcript(
            description: "joined, and given a result",
            steps: [(.start, .announce), (.announced, .build(attempt: 1)), (.join, .attach)] + delivery
        ),
        Transcript(
            description: "joined, and parted again",
            steps: [
                (.start, .announce), (.announced, .build(attempt: 1)), (.join, .attach), (.part, .build(attempt: 1)),
                (.built(attempt: 1), .adapt(attempt: 1)),
            ],
            end: .adapting
        ),
        Transcript(
            description: "two settlements: the second is nothing",
            steps: [
                (.start, .announce), (.announced, .build(attempt: 1)), (.settle, .deliver), (.settle, .none),
                (.delivered, .finish), (.settle, .none), (.finished, .none), (.settle, .none),
            ]
        ),
    ]

    @Test(arguments: transcripts) func aLifeGoesAsWritten(_ transcript: Transcript) {
        var lifecycle = OperationLifecycle()

        for (index, step) in transcript.steps.enumerated() {
            #expect(lifecycle.handle(step.input) == step.action, "step \(index): \(step.input)")
        }

        #expect(lifecycle.state == transcript.end)
    }

    @Test func everyAttemptAndTransferHasItsNumber() {
        var lifecycle = OperationLifecycle()
        for step in Self.upToSending { _ = lifecycle.handle(step.input) }

        _ = lifecycle.handle(.ended(transfer: 1))
        _ = lifecycle.handle(.retry)

        #expect(lifecycle.attempt == 2)
        #expect(lifecycle.transfer == 1)
    }
}
