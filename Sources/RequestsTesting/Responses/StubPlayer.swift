// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Reports the steps of a plan as the events of a transfer, in order and on time.
///
/// Everything up to the first wait is reported before ``play(_:)`` returns. After a gate, events are reported on the
/// thread that opens it; after a timed wait, by a task.
struct StubPlayer: Sendable {
    let transfer: StubTransfer
    /// The URL that response heads report.
    let url: URL
    let clock: any Clock<Duration>
    /// The idle timeout, after which the transfer fails; `nil` for no limit.
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
        let timeoutTask = timeout.map { clock.after($0) { transfer.timeOut() } }
        let observation = gate.whenOpen {
            timeoutTask?.cancel()
            play(steps)
        }
        // Capture the gate weakly to avoid a retain cycle, because a gate that is never opened retains the transfer.
        transfer.whenStopped { [weak gate] in
            timeoutTask?.cancel()
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
            case .content(let fragments):
                for (duration, data) in fragments {
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

    /// Waits for a duration; returns `false` if the transfer timed out, or was cancelled while waiting.
    private func wait(for duration: Duration) async -> Bool {
        guard duration > .zero else { return true }
        let wait = min(duration, timeout ?? duration)
        guard (try? await clock.sleep(for: wait.clamped)) != nil else { return false }
        if wait < duration { transfer.timeOut() }
        return wait == duration
    }
}

extension StubPlan {
    /// Whether all steps can be reported immediately.
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
        case .content(let fragments): fragments.takesTime
        case .action, .head, .finish: false
        }
    }

    /// Returns the events of a step that takes no time.
    func events(at url: URL) -> [TransferEvent] {
        switch self {
        case .head(let status, let headers): [.head(HTTPResponseHead(status: status, headers: headers, url: url))]
        case .content(let fragments): fragments.map { .data($0.data) }
        case .finish(let trailers?) where !trailers.isEmpty: [.trailers(trailers), .end(nil)]
        case .finish: [.end(nil)]
        case .action(.fail(let error), _): [.end(error)]
        case .action(let action, let phase): action.endsConnection ? [.end(.lostConnection(phase))] : []
        }
    }
}

extension RequestError {
    /// Returns the error that a network reports for a lost connection.
    fileprivate static func lostConnection(_ phase: Phase) -> RequestError {
        let error = RequestError(URLError(.networkConnectionLost))
        return RequestError(error.code, phase: phase, reason: error.reason, underlying: error.underlying)
    }
}
