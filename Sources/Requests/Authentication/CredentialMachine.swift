// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The state machine of a shared credential, which decides when to refresh the credential and which requests wait.
///
/// Each credential has a *generation*, and each request is marked with the generation that it was sent with. A caller
/// that requests a new credential passes the generation that was rejected. If this is the current generation, the
/// machine starts a refresh, or the caller waits for the running one. If it is an older generation, the caller gets a
/// result immediately, because the rejected credential has already been replaced.
///
/// A failed refresh also ends a generation, although the credential stays the same. If a request from before the
/// failure is rejected later, the machine returns the same failure instead of trying again. Newer requests can start
/// another refresh.
///
/// Only one refresh runs at a time. If a credential is set during a refresh, the result of the refresh is ignored. A
/// refresh of the new credential starts only after the running one has ended.
struct CredentialMachine<Credential: Sendable, Waiter: Sendable>: Sendable {
    typealias Grant = CredentialGrant<Credential>

    /// The decision about a request for a credential.
    enum Decision: Sendable {
        /// Use this credential.
        case grant(Grant)
        /// Fail for this reason.
        case refuse(CredentialRefusal)
        /// Wait until the running refresh has ended; the machine stores the waiter.
        case wait
        /// Refresh this credential, or get the first one if it is `nil`. The machine stores the waiter until the
        /// refresh ends.
        case refresh(Credential?, generation: Int)
    }

    /// The waiters to resume, and their result.
    struct Resumption: Sendable {
        let waiters: [Waiter]
        let result: Result<Grant, CredentialRefusal>
    }

    /// The action after a refresh has ended.
    enum CompletionAction: Sendable {
        /// Resume these waiters, if any.
        case resume(Resumption)
        /// Start the next refresh for a stored waiter; it refreshes this credential.
        case refresh(Credential?, generation: Int, for: Waiter)
    }

    /// The current credential; `nil` before a login, and after a logout.
    private(set) var credential: Credential?
    /// The current generation, which increases with each new credential, each logout and each failed
    /// refresh.
    private(set) var generation = 0
    /// The number of times that the credential was set or removed.
    private(set) var changeCount = 0
    private let window: RefreshClient.Window?
    /// The generation whose refresh is running.
    ///
    /// If this isn't the current generation, the result of the refresh will be ignored.
    private var runningGeneration: Int?
    /// The waiters by ID; they wait for the running refresh or, if its result will be ignored, for the next refresh.
    private var waiters: [Int: Waiter] = [:]
    /// The first generation of the current credential.
    private(set) var firstGeneration = 0
    /// The generation of the last logout; earlier generations belong to the previous user.
    private var logoutGeneration = 0
    /// The error of the last failed refresh of the current credential.
    private(set) var lastFailure: (any Error)?
    /// The start times of the refreshes that count toward the window's limit.
    private var refreshStarts: [Duration] = []

    init(_ credential: Credential?, window: RefreshClient.Window?) {
        self.credential = credential
        self.window = window
    }

    /// Whether the current credential is being refreshed, or requests are waiting for that refresh to start.
    var isRefreshing: Bool { runningGeneration != nil && (runningGeneration == generation || !waiters.isEmpty) }

    /// Decides about a request for a newer credential.
    ///
    /// - Parameters:
    ///   - waiter: The caller, which is stored if it must wait.
    ///   - id: The ID for ``removeWaiter(_:)``.
    ///   - generation: The generation that was rejected or is stale.
    ///   - now: The current time, relative to a fixed start.
    /// - Returns: The decision.
    mutating func requestCredential(_ waiter: Waiter, id: Int, after generation: Int, now: Duration) -> Decision {
        if generation < logoutGeneration {
            // Without a credential, the error of the last refresh explains more than `loggedOut`.
            return .refuse(credential == nil ? lastFailure.map(CredentialRefusal.failed) ?? .loggedOut : .loggedOut)
        }
        if !isRefreshing, let decision = currentDecision(insteadOf: generation) { return decision }
        guard runningGeneration == nil else {
            waiters[id] = waiter
            return .wait
        }
        if let refusal = beginRefresh(now) { return .refuse(refusal) }
        waiters[id] = waiter
        return .refresh(credential, generation: self.generation)
    }

