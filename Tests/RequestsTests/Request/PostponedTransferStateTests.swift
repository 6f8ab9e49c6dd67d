// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTesting
import TestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct PostponedTransferStateTests {
    private final class Begun: Transfer {
        let cancels = Recorder<Void>()
        func cancel() { cancels.record(()) }
    }

    enum Step: String, Sendable {
        case wait, keepTimer, keepOldTimer, begin, keepTransfer, cancel
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let steps: [Step]
        /// What came of each.
        let answers: [String]

        var testDescription: String { steps.map(\.rawValue).joined(separator: ", ") }
    }

    static let rows: [Row] = [
        Row(steps: [.wait, .keepTimer, .begin, .keepTransfer], answers: ["1", "false", "begin", "false"]),
        Row(steps: [.wait, .begin, .keepTimer], answers: ["1", "begin", "false"]),
        Row(
            steps: [.wait, .keepTimer, .wait, .keepTimer, .cancel],
            answers: ["1", "false", "2", "false", "giveUp timer 2"]
        ),
        Row(
            steps: [.wait, .wait, .keepTimer, .keepOldTimer, .cancel],
            answers: ["1", "2", "false", "false", "giveUp timer 2"]
        ),
        Row(steps: [.wait, .wait, .keepOldTimer, .cancel], answers: ["1", "2", "false", "giveUp"]),
        Row(steps: [.wait, .cancel, .keepTimer, .begin, .cancel], answers: ["1", "giveUp", "true", "nil", "none"]),
        Row(steps: [.cancel, .wait, .keepTransfer], answers: ["giveUp", "nil", "true"]),
        Row(steps: [.wait, .begin, .cancel, .keepTransfer, .cancel], answers: ["1", "begin", "none", "true", "none"]),
        Row(steps: [.wait, .begin, .begin, .wait], answers: ["1", "begin", "nil", "nil"]),
        Row(
            steps: [.wait, .begin, .keepTransfer, .keepTimer, .cancel, .cancel, .wait],
            answers: ["1", "begin", "false", "false", "cancel", "cancel", "nil"]
        ),
    ]

    @Test(arguments: rows) func itBeginsOrIsCalledOffAndNeverBoth(_ row: Row) {
        let (transfer, clock) = (Begun(), ManualClock())
        var state = PostponedTransferState(PostponedTransferState.Plan(begin: { transfer }, giveUp: {}))
        var timers: [DelayedAction] = []
        func timer(_ number: Int) -> DelayedAction {
            let index = max(number, 1) - 1
            while timers.count <= index { timers.append(DelayedAction(after: .seconds(1), on: clock) {}) }
            return timers[index]
        }
        var number = 0

        var answers: [String] = []
        for step in row.steps {
            switch step {
            case .wait:
                let next = state.wait()
                number = next ?? number
                answers.append(next.map { "\($0)" } ?? "nil")
            case .keepTimer: answers.append("\(state.keep(timer(number), of: number))")
            case .keepOldTimer: answers.append("\(state.keep(timer(number - 1), of: number - 1))")
            case .begin: answers.append(state.begin() == nil ? "nil" : "begin")
            case .keepTransfer: answers.append("\(state.keep(transfer))")
            case .cancel:
                switch state.cancel() {
                case .none: answers.append("none")
                case .giveUp(_, let timer): answers.append(timer == nil ? "giveUp" : "giveUp timer \(number)")
                case .cancel: answers.append("cancel")
                }
            }
        }

        #expect(answers == row.answers)
        for timer in timers { timer.cancel() }
    }
}

/// A cancel against the end of the wait: one end, and no transfer that nobody can call off.
@Suite(.bounded, .tags(.race)) struct PostponedTransferRaceTests {
    private final class Begun: Transfer {
        let cancelled: Gate
        init(_ cancelled: Gate) { self.cancelled = cancelled }
        func cancel() { cancelled.open() }
    }

    @Test func cancelAgainstTheEndOfTheWait() async {
        for _ in 0..<Scale.races {
            let clock = TestClock()
            let limiter = BandwidthLimiter(bytesPerSecond: 1000, burst: 1, clock: clock)
            _ = limiter.take(500)
            let (begun, givenUp, settled) = (Locked<Begun?>(nil), Locked(0), Gate())
            let transfer = PostponedTransfer(
                for: .milliseconds(500),
                limiter,
                PostponedTransferState.Plan {
                    let transfer = Begun(settled)
                    begun.withLock { $0 = transfer }
                    return transfer
                } giveUp: {
                    givenUp.withLock { $0 += 1 }
                    settled.open()
                }
            )
            _ = await clock.sleeps.first(1)

            simultaneously {
                clock.advance(by: .milliseconds(500))
            } and: {
                transfer.cancel()
            }
            await settled.wait()

            #expect((begun.withLock { $0 } == nil) == (givenUp.withLock { $0 } == 1))
        }
    }
}
