// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// One run of the pipeline for several operations of equal requests.
///
/// Each caller has an operation of its own, which joins when it is added to a queue. The first of them that starts
/// makes the *leader*, an operation that belongs to no queue, and all get what comes of it. A leader that turns out to
/// be about to send an unsafe method sends nothing: the operations part, and each does its own work.
final class SharedTransfer<R: NetworkRequest>: SharedWork {
    typealias Outcome = Result<R.Success, R.Failure>
    typealias Leader = NetworkOperation<R>

    private enum Phase: Sendable {
        /// Nobody has started yet.
        case idle
        /// The first one is making the leader.
        case preparing
        /// The leader runs.
        case running(Leader)
        /// The leader is through.
        case done(Outcome, Leader)
        /// The request can't be shared.
        case refused
        /// Everybody left.
        case abandoned
    }

    private struct State: Sendable {
        var phase = Phase.idle
        var followers: [NetworkOperation<R>] = []
    }

    private enum Action: Sendable {
        case none
        case lead
        case follow(Leader)
        case adopt(Outcome, Leader)
        case part
    }

    private let key: Coalescer.Key
    // Held, so that no other queue comes to bear its address while somebody may join.
    private let queue: Coalescer.Queue
    private let configuration: OperationConfiguration<R>
    private let state = Locked(State())

    init(key: Coalescer.Key, queue: Coalescer.Queue, configuration: OperationConfiguration<R>) {
        self.key = key
        self.queue = queue
        self.configuration = configuration
    }

    /// Has an operation that has started wait for the result.
    func attach(_ follower: NetworkOperation<R>) {
        let action: Action = state.withLock { state in
            switch state.phase {
            case .idle:
                state.phase = .preparing
                state.followers.append(follower)
                return .lead
            case .preparing:
                state.followers.append(follower)
                return .none
            case .running(let leader):
                state.followers.append(follower)
                return .follow(leader)
            case .done(let outcome, let leader):
                return .adopt(outcome, leader)
            case .refused, .abandoned:
                return .part
            }
        }
        switch action {
        case .none: break
        case .lead: lead()
        case .follow(let leader): follower.reportJoining(leader)
        case .adopt(let outcome, let leader):
            follower.reportJoining(leader)
            follower.adopt(outcome, of: leader)
        case .part: follower.part()
        }
    }

    /// The highest priority of those that wait; nil where nobody does.
    var priority: Operation.QueuePriority? {
        state.withLock { $0.followers }.map(\.queuePriority).max { $0.rawValue < $1.rawValue }
    }

    /// Counts an operation out; the last one cancels the leader.
    ///
    /// Called once for each that has joined.
    func leave(_ follower: NetworkOperation<R>) {
        let isLast = Coalescer.shared.leave(key, self)
        let leader = state.withLock { state -> Leader? in
            state.followers.removeAll { $0 === follower }
            guard isLast else { return nil }
            defer {
                state.phase = .abandoned
                state.followers = []
            }
            if case .running(let leader) = state.phase { return leader }
            return nil
        }
        leader?.cancel()
    }

    /// Sends everybody off to do their own work; for the leader of a request that isn't safe.
    func refuse() {
        for follower in close(with: .refused) { follower.part() }
    }

    private func lead() {
        let leader = R.makeOperation(configuration)
        leader.changeRole { [self] in $0.part = .leader(self) }
        leader.dropDeadline()
        let waiting = state.withLock { state -> [NetworkOperation<R>]? in
            guard case .preparing = state.phase else { return nil }
            state.phase = .running(leader)
            return state.followers
        }
        guard let waiting else { return }
        for follower in waiting { follower.reportJoining(leader) }
        leader.observe { [weak self, unowned leader] outcome in
            guard let self else { return }
            for follower in close(with: .done(outcome, leader)) { follower.adopt(outcome, of: leader) }
        }
        leader.start()
    }

    /// Ends the sharing, unless it has ended: who comes later starts anew.
    ///
    /// Gives those who wait.
    private func close(with phase: Phase) -> [NetworkOperation<R>] {
        Coalescer.shared.close(key, self)
        return state.withLock { state in
            switch state.phase {
            case .idle, .preparing, .running: break
            case .done, .refused, .abandoned: return []
            }
            defer { state.followers = [] }
            state.phase = phase
            return state.followers
        }
    }
}