    /// Returns the decision if a previous generation was rejected; `nil` if a refresh is needed.
    private func currentDecision(insteadOf generation: Int) -> Decision? {
        if generation < firstGeneration, let credential {
            return .grant(Grant(credential: credential, generation: self.generation, isFresh: false))
        }
        if generation < self.generation, let lastFailure { return .refuse(.failed(lastFailure)) }
        return nil
    }

    /// Starts a refresh, or returns the reason why it is refused.
    private mutating func beginRefresh(_ now: Duration) -> CredentialRefusal? {
        if let window {
            refreshStarts.removeAll { now - $0 >= window.duration }
            guard refreshStarts.count < window.limit else { return .excessive(window, after: lastFailure) }
            refreshStarts.append(now)
        }
        runningGeneration = generation
        return nil
    }

    /// Handles the result of a refresh.
    ///
    /// The result is ignored if a credential was set during the refresh.
    ///
    /// - Parameters:
    ///   - generation: The generation that was refreshed.
    ///   - result: The new credential, or the error.
    ///   - isRefused: Whether the error means that the credential can't be renewed any longer.
    ///   - now: The current time, relative to a fixed start.
    /// - Returns: The next action; `nil` if no refresh of this generation is running, or there is nothing to do.
    mutating func completeRefresh(
        _ generation: Int,
        with result: Result<Credential, any Error>,
        isRefused: Bool = false,
        now: Duration
    ) -> CompletionAction? {
        guard runningGeneration == generation else { return nil }
        runningGeneration = nil
        guard generation == self.generation else {
            guard let first = waiters.min(by: { $0.key < $1.key })?.value else { return nil }
            if let refusal = beginRefresh(now) { return .resume(drainWaiters(.failure(refusal))) }
            return .refresh(credential, generation: self.generation, for: first)
        }
        self.generation += 1
        switch result {
        case .success(let credential):
            replaceCredential(credential)
            return .resume(grantCurrent())
        case .failure(let error):
            lastFailure = error
            // The login has ended, so earlier requests must not be sent again as the next user.
            if isRefused, credential != nil {
                (credential, changeCount, logoutGeneration) = (nil, changeCount + 1, self.generation)
            }
            return .resume(drainWaiters(.failure(.failed(error))))
        }
    }

    /// Sets or removes the credential, and returns the waiters to resume with the credential or with a refusal.
    ///
    /// Setting a credential clears the window, because earlier refreshes were for another credential.
    mutating func set(_ credential: Credential?) -> Resumption {
        generation += 1
        replaceCredential(credential)
        refreshStarts = []
        if credential == nil { logoutGeneration = generation }
        return grantCurrent()
    }

    private mutating func replaceCredential(_ credential: Credential?) {
        self.credential = credential
        changeCount += 1
        firstGeneration = generation
        lastFailure = nil
    }

    private mutating func grantCurrent() -> Resumption {
        guard let credential else { return drainWaiters(.failure(.loggedOut)) }
        return drainWaiters(.success(Grant(credential: credential, generation: generation, isFresh: true)))
    }

    private mutating func drainWaiters(_ result: Result<Grant, CredentialRefusal>) -> Resumption {
        defer { waiters = [:] }
        return Resumption(waiters: waiters.sorted { $0.key < $1.key }.map(\.value), result: result)
    }

    /// Removes and returns a waiter if it is still stored.
    ///
    /// The refresh continues for later requests.
    mutating func removeWaiter(_ id: Int) -> Waiter? { waiters.removeValue(forKey: id) }
}
