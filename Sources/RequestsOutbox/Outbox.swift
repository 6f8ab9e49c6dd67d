// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A queue of requests that are kept on disk until the server has responded, even across launches.
///
/// ```swift
/// let outbox = try Outbox(at: folder, client: client) {
///     $0.register(SaveNote.self, as: "save-note") { sent in try await notes.markSaved(sent.request.id) }
/// }
/// try await outbox.add(SaveNote(note), in: "notes/\(note.id)")   // on the disk; no network is needed
/// ```
///
/// Entries of a category are sent in order, one at a time. Different categories are sent concurrently, and entries
/// without a category in any order. Each entry is sent with the client, whose interceptors, credentials and retries
/// apply. A failed entry is sent again after a growing wait, even in a later process, until the server has responded.
/// All requests of an entry have the same `Idempotency-Key`. A server that supports the field carries the request out
/// once. Any other server may carry it out twice, for example if the process ends before the response arrives.
///
/// An entry belongs to the account that the outbox had when the entry was added. It is sent only while the outbox has
/// the same account, so set ``account`` to `nil` before you remove the credentials of a user.
///
/// The content of requests is stored on disk, unencrypted, in files that only their owner can read. Don't put secrets
/// into it; the client adds the credentials. All members are thread-safe.
public final class Outbox: Sendable {
    struct Shared: Sendable {
        var state: OutboxState
        /// The records to write, with their encoded lines and the continuations of the tasks that wait for the disk.
        var queuedCommits:
            [(records: [OutboxRecord], lines: Data, continuation: CheckedContinuation<Void, any Swift.Error>)] = []
        var operations: [UUID: AnyRequestOperation] = [:]
        var alarm: (time: Duration, timer: DelayedAction)?
        var subscribers: [UUID: AsyncStream<Event>.Continuation] = [:]
        /// The tasks that wait until there is nothing to send.
        var drainWaiters: [UUID: AsyncStream<Void>.Continuation] = [:]
        var connectivityTask: Task<Void, Never>?
    }

    let store: OutboxStore
    let client: HTTPClient
    let settings: Settings
    let shared: Locked<Shared>
    /// Measures all waits, because the system clock may be changed.
    let clock: any Clock<Duration>
    let stopwatch: Stopwatch
    /// Runs all writes and all changes to the entries, one after the other.
    let queue = DispatchQueue(label: "Requests.Outbox", qos: .utility)

    /// The parts of the journal that couldn't be read, each set aside in a file; empty unless the disk was damaged.
    ///
    /// Parts that were found when the outbox was opened earlier are included until you call ``discardDamage()``.
    public var damage: [FileError] { store.damage }

    /// Opens an outbox, and begins to send its entries.
    ///
    /// Opening reads the entire journal, which takes some milliseconds for a thousand entries. Only one outbox across
    /// all processes can use a folder at a time, until that outbox is closed or deallocated. If applications share the
    /// folder, as in an app group, close the outbox before the application is suspended, because the system terminates
    /// a suspended application that holds a lock there.
    ///
    /// - Parameters:
    ///   - folder: The folder, which only this outbox uses; it is created if it doesn't exist.
    ///   - client: The client that sends the requests.
    ///   - configure: Registers the types of the requests, and changes the settings. An error that it throws is thrown
    ///     here.
    /// - Throws: ``Outbox/Error`` if another outbox uses the folder, if a name was registered twice, or if the journal
    ///   is of a newer version; `FileError` if the folder can't be read or written. Neither damage nor an entry that
    ///   can't be decoded is an error; see ``damage`` and ``entries``.
    public init(at folder: URL, client: HTTPClient, _ configure: (inout Settings) throws -> Void) throws {
        var settings = Settings()
        try configure(&settings)
        try settings.registry.validate()
        self.settings = settings
        self.client = client
        clock = client.environment.clock
        stopwatch = Stopwatch(clock)
        store = try OutboxStore(folder)
        let parts = try store.read()
        let state = OutboxState(parts, settings, at: client.environment.currentDate)
        store.discardBodies(except: state.bodies)
        shared = Locked(Shared(state: state))
        let connectivityTask = Task { [weak self, updates = settings.connectivity.updates()] in
            for await status in updates { self?.change { $0.isConnected = status.isConnected } }
        }
        shared.withLock { $0.connectivityTask = connectivityTask }
        change { _ in }
    }

