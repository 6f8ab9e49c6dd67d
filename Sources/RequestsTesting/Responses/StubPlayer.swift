// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Reports the steps of a plan as the events of a transfer, in order and on time.
///
/// Everything up to the first wait is reported before ``play(_:)`` returns; what follows a gate, on the thread that
/// opens it; what follows a time, by a task.
struct StubPlayer: Sendable {
    let transfer: StubTransfer
    /// The address that heads report.
    let url: URL
    let clock: any Clock<Duration>
    /// The longest silence, which then ends the transfer with an error; `nil` for no limit.
    let timeout: Duration?

    /// Plays the steps to the end, or until the transfer is cancelled.
    func play(_ steps: ArraySlice<StubPlan.Step>) {
        for index in steps.indices {
            guard transfer.isRunning else { return }
            switch steps[index] {
            case .action(.hold(let gate), _):
                guard gate.isOpen else { return hold(steps[(index + 1)...], by: gate) }
            case .action(.stall, _) where timeout == nil:
                return
            case let step where step.takesTime:
                let rest = steps[index...]
                return transfer.run { await playInTime(rest) }
            case let step:
                for event in step.events(at: url) { transfer.report(event) }
            }
        }
    }

    private func hold(_ steps: ArraySlice<StubPlan.Step>, by gate: Gate) {
        let watch = timeout.map { clock.after($0) { transfer.timeOut() } }
        let observation = gate.whenOpen {
            watch?.cancel()
            play(steps)
        }
        // Weak, since the gate has the transfer: one that is never opened keeps nothing alive.
        transfer.whenStopped { [weak gate] in
            watch?.cancel()
            gate?.removeAction(observation)
        }
    }

    private func playInTime(_ steps: ArraySlice<StubPlan.Step>) async {
        for index in steps.indices {
            guard transfer.isRunning else { return }
            switch steps[index] {
            case .action(.hold, _):
                return play(steps[index...])
            case .action(.wait(let duration), _):
                guard await wait(for: duration) else { return }
            case .content(let pieces):
                for (duration, data) in pieces {
                    guard transfer.isRunning, await wait(for: duration) else { return }
                    transfer.report(.data(data))
                }
            case .action(.stall, _):
                guard let timeout, (try? await clock.sleep(for: timeout.clamped)) != nil else { return }
                transfer.timeOut()
            case let step:
                for event in step.events(at: url) { transfer.report(event) }
            }
        }
    }

    /// Waits, unless that is for no time; returns false if the transfer ended meanwhile.
    private func wait(for duration: Duration) async -> Bool {
        guard duration > .zero else { return true }
        let wait = min(duration, timeout ?? duration)
        guard (try? await clock.sleep(for: wait.clamped)) != nil else { return false }
        if wait < duration { transfer.timeOut() }
        return wait == duration
    }
}

extension StubPlan {
    /// Whether the whole can be reported at once.
    var isImmediate: Bool {
        steps.allSatisfy { step in
            switch step {
            case .action(.hold, _), .action(.stall, _): false
            default: !step.takesTime
            }
        }
    }
}

extension StubPlan.Step {
    fileprivate var takesTime: Bool {
        switch self {
        case .action(.wait, _), .action(.stall, _): true
        case .content(let pieces): pieces.takesTime
        case .action, .head, .finish: false
        }
    }

    /// The events of a step that takes no time.
    func events(at url: URL) -> [TransferEvent] {
        switch self {
        case .head(let status, let headers): [.head(HTTPResponseHead(status: status, headers: headers, url: url))]
        case .content(let pieces): pieces.map { .data($0.data) }
        case .finish(let trailers?) where !trailers.isEmpty: [.trailers(trailers), .end(nil)]
        case .finish: [.end(nil)]
        case .action(.fail(let error), _): [.end(error)]
        case .action(let action, let phase): action.endsConnection ? [.end(.lostConnection(phase))] : []
        }
    }
}

extension RequestError {
    /// The error of a network that loses a connection.
    fileprivate static func lostConnection(_ phase: Phase) -> RequestError {
        let error = RequestError(URLError(.networkConnectionLost))
        return RequestError(error.code, phase: phase, reason: error.reason, underlying: error.underlying)
    }
}
