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
    }

    private enum Phase: Sendable {
        case idle
        case refreshing([Int: Waiter])
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
    private var failure: (any Error)?
    /// When the refreshes began that count.
    private var beginnings: [Duration] = []

    init(_ credential: Credential?, window: RefreshWindow?) {
        self.credential = credential
        self.window = window
    }

    var isRefreshing: Bool {
        if case .refreshing = phase { true } else { false }
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
        case .idle:
            if generation < origin, let credential {
                return .grant(Grant(credential: credential, generation: self.generation, isFresh: false))
            }
            if generation < self.generation, let failure { return .refuse(.failed(failure)) }
            return begin(waiter, id: id, now: now)
        }
    }

    private mutating func begin(_ waiter: Waiter, id: Int, now: Duration) -> Answer {
        if let window {
            beginnings.removeAll { now - $0 >= window.duration }
            guard beginnings.count < window.limit else { return .refuse(.excessive(window)) }
            beginnings.append(now)
        }
        phase = .refreshing([id: waiter])
        return .refresh(credential, generation: generation)
    }

    /// The refresh of a generation has ended; nil where it doesn't matter any more, since a credential was set.
    mutating func end(_ generation: Int, with result: Result<Credential, any Error>) -> Release? {
        guard case .refreshing(let waiters) = phase, generation == self.generation else { return nil }
        self.generation += 1
        switch result {
        case .success(let credential):
            take(credential)
            return release(waiters, .success(Grant(credential: credential, generation: self.generation, isFresh: true)))
        case .failure(let error):
            failure = error
            return release(waiters, .failure(.failed(error)))
        }
    }

    /// A credential comes from outside, or is taken away; who waits gets it, or is refused.
    ///
    /// It begins the window anew: what was refreshed before was another one.
    mutating func set(_ credential: Credential?) -> Release? {
        generation += 1
        take(credential)
        beginnings = []
        if credential == nil { logout = generation }
        guard case .refreshing(let waiters) = phase else { return nil }
        guard let credential else { return release(waiters, .failure(.loggedOut)) }
        return release(waiters, .success(Grant(credential: credential, generation: generation, isFresh: true)))
    }

    private mutating func take(_ credential: Credential?) {
        self.credential = credential
        origin = generation
        failure = nil
    }

    private mutating func release(_ waiters: [Int: Waiter], _ result: Result<Grant, CredentialRefusal>) -> Release {
        phase = .idle
        return Release(waiters: waiters.sorted { $0.key < $1.key }.map(\.value), result: result)
    }

    /// Takes a wish back, and gives who is still kept for it; the refresh goes on, for whoever comes next.
    mutating func withdraw(_ id: Int) -> Waiter? {
        guard case .refreshing(var waiters) = phase else { return nil }
        defer { phase = .refreshing(waiters) }
        return waiters.removeValue(forKey: id)
    }
}