    deinit { stop() }

    /// Closes the outbox, and releases the folder.
    ///
    /// Requests that are being sent are cancelled, and the next outbox sends their entries again. Closing doesn't wait
    /// for a running handler; the next outbox calls it again.
    public func close() async {
        await withCheckedContinuation { continuation in
            // Close on the queue, so that earlier changes are reported before the sequences of events end.
            queue.async { [self] in
                try? write()
                stop()
                store.release()
                continuation.resume()
            }
        }
    }

    /// Stops the outbox, because the folder no longer belongs to it.
    func stop(after loss: FileError) {
        for reader in shared.withLock({ $0.subscribers.values }) { reader.yield(.folderLost(loss)) }
        stop()
        store.release()
    }

    private func stop() {
        let stopped = shared.withLock { shared in
            shared.state.isClosed = true
            defer {
                (shared.alarm, shared.subscribers, shared.drainWaiters, shared.connectivityTask) = (nil, [:], [:], nil)
            }
            return shared
        }
        for operation in stopped.operations.values { operation.cancel() }
        stopped.connectivityTask?.cancel()
        stopped.alarm?.timer.cancel()
        for reader in stopped.subscribers.values { reader.finish() }
        for waiter in stopped.drainWaiters.values { waiter.finish() }
    }

    // MARK: Adding

    /// Adds a request, and returns when it is on disk.
    ///
    /// Cancelling the task doesn't end the wait. If the process ends before the method returns, the request may or may
    /// not be sent.
    ///
    /// - Parameters:
    ///   - request: The request, of a registered type.
    ///   - category: The category, such as `notes/7`, whose entries are sent in the order in which they are added; none
    ///     by default.
    ///   - expires: The time from which the entry is parked rather than sent; by default, it never expires.
    ///   - file: A file whose content replaces the body of the request; the outbox makes a copy. None by default.
    /// - Returns: The identifier of the entry.
    /// - Throws: `FileError` if the entry can't be written; its code is `diskFull` if there is no space.
    ///   ``Outbox/Error`` if the type isn't registered, if the body is a file, or if the outbox is closed. Any error
    ///   that the encoder throws. After an error, the request isn't kept, and other entries are unaffected.
    @discardableResult
    public func add<R: NetworkRequest & Codable>(
        _ request: R,
        in category: String? = nil,
        expires: Date? = nil,
        file: URL? = nil
    ) async throws -> UUID {
        let name = try settings.registry.name(of: R.self)
        if file == nil, let request = request as? any RequestConvertible { try request.http.body.rejectFiles() }
        let content = String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
        var entry = Entry(id: UUID(), type: name, added: client.environment.currentDate)
        (entry.category, entry.account, entry.expires) = (category, account, expires)
        if let file {
            // The content type is guessed from the extension.
            let body = "\(entry.id.uuidString).\(file.pathExtension)"
            entry.body = body
            try await withCheckedThrowingContinuation { [store] continuation in
                // Copy on another queue, because copying blocks the thread.
                DispatchQueue.global().async { continuation.resume(with: Result { try store.copy(file, to: body) }) }
            }
        }
        do {
            let position = shared.withLock { $0.state.reservePosition() }
            try await commit([.added(entry, content: content, position: position, version: OutboxRecord.version)])
        } catch {
            entry.body.map(store.discard)
            throw error
        }
        return entry.id
    }

    // MARK: Entries

    /// Removes the files of ``damage``, and the bodies of the damaged entries.
    ///
    /// Call this method once the user knows that changes may be lost.
    ///
    /// - Throws: `FileError` if a file can't be removed; ``Outbox/Error`` if the outbox is closed.
    public func discardDamage() throws {
        guard !shared.withLock({ $0.state.isClosed }) else { throw closingError }
        try store.discardDamage()
    }

    /// The error that calls throw once the outbox has stopped.
    var closingError: any Swift.Error { store.folderLoss ?? Outbox.Error.closed }

    /// The entries, in the order in which they were added.
    ///
    /// - Complexity: O(n log n) in the number of entries.
    public var entries: [Entry] { shared.withLock { $0.state.entries } }

    /// Whether there are no entries.
    public var isEmpty: Bool { shared.withLock { $0.state.isEmpty } }

