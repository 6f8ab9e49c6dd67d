// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Responds to requests instead of a network, for one client, one session configuration, or the entire process.
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
/// | code under test | how |
/// |---|---|
/// | accepts an `HTTPClient` or a transport | pass the stubber as the transport |
/// | accepts a `URLSession` or its configuration | ``install(in:)`` |
/// | uses `URLSession.shared` and can't be changed | ``shared`` and ``isEnabled`` |
///
/// Use the first option that is possible, because a transport has none of the limitations of `URLProtocol`, which
/// ``install(in:)`` lists.
///
/// ### Choose a stub
///
/// Stubs are tried in the order in which they were added, and the first stub whose conditions all hold responds. Stubs
/// are skipped if they have reached their limit, or if their responses aren't set yet. If no stub matches, the request
/// fails with an ``UnhandledRequest``, which gives the reasons, so a test never uses the network by mistake.
///
/// Instances share nothing, so give each test its own instance to run tests in parallel. A stubber is thread-safe.
public final class HTTPStubber: HTTPTransport {
    /// How to handle a request that no stub matches.
    public enum UnhandledMode: Sendable, Hashable {
        /// Fails the request with an ``UnhandledRequest``.
        case refuse
        /// Sends the request over the network.
        case passThrough
    }

    struct State: Sendable {
        var stubs: [HTTPStub] = []
        var unhandledMode: UnhandledMode
        var requests: [ReceivedRequest] = []
        var unhandled: [UnhandledRequest] = []
        var isEnabled = false
    }

    /// The stubber of `URLSession.shared`, used if ``isEnabled`` is set; tests that use it can't run in parallel.
    public static let shared = HTTPStubber()

    let state: AwaitableState<State>
    private let network: (any HTTPTransport)?
    private let clock: any Clock<Duration>
    private let callSite: CallSite

    /// Creates a stubber without stubs.
    ///
    /// - Parameters:
    ///   - unhandledMode: How to handle a request that no stub matches; it fails by default.
    ///   - network: The transport for requests that are passed through; by default, a transport that uses the real
    ///     network.
    ///   - clock: The clock for the delays of responses; a test can advance the time of a ``ManualClock``.
    ///   - file: The file that creates the stubber.
    ///   - line: The line that creates the stubber.
    public init(
        unhandledMode: UnhandledMode = .refuse,
        network: (any HTTPTransport)? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        file: StaticString = #fileID,
        line: UInt = #line
    ) {
        callSite = CallSite(file, line)
        self.network = network
        self.clock = clock
        state = AwaitableState(State(unhandledMode: unhandledMode))
    }

    /// All capabilities except pausing; proxy authorization is included only if the network transport supports it too.
    public var capabilities: TransportCapabilities {
        let builtIn: TransportCapabilities = [.concurrentDelivery, .bodyWithAnyMethod, .sizedStreams, .orderedHeaders]
        let (stubs, mode) = state.withLock { ($0.stubs, $0.unhandledMode) }
        let passes = mode == .passThrough || stubs.contains(where: \.passesThrough)
        let networkCapabilities = (network ?? (passes ? Self.network : nil))?.capabilities ?? .proxyAuthorization
        return builtIn.union(networkCapabilities.intersection(.proxyAuthorization))
    }

