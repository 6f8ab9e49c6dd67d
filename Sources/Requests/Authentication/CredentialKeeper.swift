// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Stores a credential that requests share, and refreshes it once for all requests that need it.
///
/// This class wraps a ``CredentialMachine``. Each method locks, changes the machine's state, unlocks, and then acts.
/// Replaced values are released outside of the lock, because their deinitializers may call the keeper.
final class CredentialKeeper<Credential: Sendable>: Sendable {
    typealias Grant = CredentialGrant<Credential>
    typealias Machine = CredentialMachine<Credential, Waiter>
    typealias Refresh = @Sendable (Credential?, RefreshClient) async throws -> Credential

    /// A request that waits for a credential, and a closure that starts a refresh with the request's client.
    struct Waiter: Sendable {
        let outcome: OneShot<Result<Grant, CredentialRefusal>>
        let refresh: @Sendable (Credential?, _ generation: Int) -> Void
    }

    /// The state that the keeper stores for one operation.
    private struct Note: Sendable {
        var rejectionCount = 0
        var fetchedGeneration: Int?
        var hasRefreshed = false
    }

    private struct State: Broadcasting {
        var machine: Machine
        var lastID = 0
        var broadcaster = Broadcaster<Credential?>()
    }

    private let state: Locked<State>
    private let clock: any Clock<Duration>
    private let timeout: Duration?
    private let now: @Sendable () -> Duration
    private let isRefusal: @Sendable (any Error) -> Bool

    init(
        _ credential: Credential?,
        window: RefreshClient.Window?,
        timeout: Duration?,
        clock: any Clock<Duration>,
        onChange: (@Sendable (Credential?) -> Void)? = nil,
        isRefusal: @escaping @Sendable (any Error) -> Bool = { _ in false }
    ) {
        var state = State(machine: Machine(credential, window: window))
        if let onChange {
            _ = state.broadcaster.add { if let credential = $0 { onChange(credential) } }
        }
        self.state = Locked(state)
        self.isRefusal = isRefusal
        self.clock = clock
        self.timeout = timeout
        now = clock.stopwatch()
    }

    private var id: ObjectIdentifier { ObjectIdentifier(self) }

    var credential: Credential? { state.withLock { $0.machine.credential } }

    func set(_ credential: Credential?) {
        resume(change { $0.set(credential) })
    }

    /// Changes the machine's state, and reports a change to the credential.
    ///
    /// Replaced values are released outside of the lock.
    private func change<Outcome: Sendable>(_ body: (inout Machine) -> Outcome) -> Outcome {
        let (outcome, previous) = state.withLock { state in
            let (credential, failure, changes) = (
                state.machine.credential, state.machine.lastFailure, state.machine.changeCount
            )
            let outcome = body(&state.machine)
            let isChanged = state.machine.changeCount != changes
            let skipped = isChanged ? state.broadcaster.publish(state.machine.credential) : nil
            return (outcome, (credential, failure, skipped))
        }
        state.notifyObservers()
        return withExtendedLifetime(previous) { outcome }
    }

    /// Returns whether an operation belongs to a refresh of this keeper.
    func isRefreshed(by context: InterceptorChain.Context) -> Bool {
        context.enclosingRefreshes.contains(id)
    }

    // MARK: Before sending

    /// Returns the current credential, or waits for a refresh if the credential is stale or already being refreshed.
    ///
    /// - Throws: The reason why there is no credential.
    func grant(
        in context: InterceptorChain.Context,
        isStale: (Credential) -> Bool,
        refresh: @escaping Refresh
    ) async throws -> Grant {
        let (credential, generation, isRefreshing) = state.withLock { state in
            (state.machine.credential, state.machine.generation, state.machine.isRefreshing)
        }
        if let credential, !isRefreshing, !isStale(credential) {
            return Grant(credential: credential, generation: generation, isFresh: false)
        }
        let grant: Grant
        do {
            grant = try await waitForGrant(after: generation, in: context, refresh: refresh).get()
        } catch {
            throw error.error
        }
        // A new credential isn't checked with `isStale`, because a credential that is always stale would be refreshed
        // forever.
        guard grant.isFresh else { return grant }
        var note = note(in: context)
        note.fetchedGeneration = grant.generation
        context.notes.write(note, of: id)
        return grant
    }

    /// Marks a request with the generation of its credential; `nil` means the current generation.
    func mark(_ request: inout HTTPRequest, _ generation: Int? = nil) {
        request.fields.notes.credentialGenerations[id] = generation ?? state.withLock { $0.machine.generation }
    }

    // MARK: After a rejection

