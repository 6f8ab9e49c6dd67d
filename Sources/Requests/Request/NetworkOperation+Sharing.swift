// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// How an operation leaves its work to another, and gets it back where that can't do it.
extension NetworkOperation {
    /// Joins the unfinished transfer of an equal request, now: the operation takes what comes of it, even if that comes
    /// before its own turn.
    func joinSharedTransfer(of queue: Coalescer.Queue) {
        guard let request, keepsContentInMemory else { return }
        let shared = sharedTransfer(for: request, of: queue)
        run.withLock { $0.role = .follower(shared) }
    }

    /// Joins the unfinished transfer of an equal request when the operation starts, since only then is it known what it
    /// may take: the request may not be made yet, and what came before a dependency was finished is too old.
    func joinSharedTransferAtStart(of queue: Coalescer.Queue, isAsked: Bool) {
        run.withLock { $0.role = .joining(queue, isAsked: isAsked) }
    }

    private func sharedTransfer(for request: R, of queue: Coalescer.Queue) -> SharedTransfer<R> {
        let key = Coalescer.Key(queue: queue, operation: self, request: request)
        // All but the first find one: what it takes to make one isn't made for them.
        if let shared: SharedTransfer<R> = Coalescer.shared.join(key) { return shared }
        var configuration = OperationConfiguration(
            source: .value(request),
            transport: transport,
            environment: environment
        )
        configuration.refreshing = refreshing
        return Coalescer.shared.join(key, or: SharedTransfer(key: key, queue: queue, configuration: configuration))
    }

    /// Takes the transfer to join, if there is one: whoever takes it has to see to it that it is left.
    func takeSharedTransfer(for request: R) -> SharedTransfer<R>? {
        // One step, so that a start and a cancel at the same time don't both leave. A leader stays one.
        let role = run.withLock { run in
            if case .leader = run.role { return run.role }
            defer { run.role = .alone }
            return run.role
        }
        switch role {
        case .follower(let shared):
            return shared as? SharedTransfer<R>
        case .joining(let queue, let isAsked):
            guard keepsContentInMemory else { return nil }
            return isAsked || request.options.coalesce ? sharedTransfer(for: request, of: queue) : nil
        case .alone, .leader:
            return nil
        }
    }

    /// Leaves a transfer that was joined and not taken: that of an operation that ends before it starts.
    ///
    /// A leader lets go of the transfer, which holds on to it.
    func leaveSharedTransfer() {
        let role = run.withLock { run in
            defer { run.role = .alone }
            return run.role
        }
        if case .follower(let shared as SharedTransfer<R>) = role { shared.leave(self) }
    }

    func join(_ shared: SharedTransfer<R>) {
        guard transition(.join) == .attach else { return shared.leave(self) }
        // Weak: the exchange is the operation's own.
        let leave: Exchange.Cancellation = { [weak self] in
            if let self { shared.leave(self) }
        }
        run.withLock { run in
            let work = run.exchange.beginWork()
            return run.exchange.keep(leave, of: work)
        }?()
        shared.attach(self)
    }

    /// Tells the monitors whose work the operation waits for.
    func reportJoining(_ leader: NetworkOperation<R>) {
        guard let feed, let leader = leader.feed?.operation else { return }
        feed.report(.operationJoined(leader))
    }

    /// Takes over the result of the operation that did the work, unless there is one already.
    func adopt(_ outcome: Outcome, of leader: NetworkOperation<R>) {
        let exchange = leader.run.withLock { $0.exchange }
        finish(with: outcome) { self.run.withLock { $0.exchange.adopt(exchange) } }
    }
}
