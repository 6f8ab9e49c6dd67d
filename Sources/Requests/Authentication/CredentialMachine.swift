// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Who gets which credential when: one refresh for all who wait, and none for who only comes late.
///
/// Credentials are numbered by *generation*, and every request carries the one that it was sent with. Whoever wants a
/// credential says which generation won't do. If that is the present one, a refresh begins, or the one that is under
/// way is waited for. If it is an older one, the answer is there already: a rejection that comes late is about a
/// credential that has been replaced.
///
/// A failed refresh ends a generation as well, though the credential stays the same. So a rejection of what was sent
/// before the failure gets that failure, instead of causing the same one again; what is sent afterwards may try anew.
///
/// One refresh is under way at a time. A credential that is set meanwhile supersedes it: nobody waits for it any more,
/// but a refresh of the new one doesn't begin before it has ended.
struct CredentialMachine<Credential: Sendable, Waiter: Sendable>: Sendable {
    typealias Grant = CredentialGrant<Credential>

    /// What a wish comes to.
    enum Answer: Sendable {
        /// Here it is.
        case grant(Grant)
        /// There is none.
        case refuse(CredentialRefusal)
        /// The waiter is kept until a refresh has ended that is under way.
        case wait
        /// The waiter is kept; refresh this credential, or get a first one, and tell the outcome with the generation.
        case refresh(Credential?, generation: Int)
    }

    /// Who needn't wait any longer, and what for.
    struct Release: Sendable {
        let waiters: [Waiter]
        let result: Result<Grant, CredentialRefusal>

        init(_ waiters: [Int: Waiter], _ result: Result<Grant, CredentialRefusal>) {
            self.waiters = waiters.sorted { $0.key < $1.key }.map(\.value)
            self.result = result
        }
    }

    /// What the end of a refresh comes to.
    enum Ending: Sendable {
        /// Nobody waits.
        case none
        /// These needn't wait any longer.
        case release(Release)
        /// The next refresh is due, of this credential, for a waiter who is kept.
        case refresh(Credential?, generation: Int, for: Waiter)
    }

    private enum Phase: Sendable {
        case idle
        case refreshing([Int: Waiter])
        /// The refresh of an older generation is under way; these wait for the next one, which is to begin after it.
        case superseded(Int, [Int: Waiter])
    }

    /// The present credential; nil where there is none.
    private(set) var credential: Credential?
    /// The number of the present credential.
    private(set) var generation = 0
    private let window: RefreshWindow?
    private var phase = Phase.idle
    /// The first generation of the present credential.
    private(set) var origin = 0
    /// The generation of the last logout: whatever is older belongs to somebody who has gone.
    private var logout = 0
    /// Why the last refresh of the present credential failed.
    private(set) var failure: (any Error)?
    /// When the refreshes began that count.
    private var beginnings: [Duration] = []

    init(_ credential: Credential?, window: RefreshWindow?) {
        self.credential = credential
        self.window = window
    }

    /// Whether there is to be another credential than the present one.
    var isRefreshing: Bool {
        switch phase {
        case .idle: false
        case .refreshing: true
        case .superseded(_, let waiters): !waiters.isEmpty
        }
    }

    /// Somebody wants a credential, and one of this generation won't do.
    ///
    /// - Parameters:
    ///   - waiter: Who is kept where the answer has to be waited for.
    ///   - id: The number to take the wish back by.
    ///   - generation: The generation that was rejected, or that is known to be.
    ///   - now: The time, from any beginning.
    /// - Returns: What becomes of the wish.
    mutating func wish(_ waiter: Waiter, id: Int, after generation: Int, now: Duration) -> Answer {
        if generation < logout { return .refuse(.loggedOut) }
        switch phase {
        case .refreshing(var waiters):
            waiters[id] = waiter
            phase = .refreshing(waiters)
            return .wait
        case .superseded(let old, var waiters):
            if waiters.isEmpty, let answer = present(insteadOf: generation) { return answer }
            waiters[id] = waiter
            phase = .superseded(old, waiters)
            return .wait
        case .idle:
            if let answer = present(insteadOf: generation) { return answer }
            if let refusal = begin([id: waiter], now: now) { return .refuse(refusal) }
            return .refresh(credential, generation: self.generation)
        }
    }

    /// What somebody gets who comes late; nil where it takes a refresh.
    private func present(insteadOf generation: Int) -> Answer? {
        if generation < origin, let credential {
            return .grant(Grant(credential: credential, generation: self.generation, isFresh: false))
        }
        if generation < self.generation, let failure { return .refuse(.failed(failure)) }
        return nil
    }

    /// Begins a refresh, or says why there is to be none.
    private mutating func begin(_ waiters: [Int: Waiter], now: Duration) -> CredentialRefusal? {
        if let window {
            beginnings.removeAll { now - $0 >= window.duration }
            guard beginnings.count < window.limit else { return .excessive(window) }
            beginnings.append(now)
        }
        phase = .refreshing(waiters)
        return nil
    }

    /// The refresh of a generation has ended; what came of it doesn't matter where a credential was set meanwhile.
    mutating func end(_ generation: Int, with result: Result<Credential, any Error>, now: Duration) -> Ending {
        switch phase {
        case .refreshing(let waiters) where generation == self.generation:
            self.generation += 1
            phase = .idle
            switch result {
            case .success(let credential):
                take(credential)
                return .release(grantPresent(to: waiters))
            case .failure(let error):
                failure = error
                return .release(Release(waiters, .failure(.failed(error))))
            }
        case .superseded(generation, let waiters):
            phase = .idle
            guard let first = waiters.min(by: { $0.key < $1.key })?.value else { return .none }
            if let refusal = begin(waiters, now: now) { return .release(Release(waiters, .failure(refusal))) }
            return .refresh(credential, generation: self.generation, for: first)
        case .idle, .refreshing, .superseded:
            return .none
        }
    }

    /// A credential comes from outside, or is taken away; who waits gets it, or is refused.
    ///
    /// It begins the window anew: what was refreshed before was another one.
    mutating func set(_ credential: Credential?) -> Release? {
        let waiters = supersede()
        generation += 1
        take(credential)
        beginnings = []
        if credential == nil { logout = generation }
        return waiters.map { grantPresent(to: $0) }
    }

    /// Nobody waits any longer for what is under way; nil where nobody did.
    private mutating func supersede() -> [Int: Waiter]? {
        switch phase {
        case .idle:
            return nil
        case .refreshing(let waiters):
            phase = .superseded(generation, [:])
            return waiters
        case .superseded(let old, let waiters):
            phase = .superseded(old, [:])
            return waiters.isEmpty ? nil : waiters
        }
    }

    private mutating func take(_ credential: Credential?) {
        self.credential = credential
        origin = generation
        failure = nil
    }

    private func grantPresent(to waiters: [Int: Waiter]) -> Release {
        guard let credential else { return Release(waiters, .failure(.loggedOut)) }
        return Release(waiters, .success(Grant(credential: credential, generation: generation, isFresh: true)))
    }

    /// Takes a wish back, and gives who is still kept for it; the refresh goes on, for whoever comes next.
    mutating func withdraw(_ id: Int) -> Waiter? {
        switch phase {
        case .idle:
            return nil
        case .refreshing(var waiters):
            defer { phase = .refreshing(waiters) }
            return waiters.removeValue(forKey: id)
        case .superseded(let old, var waiters):
            defer { phase = .superseded(old, waiters) }
            return waiters.removeValue(forKey: id)
        }
    }
}
