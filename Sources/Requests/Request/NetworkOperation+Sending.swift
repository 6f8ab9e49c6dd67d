// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The way out: what a cache has isn't sent for, what is over a limit waits, and the rest goes to the transport.
extension NetworkOperation {
    // MARK: Dispatch

    /// Sees to it that a request is answered; `input` is what moves the lifecycle on when it is sent.
    func dispatch(_ request: HTTPRequest, cause: Attempt.Cause, by input: OperationLifecycle.Input) {
        guard run.withLock({ $0.exchange.needsFreshStack() }) else { return go(request, cause: cause, by: input) }
        DispatchQueue.global(qos: qualityOfService.dispatchQoS).async { self.go(request, cause: cause, by: input) }
    }

    private func go(_ request: HTTPRequest, cause: Attempt.Cause, by input: OperationLifecycle.Input) {
        var withCookies: HTTPRequest?
        if let cookies = environment.cookies, run.withLock({ $0.options.usesCookies }) {
            withCookies = request.addingCookies(of: cookies)
        }
        guard let cache = environment.cache, keepsContentInMemory else {
            return admit(Hop(request, complete: withCookies, cause: cause), by: input)
        }
        let complete = withCookies ?? request
        switch cache.answer(to: complete, isRetry: cause == .retry) {
        case .miss(let outgoing):
            admit(Hop(request, complete: complete, outgoing: outgoing, cause: cause), by: input)
        case .revalidate(let outgoing, let stored):
            admit(Hop(request, complete: complete, outgoing: outgoing, stored: stored, cause: cause), by: input)
        case .fresh(let response):
            guard transition(.answered) == .judge else { return }
            run.withLock { $0.exchange.adopt(response, to: complete) }
            judge(response, to: request)
        case .unavailable:
            fail(RequestError(.notCached, phase: .sending, request: request), in: .sending)
        }
    }

    // MARK: Limits

    /// Waits until the limits let the request go.
    private func admit(_ hop: Hop, by input: OperationLifecycle.Input) {
        guard let limiter = environment.rateLimiter else { return enter(hop, by: input) }
        waiting { [self] in
            limiter.wait(priority: { self.urgency }, granted: { self.enter(hop, by: input) })
        }
    }

    private func enter(_ hop: Hop, by input: OperationLifecycle.Input) {
        guard let limiter = environment.hostLimiter else { return send(hop, by: input, leaving: nil) }
        let origin = Origin(hop.outgoing.url)
        waiting { [self] in
            limiter.enter(
                origin,
                priority: { self.urgency },
                granted: { self.send(hop, by: input, leaving: { limiter.leave(origin) }) }
            )
        }
    }

    /// How soon it is to be sent: as soon as the most urgent of those that it works for.
    private var urgency: Int {
        guard case .leader(let shared) = run.withLock({ $0.role }) else { return queuePriority.rawValue }
        return shared.priority?.rawValue ?? queuePriority.rawValue
    }

    /// Waits for something that may be there at once, and takes the wish back when the operation is settled.
    private func waiting(_ begin: () -> Exchange.Cancellation) {
        let work = run.withLock { $0.exchange.beginWork() }
        let cancellation = begin()
        run.withLock { $0.exchange.keep(cancellation, of: work) }?()
    }

    // MARK: Send

    private func send(_ hop: Hop, by input: OperationLifecycle.Input, leaving leave: Exchange.Cancellation?) {
        guard case .send(let transfer) = transition(input) else {
            leave?()
            return
        }
        // By the clock of the cache, which tells when the response came, too: of two clocks, the one may be ahead.
        let now = environment.cache?.now()
        let (options, work, number) = run.withLock { run in
            let work = run.exchange.begin(transfer, hop, at: now)
            return (run.options, work, run.exchange.attempts.count)
        }
        // Called off in the meantime: then nothing is sent, and there is no transfer whose end could come.
        guard let work else {
            leave?()
            return advance(.ended(transfer: transfer))
        }
        feed?.report(.attemptStarted(MonitoredAttempt(number: number, cause: hop.cause, request: hop.outgoing)))
        let limit = options.maximumBodySize ?? environment.maximumBodySize
        let (flow, progress) = run.withLock { run in
            let flow = FlowControl(run.isPaused ? .user : [])
            run.flow = flow
            run.receiver = nil
            run.refusal = nil
            return (flow, run.progress)
        }
        progress?.sent.begin(total: hop.outgoing.body.length)
        let timeout = options.timeout ?? environment.timeout
        let trust = options.trust ?? environment.trust
        let headLimit = options.maximumHeaderSize ?? environment.maximumHeaderSize
        var outgoing = TransportRequest(
            hop.outgoing,
            timeout: timeout,
            maximumBodySize: limit,
            maximumHeadSize: headLimit,
            trust: trust
        )
        outgoing.usesCookies = options.usesCookies
        if !keepsContentInMemory {
            outgoing.isStreamed = true
            outgoing.maximumBodySize = options.maximumBodySize ?? .max
        }
        let throttle = environment.bandwidthLimiter.map { BandwidthThrottle($0, flow) }
        let sink = EventSink(flow) { [self] event in
            throttle?.note(event)
            if case .end = event { leave?() }
            receive(event, transfer: transfer, limits: (head: headLimit, body: limit))
        }
        let handle: any Transfer
        if let throttle {
            handle = throttle.start(
                PostponedTransferState.Plan { [self, outgoing] in
                    let now = environment.cache?.now()
                    run.withLock { $0.exchange.handOver(transfer, at: now) }
                    return transport.send(outgoing) { sink.report($0) }
                } giveUp: {
                    sink.report(.end(RequestError(.cancelled, phase: .sending)))
                }
            )
        } else {
            handle = transport.send(outgoing) { sink.report($0) }
        }
        flow.attach(handle)
        // A cancel that came while there was no handle yet finds its way here.
        run.withLock { $0.exchange.keep({ handle.cancel() }, of: work) }?()
    }