    /// Decides whether to retry a rejected request with another credential, or to fail with the rejection.
    ///
    /// A request without a mark fails, because it was sent without the credential. A request also fails if its
    /// credential was fetched while its operation waited, because the credential can't have expired. An operation can
    /// cause one refresh, or be retried twice after refreshes for other requests. After that, the rejection is final.
    func decide(
        after error: RequestError,
        in context: InterceptorChain.Context,
        refresh: @escaping Refresh
    ) async -> RetryPolicy.Decision {
        guard let generation = error.request?.fields.notes.credentialGenerations[id] else { return .pass }
        var note = note(in: context)
        note.rejectionCount += 1
        guard !note.hasRefreshed, note.fetchedGeneration != generation, note.rejectionCount <= 2 else { return .pass }
        switch await waitForGrant(after: generation, in: context, refresh: refresh) {
        case .success(let grant):
            note.hasRefreshed = grant.isFresh
            context.notes.write(note, of: id)
            return .retry
        case .failure(.loggedOut), .failure(.cancelled):
            return .pass
        case .failure(let refusal):
            // The rejection caused the refresh, so report it as the underlying error, unless there already is one.
            guard case .excessive = refusal, let excess = refusal.error as? RequestError else {
                return .fail(with: refusal.error)
            }
            return .fail(with: excess.underlying == nil ? excess.caused(by: error) : excess)
        }
    }

    private func note(in context: InterceptorChain.Context) -> Note {
        context.notes.note(of: id) ?? Note()
    }

    // MARK: Waiting

    private func waitForGrant(
        after generation: Int,
        in context: InterceptorChain.Context,
        refresh: @escaping Refresh
    ) async -> Result<Grant, CredentialRefusal> {
        let outcome = await RefreshDeadlockDetector.wait(context.enclosingRefreshes, for: id) {
            await waitWithoutDeadlockCheck(after: generation, in: context, refresh: refresh)
        }
        return outcome ?? .failure(.circular)
    }

    private func waitWithoutDeadlockCheck(
        after generation: Int,
        in context: InterceptorChain.Context,
        refresh: @escaping Refresh
    ) async -> Result<Grant, CredentialRefusal> {
        // A cancelled request doesn't start a refresh.
        guard !Task.isCancelled else { return .failure(.cancelled) }
        let now = now()
        let outcome = OneShot<Result<Grant, CredentialRefusal>>()
        let waiter = Waiter(outcome: outcome) { [self] credential, generation in
            self.refresh(credential, generation, in: context, refresh)
        }
        let (waiterID, decision) = state.withLock { state in
            state.lastID += 1
            return (
                state.lastID, state.machine.requestCredential(waiter, id: state.lastID, after: generation, now: now)
            )
        }
        switch decision {
        case .grant(let grant): outcome.fill(.success(grant))
        case .refuse(let refusal): outcome.fill(.failure(refusal))
        case .wait: context.beginAuthentication(.refresh)
        case .refresh(let credential, let generation):
            context.beginAuthentication(.refresh)
            waiter.refresh(credential, generation)
        }
        let result = await withTaskCancellationHandler {
            await outcome.value()
        } onCancel: {
            if outcome.fill(.failure(.cancelled)) { _ = state.withLock { $0.machine.removeWaiter(waiterID) } }
        }
        context.endAuthentication(.refresh, isGranted: (try? result.get()) != nil)
        return result
    }

    /// Starts a refresh in a detached task, so that cancelling an operation doesn't cancel the refresh.
    private func refresh(
        _ credential: Credential?,
        _ generation: Int,
        in context: InterceptorChain.Context,
        _ refresh: @escaping Refresh
    ) {
        let scope = NestingContext(refreshBy: self, within: context.scope)
        // Enter the scope explicitly, because the client may be used in a task that doesn't inherit it.
        let client = RefreshClient { request in try await scope.run { try await context.send(request) } }
        // Only the first result counts; after a timeout, the cancelled task still produces another result.
        let (outcome, timer) = (OneShot<Result<Credential, any Error>>(), OneShot<DelayedAction?>())
        let task = RunExecutor.detachedTask {
            do {
                outcome.fill(.success(try await scope.run { try await refresh(credential, client) }))
            } catch {
                outcome.fill(.failure(error))
            }
        }
        _ = RunExecutor.detachedTask { [self] in
            completeRefresh(generation, of: scope, with: await outcome.value())
            task.cancel()
            await timer.value()?.cancel()
        }
        // Call the clock without holding a lock, because it is the caller's code.
        timer.fill(
            timeout.map { timeout in
                DelayedAction(after: timeout, on: clock) {
                    let reason = "the credential wasn't refreshed within \(timeout)"
                    outcome.fill(.failure(RequestError(.refreshTimedOut, phase: .building, reason: reason)))
                }
            }
        )
    }

    /// Reports the result of a refresh to all requests that wait for it.
    private func completeRefresh(
        _ generation: Int,
        of scope: NestingContext,
        with result: Result<Credential, any Error>
    ) {
        scope.end()
        let now = now()
        // Call `isRefusal` without holding a lock, because it is the caller's code.
        let isRefused = if case .failure(let error) = result { isRefusal(error) } else { false }
        switch change({ $0.completeRefresh(generation, with: result, isRefused: isRefused, now: now) }) {
        case nil: break
        case .resume(let resumption): resume(resumption)
        case .refresh(let credential, let generation, for: let waiter): waiter.refresh(credential, generation)
        }
    }

    private func resume(_ resumption: Machine.Resumption) {
        for waiter in resumption.waiters { waiter.outcome.fill(resumption.result) }
    }
}
