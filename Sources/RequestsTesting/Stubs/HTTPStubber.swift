// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Answers requests instead of a network: for one client, one session configuration, or one process.
///
/// ```swift
/// let stubber = HTTPStubber()
/// stubber.stub(.get, "https://api.example.com/users/{id}") { request in
///     .json(User(id: request["id"] ?? ""))
/// }
/// let client = HTTPClient(baseURL: url, transport: stubber)
/// ```
///
/// ### Attach it
///
/// | what is tested | how |
/// |---|---|
/// | code that takes an `HTTPClient` or a transport | the stubber is a transport |
/// | code that takes a `URLSession` or its configuration | ``install(in:)`` |
/// | code that uses `URLSession.shared` and can't be reached | ``shared`` and ``isEnabled`` |
///
/// Take the first that is possible: it is the one without the limits of `URLProtocol`, which ``install(in:)`` lists.
///
/// ### Which stub answers
///
/// A request that fits an ignore rule goes to the network. Else the first stub answers whose conditions all hold, in the
/// order in which they were added; a stub that has answered as often as it may is passed over, and so is one of which
/// nobody has said yet what it answers. What no stub is meant for
/// fails, with an error that says why: ``UnhandledRequest``. So a test never reaches a network by mistake.
///
/// Every instance is for itself: tests that run in parallel take one each. Safe from any thread.
public final class HTTPStubber: HTTPTransport {
    /// What happens to a request that no stub is meant for.
    public enum UnhandledMode: Sendable, Hashable {
        /// It fails, with an ``UnhandledRequest``.
        case refuse
        /// It goes to the network.
        case passThrough
    }

    struct State {
        var stubs: [HTTPStub] = []
        var ignored: [IgnoreRule] = []
        var unhandledMode: UnhandledMode
        var requests: [StubbedRequest] = []
        var unhandled: [UnhandledRequest] = []
        var isEnabled = false
    }

    /// The stubber of `URLSession.shared`, where ``isEnabled`` is set; tests that use it can't run in parallel.
    public static let shared = HTTPStubber()

    let state: Locked<State>
    private let network: (any HTTPTransport)?
    private let clock: any Clock<Duration>

    /// Makes a stubber without stubs.
    ///
    /// - Parameters:
    ///   - unhandledMode: What happens to a request that no stub is meant for; it fails by default.
    ///   - network: What sends the requests that are let through; by default a transport to the real network.
    ///   - clock: On what the times of responses pass; a ``ManualClock`` makes them pass when the test says so.
    public init(
        unhandledMode: UnhandledMode = .refuse,
        network: (any HTTPTransport)? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.network = network
        self.clock = clock
        state = Locked(State(unhandledMode: unhandledMode))
    }

    /// Everything that there is no network for; credentials for a proxy only where the network can bring them to one.
    public var capabilities: TransportCapabilities {
        let own: TransportCapabilities = [.concurrentDelivery, .bodyWithAnyMethod, .sizedStreams, .orderedHeaders]
        let ofNetwork = network?.capabilities ?? .proxyAuthorization
        return own.union(ofNetwork.intersection(.proxyAuthorization))
    }