    // MARK: Receive

    private func receive(_ event: TransferEvent, transfer: Int, limits: (head: Int, body: Int)) {
        switch event {
        case .informational:
            break
        case .sent(let count, let total):
            let progress = run.withLock { run in
                run.exchange.sent = count
                return run.progress
            }
            progress?.sent.reach(count, of: total)
        case .head(let head):
            // Nothing of such a head is kept: neither its cookies nor its fields in the error.
            if let size = head.size, size > limits.head {
                let reason = "the head has more than \(limits.head) bytes"
                return fail(RequestError(.headTooLarge, phase: .receiving, reason: reason), in: .receiving)
            }
            let hop = run.withLock { run in
                run.exchange.receive(head, transfer: transfer)
                return run.options.usesCookies ? run.exchange.hop : nil
            }
            if let hop, let cookies = environment.cookies { cookies.store(head, from: hop.outgoing.url) }
            feed?.report(head)
            advance(.responded(transfer: transfer))
            if !keepsContentInMemory { direct(head) }
            tellBegin(of: head)
        case .data(let data):
            if let receiver = run.withLock({ $0.receiver }) { return pass(data, to: receiver) }
            let (reception, progress, count, refusal) = run.withLock { run in
                let reception = run.exchange.receive(data, transfer: transfer, limit: limits.body)
                return (reception, run.progress, run.exchange.body.count, run.refusal)
            }
            if let progress, reception == .kept { progress.received.reach(Int64(count)) }
            guard reception == .tooLarge else { return }
            if let refusal { return fail(refusal, in: .validating) }
            let reason = "more than \(limits.body) bytes"
            fail(RequestError(.bodyTooLarge, phase: .receiving, reason: reason), in: .receiving)
        case .metrics(let metrics):
            run.withLock { $0.exchange.receive(metrics, transfer: transfer) }
        case .end(let error):
            let (attempts, receiver) = run.withLock { run in
                run.exchange.end(transfer, error: error)
                return (run.exchange.attempts, run.receiver)
            }
            if let feed, let record = attempts.last { feed.reportEnd(of: record) }
            receiver?.end(error)
            let action = transition(.ended(transfer: transfer))
            guard action == .judge else { return perform(action) }
            if transport.capabilities.contains(.concurrentDelivery) {
                judge(error)
            } else {
                DispatchQueue.global(qos: qualityOfService.dispatchQoS).async { self.judge(error) }
            }
        }
    }
}

extension NetworkOperation {
    /// Has something else than memory take the content, where the response is one that the request wants.
    private func direct(_ head: HTTPResponseHead) {
        let (sent, flow, isAbandoned) = run.withLock { run in
            (run.exchange.hop?.asked, run.flow, run.exchange.isAbandoned)
        }
        guard let sent, let flow, !isAbandoned, claims(head) else { return }
        // A status that is none of the request's own says something about the file, and comes with a content of its own.
        if accepts(head.status), let refusal = refusal(of: head, to: sent) {
            return run.withLock { $0.refusal = refusal }
        }
        do {
            let receiver = try makeReceiver(for: head, to: sent, flow: flow)
            run.withLock { $0.receiver = receiver }
        } catch {
            fail(error, in: .receiving)
        }
    }

    /// Why a validator doesn't want the content of a response; nil where all do.
    private func refusal(of head: HTTPResponseHead, to sent: HTTPRequest) -> RequestError? {
        let validators = validators
        guard !validators.isEmpty, let request else { return nil }
        let context = validationContext(of: request, sent: sent, validators)
        do {
            for validator in validators { try validator.validate(head: head, context: context) }
            return nil
        } catch {
            return error as? RequestError ?? RequestError(.rejected, phase: .validating, underlying: error)
        }
    }

    private func pass(_ data: Data, to receiver: any ContentReceiver) {
        let (isAbandoned, progress) = run.withLock { ($0.exchange.isAbandoned, $0.progress) }
        guard !isAbandoned else { return }
        do {
            try receiver.receive(data)
            if let progress, let count = receiver.count { progress.received.reach(count) }
        } catch {
            fail(error, in: .receiving)
        }
    }
}
