// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The logic of a credential that many requests share: one refresh for all waiting requests, and none for a late one.
///
/// Credentials are numbered by *generation*, and every request carries the one that it was sent with. A caller states
/// which generation was rejected. If that is the present one, a refresh begins, or a running one is awaited. If it is
/// an older one, there is an answer already: a late rejection concerns a credential that has been replaced.
///
/// A failed refresh ends a generation as well, though the credential stays the same. A rejection of a request from
/// before the failure therefore gets that failure, instead of causing the same one again; later requests may refresh
/// again.
///
/// One refresh is running at a time. A credential that is set meanwhile supersedes it: its result is ignored, but a
/// refresh of the new credential doesn't begin before it has ended.
struct CredentialMachine<Credential: Sendable, Waiter: Sendable>: Sendable {
    typealias Grant = CredentialGrant<Credential>

    /// The answer to a request for a credential.
    enum Answer: Sendable {
        /// A credential.
        case grant(Grant)
        /// No credential, for this reason.
        case refuse(CredentialRefusal)
        /// The waiter is kept until the running refresh has ended.
        case wait
        /// The waiter is kept; refresh this credential, or get a first one, and report the outcome with the generation.
        case refresh(Credential?, generation: Int)
    }

    /// The waiters to resume, with their outcome.
    struct Release: Sendable {
        let waiters: [Waiter]
        let result: Result<Grant, CredentialRefusal>
    }

    /// The action at the end of a refresh.
    enum Ending: Sendable {
        /// Resume these; there may be none.
        case release(Release)
        /// Begin the next refresh, of this credential, for a waiter who is kept.
        case refresh(Credential?, generation: Int, for: Waiter)
    }

    /// The present credential; `nil` before a login, and after a logout.
    private(set) var credential: Credential?
    /// The number of the present credential.
    private(set) var generation = 0
    /// The number of times that the credential was set or removed.
    private(set) var changes = 0
    private let window: RefreshClient.Window?
    /// The generation whose refresh is running; an older one than the present is superseded.
    private var running: Int?
    /// Those that wait for the running refresh, or, if that is superseded, for the next one.
    private var waiters: [Int: Waiter] = [:]
    /// The first generation of the present credential.
    private(set) var origin = 0
    /// The generation of the last logout: an older one belongs to a former user.
    private var logout = 0
    /// The failure of the last refresh of the present credential.
    private(set) var failure: (any Error)?
    /// The beginnings of the refreshes that count for the window.
    private var beginnings: [Duration] = []

    init(_ credential: Credential?, window: RefreshClient.Window?) {
        self.credential = credential
        self.window = window
    }

    /// Whether the present credential is being replaced.
    var isRefreshing: Bool { running != nil && (running == generation || !waiters.isEmpty) }

    /// Handles a request for a credential of another generation.
    ///
    /// - Parameters:
    ///   - waiter: The caller, who is kept if it has to wait.
    ///   - id: The number with which the request is withdrawn.
    ///   - generation: The generation that was rejected, or that is known to be.
    ///   - now: The time, from any beginning.
    /// - Returns: The answer.
    mutating func request(_ waiter: Waiter, id: Int, after generation: Int, now: Duration) -> Answer {
        if generation < logout {
            // Until the next login, the reason is better known.
            return .refuse(credential == nil ? failure.map(CredentialRefusal.failed) ?? .loggedOut : .loggedOut)
        }
        if !isRefreshing, let answer = present(insteadOf: generation) { return answer }
        guard running == nil else {
            waiters[id] = waiter
            return .wait
        }
        if let refusal = begin(now) { return .refuse(refusal) }
        waiters[id] = waiter
        return .refresh(credential, generation: self.generation)
    }

    /// The answer for a late request, or `nil` if a refresh is needed.
    private func present(insteadOf generation: Int) -> Answer? {
        if generation < origin, let credential {
            return .grant(Grant(credential: credential, generation: self.generation, isFresh: false))
        }
        if generation < self.generation, let failure { return .refuse(.failed(failure)) }
        return nil
    }

    /// Begins a refresh, or returns why it is refused.
    private mutating func begin(_ now: Duration) -> CredentialRefusal? {
        if let window {
            beginnings.removeAll { now - $0 >= window.duration }
            guard beginnings.count < window.limit else { return .excessive(window, after: failure) }
            beginnings.append(now)
        }
        running = generation
        return nil
    }

    /// Handles the end of a refresh of a generation; `nil` if that isn't running any more.
    ///
    /// Its result is ignored if a credential was set meanwhile.
    ///
    /// - Parameters:
    ///   - generation: The generation.
    ///   - result: The new credential, or the error.
    ///   - isRefused: Whether the error means that the credential can't be renewed any more.
    ///   - now: The time, from any beginning.
    /// - Returns: The action.
    mutating func end(
        _ generation: Int,
        with result: Result<Credential, any Error>,
        isRefused: Bool = false,
        now: Duration
    ) -> Ending? {
        guard running == generation else { return nil }
        running = nil
        guard generation == self.generation else {
            guard let first = waiters.min(by: { $0.key < $1.key })?.value else { return nil }
            if let refusal = begin(now) { return .release(release(.failure(refusal))) }
            return .refresh(credential, generation: self.generation, for: first)
        }
        self.generation += 1
        switch result {
        case .success(let credential):
            take(credential)
            return .release(grantPresent())
        case .failure(let error):
            failure = error
            // The end of the login: what was sent before isn't sent again as the next user.
            if isRefused, credential != nil { (credential, changes, logout) = (nil, changes + 1, self.generation) }
            return .release(release(.failure(.failed(error))))
        }
    }

    /// Sets or removes the credential from outside; waiters get it, or are refused.
    ///
    /// It resets the window: earlier refreshes were of another credential.
    mutating func set(_ credential: Credential?) -> Release {
        generation += 1
        take(credential)
        beginnings = []
        if credential == nil { logout = generation }
        return grantPresent()
    }

    private mutating func take(_ credential: Credential?) {
        self.credential = credential
        changes += 1
        origin = generation
        failure = nil
    }

    private mutating func grantPresent() -> Release {
        guard let credential else { return release(.failure(.loggedOut)) }
        return release(.success(Grant(credential: credential, generation: generation, isFresh: true)))
    }

    private mutating func release(_ result: Result<Grant, CredentialRefusal>) -> Release {
        defer { waiters = [:] }
        return Release(waiters: waiters.sorted { $0.key < $1.key }.map(\.value), result: result)
    }

    /// Withdraws a request, and returns its waiter if it is still kept; the refresh continues for later requests.
    mutating func withdraw(_ id: Int) -> Waiter? { waiters.removeValue(forKey: id) }
}
