// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Keeps a credential for any number of requests, and refreshes it once for all that need it.
///
/// A thin class around ``CredentialMachine``: it locks, transitions, unlocks, then acts. What a transition replaces is
/// released outside of the lock: its deinitializer may call back.
final class CredentialKeeper<Credential: Sendable>: Sendable {
    typealias Grant = CredentialGrant<Credential>
    typealias Machine = CredentialMachine<Credential, Waiter>
    typealias Refresh = @Sendable (Credential?, RefreshClient) async throws -> Credential

    /// A request that waits for a credential, and the way to begin a refresh on its behalf.
    struct Waiter: Sendable {
        let outcome: OneShot<Result<Grant, CredentialRefusal>>
        let refresh: @Sendable (Credential?, _ generation: Int) -> Void
    }

    /// The keeper's notes about an operation.
    private struct Note: Sendable {
        var rejections = 0
        var fetched: Int?
        var isSpent = false
    }

    private struct State: Broadcasting {
        var machine: Machine
        var nextID = 0
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

    /// Changes the machine, reports a change of the credential, and releases what is replaced outside of the lock.
    private func change<Outcome: Sendable>(_ body: (inout Machine) -> Outcome) -> Outcome {
        let (outcome, former) = state.withLock { state in
            let (credential, failure, changes) = (
                state.machine.credential, state.machine.failure, state.machine.changes
            )
            let outcome = body(&state.machine)
            let isChanged = state.machine.changes != changes
            let skipped = isChanged ? state.broadcaster.publish(state.machine.credential) : nil
            return (outcome, (credential, failure, skipped))
        }
        state.notifyObservers()
        return withExtendedLifetime(former) { outcome }
    }

    /// Whether an operation is a part of the refresh of this keeper.
    func isRefreshed(by context: InterceptorChain.Context) -> Bool {
        context.refreshing.contains(id)
    }

    // MARK: Before sending

    /// A credential to send a request with: the present one, unless it is stale, or being refreshed anyway.
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
            grant = try await self.grant(after: generation, in: context, refresh: refresh).get()
        } catch {
            throw error.error
        }
        // Not checked again: if new credentials are always stale, they would be fetched for ever.
        guard grant.isFresh else { return grant }
        var note = note(in: context)
        note.fetched = grant.generation
        context.notes.write(note, of: id)
        return grant
    }

    /// Marks a request with the generation of its credential; `nil` stands for the present one.
    func mark(_ request: inout HTTPRequest, _ generation: Int? = nil) {
        request.fields.notes.credentialGenerations[id] = generation ?? state.withLock { $0.machine.generation }
    }

    // MARK: After a rejection

    /// Decides about a rejection: retry with another credential, or keep it as the failure.
    ///
    /// A request without a mark keeps it, because it was sent without the credential. So does one whose credential
    /// isn't too old: it had been fetched while this operation waited, or the operation has had its second chance. A
    /// chance is a refresh, or two retries because others had refreshed in the meantime.
    func decide(
        after error: RequestError,
        in context: InterceptorChain.Context,
        refresh: @escaping Refresh
    ) async -> RetryPolicy.Decision {
        guard let generation = error.request?.fields.notes.credentialGenerations[id] else { return .pass }
        var note = note(in: context)
        note.rejections += 1
        guard !note.isSpent, note.fetched != generation, note.rejections <= 2 else { return .pass }
        switch await grant(after: generation, in: context, refresh: refresh) {
        case .success(let grant):
            note.isSpent = grant.isFresh
            context.notes.write(note, of: id)
            return .retry
        case .failure(.loggedOut), .failure(.cancelled):
            return .pass
        case .failure(let refusal):
            // The original failure of the request is the reason for the refresh, and is reported if there is no other
            // error.
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

    private func grant(
        after generation: Int,
        in context: InterceptorChain.Context,
        refresh: @escaping Refresh
    ) async -> Result<Grant, CredentialRefusal> {
        let outcome = await RefreshDeadlockDetector.wait(context.refreshing, for: id) {
            await wait(after: generation, in: context, refresh: refresh)
        }
        return outcome ?? .failure(.circular)
    }

    private func wait(
        after generation: Int,
        in context: InterceptorChain.Context,
        refresh: @escaping Refresh
    ) async -> Result<Grant, CredentialRefusal> {
        // A cancelled request begins no refresh.
        guard !Task.isCancelled else { return .failure(.cancelled) }
        let now = now()
        let outcome = OneShot<Result<Grant, CredentialRefusal>>()
        let waiter = Waiter(outcome: outcome) { [self] credential, generation in
            self.refresh(credential, generation, in: context, refresh)
        }
        let (number, answer) = state.withLock { state in
            state.nextID += 1
            return (state.nextID, state.machine.requestCredential(waiter, id: state.nextID, after: generation, now: now))
        }
        switch answer {
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
            if outcome.fill(.failure(.cancelled)) { _ = state.withLock { $0.machine.removeWaiter(number) } }
        }
        context.endAuthentication(.refresh, isGranted: (try? result.get()) != nil)
        return result
    }

    /// Refreshes in a task of its own, which isn't cancelled with an operation.
    private func refresh(
        _ credential: Credential?,
        _ generation: Int,
        in context: InterceptorChain.Context,
        _ refresh: @escaping Refresh
    ) {
        let scope = NestingContext(refreshBy: self, within: context.scope)
        // Also if it is called from a task that isn't a child of this one.
        let client = RefreshClient { request in try await scope.run { try await context.send(request) } }
        // The first outcome counts, and a cancelled task makes one too.
        let (outcome, timer) = (OneShot<Result<Credential, any Error>>(), OneShot<DelayedAction?>())
        let task = RunExecutor.detachedTask {
            do {
                outcome.fill(.success(try await scope.run { try await refresh(credential, client) }))
            } catch {
                outcome.fill(.failure(error))
            }
        }
        _ = RunExecutor.detachedTask { [self] in
            end(generation, of: scope, with: await outcome.value())
            task.cancel()
            await timer.value()?.cancel()
        }
        // Under no lock, since the clock is the caller's.
        timer.fill(
            timeout.map { timeout in
                DelayedAction(after: timeout, on: clock) {
                    let reason = "the credential was not refreshed within \(timeout)"
                    outcome.fill(.failure(RequestError(.refreshTimedOut, phase: .building, reason: reason)))
                }
            }
        )
    }

    /// Reports the outcome of a refresh to all its waiters.
    private func end(_ generation: Int, of scope: NestingContext, with result: Result<Credential, any Error>) {
        scope.end()
        let now = now()
        // Under no lock, since the authenticator is the caller's.
        let isRefused = if case .failure(let error) = result { isRefusal(error) } else { false }
        switch change({ $0.end(generation, with: result, isRefused: isRefused, now: now) }) {
        case nil: break
        case .resume(let release): resume(release)
        case .refresh(let credential, let generation, for: let waiter): waiter.refresh(credential, generation)
        }
    }

    private func resume(_ release: Machine.Resumption) {
        for waiter in release.waiters { waiter.outcome.fill(release.result) }
    }
}