    /// Responds to the request, following the rules of `HTTPTransport`.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        start(request, isBodyHidden: false, receive: receive)
    }

    func start(
        _ request: TransportRequest,
        isBodyHidden: Bool,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> StubTransfer {
        let transfer = StubTransfer(receive)
        transfer.run { [self] in try await run(request, isBodyHidden: isBodyHidden, as: transfer) }
        return transfer
    }

    private func run(_ request: TransportRequest, isBodyHidden: Bool, as transfer: StubTransfer) async throws {
        guard var received = try await ReceivedRequest.reading(request, for: transfer) else { return }
        received.isBodyHidden = isBodyHidden
        guard transfer.isRunning else { return }
        guard let (claimed, responder) = try claim(received) else {
            return try sendOverNetwork(request, received, as: transfer)
        }
        let count = Int64(received.body.count)
        if count > 0 { transfer.report(.sent(count, of: count)) }
        let response = try await response(of: responder, to: claimed, timeout: request.timeout, as: transfer)
        let player = StubPlayer(transfer: transfer, url: claimed.url, clock: clock, timeout: request.timeout)
        player.play(try StubPlan(response, to: claimed).steps[...])
    }

    /// Returns the response of a responder; after the timeout, the transfer ends without a response.
    private func response(
        of responder: StubUsage.Responder,
        to request: ReceivedRequest,
        timeout: Duration?,
        as transfer: StubTransfer
    ) async throws -> StubResponse {
        switch responder {
        case .fixed(let response): return response
        case .computed(let make):
            // Don't use a task group, because it would wait for a responder that ignores its cancellation.
            let timeoutTask = timeout.map { clock.after($0) { transfer.timeOut() } }
            transfer.whenStopped { timeoutTask?.cancel() }
            defer { timeoutTask?.cancel() }
            return try await make(request)
        }
    }

    /// Sends the request over the network, as if there were no stubber.
    private func sendOverNetwork(
        _ request: TransportRequest,
        _ received: ReceivedRequest,
        as transfer: StubTransfer
    ) throws {
        guard !received.isBodyHidden else {
            let cause = "the body of an upload task isn't accessible on this platform"
            let reason = "\(cause), so the request can't be passed through"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
        var request = request
        // The stream has been consumed, and may not be replayable.
        if case .stream = request.body.content { request.body = .data(received.body, type: nil) }
        let inner = (network ?? Self.network).send(request) { transfer.report($0) }
        transfer.whenStopped { inner.cancel() }
    }

    /// The real network, bypassing every stubber.
    ///
    /// A stubber that is enabled for `URLSession.shared` would otherwise receive the requests that it passes through.
    private static let network: any HTTPTransport = {
        #if os(Linux)
        return HTTPClient.defaultTransport
        #else
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        return URLSessionTransport(configuration: configuration)
        #endif
    }()
}

/// The stubber and session of each protocol class; stubbers are held weakly.
enum StubberRegistry {
    struct Entry {
        weak var stubber: HTTPStubber?
        let session: StubbedSessionSettings
    }

    private struct State {
        var lastNumber = 0
        var entries: [ObjectIdentifier: Entry] = [:]
    }

    private static let state = Locked(State())

    /// Returns a new protocol class that passes the requests of a session to a stubber.
    static func add(_ stubber: HTTPStubber, for session: StubbedSessionSettings) -> StubProtocol.Type {
        state.withLock { state in
            state.entries = state.entries.filter { $0.value.stubber != nil }
            state.lastNumber += 1
            let protocolClass = StubProtocol.subclass(state.lastNumber)
            state.entries[ObjectIdentifier(protocolClass)] = Entry(stubber: stubber, session: session)
            return protocolClass
        }
    }

    static func entry(of protocolClass: StubProtocol.Type) -> Entry? {
        state.withLock { $0.entries[ObjectIdentifier(protocolClass)] }
    }
}

// MARK: - Matching

extension HTTPStubber {
    /// Records a request, and returns the responder of the first matching stub; `nil` if the request goes to the
    /// network.
    ///
    /// - Throws: An error if no stub matches the request.
    private func claim(
        _ request: ReceivedRequest
    ) throws(RequestError) -> (request: ReceivedRequest, responder: StubUsage.Responder)? {
        let (stubs, mode) = state.withLock { state in
            state.requests.append(request)
            return (state.stubs, state.unhandledMode)
        }
        var candidates: [(stub: HTTPStub, mismatches: [String])] = []
        for stub in stubs {
            switch stub.claim(request) {
            case .matched(let request, let responder): return (request, responder)
            case .passThrough: return nil
            case .skipped(let reasons): candidates.append((stub, reasons))
            }
        }
        guard mode == .refuse else { return nil }
        let error = UnhandledRequest(request, candidates: candidates, at: callSite)
        state.withLock { $0.unhandled.append(error) }
        throw RequestError(.notStubbed, phase: .sending, underlying: error)
    }
}