    /// Answers the request, as `HTTPTransport` says.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any Transfer {
        start(request, isBodyHidden: false, receive: receive)
    }

    func start(
        _ request: TransportRequest,
        isBodyHidden: Bool,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> StubTransfer {
        let transfer = StubTransfer(receive)
        let task = Task { await run(request, isBodyHidden: isBodyHidden, as: transfer) }
        transfer.whenStopped { task.cancel() }
        return transfer
    }

    private func run(_ request: TransportRequest, isBodyHidden: Bool, as transfer: StubTransfer) async {
        do {
            guard var received = try await StubbedRequest.reading(request, for: transfer) else { return }
            received.isBodyHidden = isBodyHidden
            guard transfer.isRunning else { return }
            switch decide(received) {
            case .answer(let claimed, let responder):
                let count = Int64(received.body.count)
                if count > 0 { transfer.report(.sent(count, of: count)) }
                let response = try await response(of: responder, to: claimed, within: request.timeout, as: transfer)
                let plan = try StubPlan(response, to: StubPlan.Request(claimed))
                StubPlayer(transfer: transfer, url: claimed.url, clock: clock, timeout: request.timeout).play(
                    plan.steps[...]
                )
            case .refuse(let error):
                let reason = error.description
                throw RequestError(.unsupported, phase: .sending, reason: reason, underlying: error)
            case .passThrough:
                try pass(request, received, as: transfer)
            }
        } catch {
            transfer.report(.end(RequestError(error)))
        }
    }

    /// The answer of a responder; one that takes longer than the timeout is too late for the transfer.
    private func response(
        of responder: StubUsage.Responder,
        to request: StubbedRequest,
        within timeout: Duration?,
        as transfer: StubTransfer
    ) async throws -> StubResponse {
        switch responder {
        case .ready(let response): return response
        case .made(let make):
            // Not in a group, which would wait for a responder that is deaf to its cancellation.
            let watch = timeout.map { clock.after($0) { transfer.timeOut() } }
            transfer.whenStopped { watch?.cancel() }
            defer { watch?.cancel() }
            return try await make(request)
        }
    }

    /// Sends the request as it would have been sent without the stubber.
    private func pass(_ request: TransportRequest, _ received: StubbedRequest, as transfer: StubTransfer) throws {
        guard !received.isBodyHidden else {
            let reason = "an upload task hides its content on this platform, so that it can't be passed through"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
        var request = request
        // The one stream that there may be was read already.
        if case .stream = request.body.content { request.body = .data(received.body, type: nil) }
        let inner = (network ?? Self.network).send(request) { transfer.report($0) }
        transfer.whenStopped { inner.cancel() }
    }

    /// The network, past every stubber: one that is enabled for `URLSession.shared` would else get its own requests.
    private static let network: any HTTPTransport = {
        #if os(Linux)
        return DefaultTransport.shared
        #else
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        return URLSessionTransport(configuration: configuration)
        #endif
    }()
}

/// Which protocol class belongs to which stubber and session; it keeps no stubber alive.
enum StubberRegistry {
    struct Entry {
        weak var stubber: HTTPStubber?
        let session: StubbedSession
    }

    private struct State {
        var lastNumber = 0
        var entries: [ObjectIdentifier: Entry] = [:]
    }

    private static let state = Locked(State())

    /// A protocol class that hands the requests of a session to a stubber.
    static func add(_ stubber: HTTPStubber, for session: StubbedSession) -> StubProtocol.Type {
        state.withLock { state in
            state.entries = state.entries.filter { $0.value.stubber != nil }
            state.lastNumber += 1
            let protocolClass = StubProtocol.numbered(state.lastNumber)
            state.entries[ObjectIdentifier(protocolClass)] = Entry(stubber: stubber, session: session)
            return protocolClass
        }
    }

    static func entry(of protocolClass: StubProtocol.Type) -> Entry? {
        state.withLock { $0.entries[ObjectIdentifier(protocolClass)] }
    }
}

// MARK: - Deciding

extension HTTPStubber {
    /// What becomes of a request.
    enum Decision: Sendable {
        case answer(StubbedRequest, StubUsage.Responder)
        case refuse(UnhandledRequest)
        case passThrough
    }

    /// Finds who answers a request, and writes it down.
    ///
    /// Conditions are code of the test's and run outside the lock. Two requests may so find the same stub that answers
    /// once; which of them has it is decided when the stub is claimed.
    func decide(_ request: StubbedRequest) -> Decision {
        let (stubs, ignored, mode) = state.withLock { state in
            state.requests.append(request)
            return (state.stubs, state.ignored, state.unhandledMode)
        }
        if ignored.contains(where: { $0.conditions.judge(request).mismatches.isEmpty }) { return .passThrough }
        var candidates: [UnhandledRequest.Candidate] = []
        for stub in stubs {
            let (variables, found) = stub.conditions.judge(request)
            var mismatches = found
            if mismatches.isEmpty {
                var claimed = request
                claimed.variables = variables
                switch stub.claim(claimed) {
                case .answer(let responder): return .answer(claimed, responder)
                case .unanswered: mismatches = ["nobody has said what it answers"]
                case .spent: mismatches = ["it has answered as often as it may"]
                }
            }
            candidates.append(UnhandledRequest.Candidate(stub: stub.description, mismatches: mismatches))
        }
        guard mode == .refuse else { return .passThrough }
        let error = UnhandledRequest(request, candidates: candidates)
        state.withLock { $0.unhandled.append(error) }
        return .refuse(error)
    }
}