    /// Waits until no entry can be sent, because each remaining entry is parked, or waits for a parked entry.
    ///
    /// The method keeps waiting while there is no network, while the outbox is paused, and while the disk is too full
    /// to record anything. It doesn't wait for an outbox that is closed, or whose folder was removed or replaced.
    ///
    /// - Returns: Whether the outbox is empty; `false` if the task is cancelled.
    @discardableResult
    public func waitUntilDrained() async -> Bool {
        let (changes, waiter) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = UUID()
        shared.withLock { $0.drainWaiters[id] = waiter }
        defer { shared.withLock { _ = $0.drainWaiters.removeValue(forKey: id) } }
        var steps = changes.makeAsyncIterator()
        while !shared.withLock({ $0.state.isDrained }), await steps.next() != nil {}
        return isEmpty && !Task.isCancelled
    }

    /// The changes from now on, as a sequence that ends when the outbox stops.
    ///
    /// For a slow consumer, only the newest thousand events are kept. Each access creates a separate sequence.
    public var events: AsyncStream<Event> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1000)) { continuation in
            let id = UUID()
            continuation.onTermination = { [weak self] _ in
                _ = self?.shared.withLock { $0.subscribers.removeValue(forKey: id) }
            }
            let isClosed = shared.withLock { shared in
                shared.subscribers[id] = continuation
                return shared.state.isClosed
            }
            if isClosed { continuation.finish() }
        }
    }

    /// Retries an entry that is parked, or that waits after a failure.
    ///
    /// The entry keeps its position in its category. Its attempts count from zero again, and it no longer expires. An
    /// entry that is being sent isn't changed, and an unknown identifier is ignored.
    ///
    /// - Throws: `FileError` if the change can't be written; ``Outbox/Error`` if the outbox is closed.
    public func retry(_ id: UUID) async throws {
        guard var entry = shared.withLock({ $0.state.entry(id) }) else { return }
        (entry.state, entry.attempts, entry.expires, entry.isPassed) = (.pending, 0, nil, false)
        (entry.nextAttempt, entry.wait) = (nil, nil)
        try await commit([.changed(entry)])
    }

    /// Removes an entry.
    ///
    /// A running request can't be recalled, and isn't cancelled. It ends with its response, which isn't handled, or
    /// with its timeout, and isn't sent again. The next entry of the category is sent after that.
    ///
    /// - Throws: `FileError` if the change can't be written; ``Outbox/Error`` if the outbox is closed.
    public func remove(_ id: UUID) async throws {
        try await removeAll { $0.id == id }
    }

    /// Removes the entries of a category that belong to the current account.
    ///
    /// - Throws: `FileError` if the change can't be written; ``Outbox/Error`` if the outbox is closed.
    public func removeAll(in category: String) async throws {
        let account = account
        try await removeAll { $0.category == category && $0.account == account }
    }

    /// Removes the entries that meet a condition, such as the entries of an account; removes none if it throws.
    ///
    /// - Throws: `FileError` if the change can't be written; ``Outbox/Error`` if the outbox is closed.
    public func removeAll(where condition: (Entry) -> Bool) async throws {
        let ids = entries.filter(condition).map(\.id)
        try await commit(ids.isEmpty ? [] : [.discarded(ids)])
    }

    // MARK: Sending

    /// The current account: new entries belong to it, and only its entries are sent.
    ///
    /// `nil` means no account.
    ///
    /// When the account changes, the requests of other accounts are cancelled before the setter returns. Their entries
    /// are parked until their account is set again. A response that arrives later isn't handled, and its entry counts
    /// as sent.
    public var account: String? {
        get { shared.withLock { $0.state.account } }
        set {
            let stopped = shared.withLock { shared in
                shared.state.account = newValue
                return shared.state.cancelDisallowed(shared.operations.keys).compactMap { shared.operations[$0] }
            }
            for operation in stopped { operation.cancel() }
            step { _ in [.report(.accountChanged(newValue))] }
        }
    }

    /// Whether the outbox is paused, and sends nothing new.
    public var isPaused: Bool { shared.withLock { $0.state.isPaused } }

    /// Stops sending entries until ``resume()``; running requests aren't cancelled.
    public func pause() { change { $0.isPaused = true } }

    /// Continues to send entries.
    public func resume() { change { $0.isPaused = false } }

    private func change(_ change: (inout OutboxState) -> Void) {
        shared.withLock { change(&$0.state) }
        step()
    }
}
