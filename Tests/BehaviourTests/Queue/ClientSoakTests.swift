// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Cancels requests of a client with all features at each phase. `Scripts/soak` runs these tests at full size.
@Suite(.bounded, .serialized) struct ClientSoakTests {
    /// The phase at which a request is cancelled.
    enum Phase: CaseIterable, Sendable {
        case made, added, adapting, sending, transforming, validating, deciding, ended, never
    }

    /// Cancels requests at their phases: half of them immediately, and half in a race with the next event.
    private final class Storm: Sendable {
        private let operations = Locked<[Int: Operation]>([:])
        private let phases: [Phase]

        init(_ count: Int) {
            var fuzz = Fuzz()
            phases = (0..<count).map { _ in Phase.allCases.randomElement(using: &fuzz) ?? .never }
        }

        func add(_ operation: Operation, _ number: Int) {
            operations.withLock { $0[number] = operation }
        }

        func reach(_ phase: Phase, _ number: Int?) {
            guard let number, phases.indices.contains(number), phases[number] == phase,
                let operation = operations.withLock({ $0[number] })
            else { return }
            if number.isMultiple(of: 2) {
                operation.cancel()
            } else {
                DispatchQueue.global().async { operation.cancel() }
            }
        }

        func isCancelled(_ number: Int) -> Bool { phases[number] != .never }

        func forget() {
            operations.withLock { $0 = [:] }
        }
    }

    /// The events of each operation, as one word each.
    private final class Trees: EventMonitor {
        let events = Locked<[UInt64: [String]]>([:])

        func eventOccurred(_ event: OperationEvent, of operation: OperationEvent.Info) {
            let word =
                switch event {
                case .operationCreated: "made"
                case .operationStarted: "started"
                case .operationJoined: "joined"
                case .transferStarted: "attempt"
                case .responseStarted: "response"
                case .informationalResponseReceived: "informational"
                case .trailersReceived: "trailers"
                case .transferEnded: "attempt ended"
                case .retryScheduled: "retry"
                case .authenticationStarted: "authentication"
                case .authenticationEnded: "authentication ended"
                case .operationEnded: "ended"
                }
            events.withLock { $0[operation.id, default: []].append(word) }
        }

        /// The event sequences that violate the rules of ``EventMonitor``.
        var broken: [[String]] {
            events.withLock { Array($0.values) }.filter { !Self.isTree($0) }
        }

        private static func isTree(_ words: [String]) -> Bool {
            guard words.first == "made", words.last == "ended", words.count(where: { $0 == "ended" }) == 1,
                words.count(where: { $0 == "made" }) == 1, words.count(where: { $0 == "started" }) <= 1
            else { return false }
            var (isOpen, isWaiting) = (false, false)
            for word in words {
                switch word {
                case "attempt" where isOpen, "attempt ended" where !isOpen, "response" where !isOpen: return false
                case "authentication" where isOpen || isWaiting, "authentication ended" where !isWaiting: return false
                case "attempt" where isWaiting, "retry" where isWaiting: return false
                case "attempt": isOpen = true
                case "attempt ended": isOpen = false
                case "authentication": isWaiting = true
                case "authentication ended": isWaiting = false
                default: break
                }
            }
            return !isOpen && !isWaiting
        }
    }

    private func transport(_ storm: Storm) -> InMemoryTransport {
        InMemoryTransport(recordsRequests: false) { request in
            let number = request.headers["X-Number"].flatMap { Int($0) }
            storm.reach(.sending, number)
            let response = Self.response(to: request, number ?? 1)
            guard number?.isMultiple(of: 3) == true else { return response }
            let gate = Gate()
            DispatchQueue.global().async { gate.open() }
            return response.held(by: gate)
        }
    }

    private static func response(to request: ReceivedRequest, _ number: Int) -> StubResponse {
        if number.isMultiple(of: 5), request.headers["X-Try"] == "1" { return .status(.serviceUnavailable) }
        if number.isMultiple(of: 7), request.url.path != "/end" {
            return .status(.found, headers: [.location: "/end"])
        }
        let headers: HTTPHeaders =
            number.isMultiple(of: 2)
            ? [.setCookie: "a=1", .cacheControl: "no-cache", .eTag: "\"a\""] : [.cacheControl: "max-age=60"]
        return .status(.ok, headers: headers, body: Data("x".utf8))
    }

    private func client(_ storm: Storm, _ monitors: [any EventMonitor]) -> HTTPClient {
        HTTPClient(maxConcurrentRequests: 16, transport: transport(storm)) {
            $0.interceptors = [
                ClosureInterceptor(
                    adapt: { request, context in
                        if context.identifier.hasSuffix("3") { await Task.yield() }
                        request.headers["X-Try"] = "\(context.attempt)"
                        storm.reach(.adapting, Int(context.identifier))
                    },
                    transform: { _, context in storm.reach(.transforming, Int(context.identifier)) },
                    retry: { _, context in
                        storm.reach(.deciding, Int(context.identifier))
                        await Task.yield()
                        return .pass
                    }
                )
            ]
            $0.validators = [
                ClosureValidator { _, context in
                    storm.reach(.validating, Int(context.identifier))
                    let triesAgain = context.identifier.hasSuffix("9") && context.attempt == 1
                    return triesAgain ? .retry(.immediate) : .accept
                }
            ]
            $0.retry = RetryPolicy(limit: 2, backoff: .none)
            $0.cache = ResponseCache()
            $0.rateLimiter = RateLimiter(1_000_000, per: .seconds(1), burst: 100)
            $0.hostLimiter = HostLimiter(limit: 6)
            $0.monitors = monitors
        }
    }

    private static func request(_ number: Int, _ identifier: String, _ life: Census.Life) -> TextRequest {
        var urlRequest = URLRequest(url: home.appending(path: "\(number % 50)"))
        urlRequest.setValue("\(number)", forHTTPHeaderField: "X-Number")
        return TextRequest(identifier: identifier, life: life, make: { [urlRequest] in $0(.success(urlRequest)) })
    }

    @Test func cancellationAtAnyPhaseCompletesOnce() async throws {
        let count = Scale.pick(500, whole: 10_000)
        let (storm, census, trees, activity) = (Storm(count), Census(), Trees(), ActivityMonitor())
        let ends = Recorder<(number: Int, code: RequestError.Code?)>()
        let client = client(storm, [trees, activity])

        for number in 0..<count {
            let isShared = number % 11 == 0
            let request = Self.request(number, isShared ? "shared" : "\(number)", census.life())
            let operation = client.makeOperation(for: request, coalescing: isShared) { result in
                ends.record((number, result.error?.code))
                storm.reach(.ended, number)
            }
            storm.add(operation, number)
            storm.reach(.made, number)
            client.addOperation(operation)
            storm.reach(.added, number)
        }
        let results = await ends.first(count)
        storm.forget()
        await census.extinction()

        #expect(ends.count == count && Set(results.map(\.number)).count == count)
        #expect(results.filter { !storm.isCancelled($0.number) }.allSatisfy { $0.code == nil })
        #expect(results.allSatisfy { $0.code == nil || $0.code == .cancelled })
        #expect(client.operations.isEmpty)
        #expect(trees.broken == [], "seed \(Fuzz.seed)")
        #expect(activity.count == 0)
    }

    @Test func limitersSurviveManyCancellations() async throws {
        let storm = Storm(200)
        let client = client(storm, [])
        let operations = (0..<200).map { number in
            let operation = client.makeOperation(for: Self.request(number, "\(number)", Census().life()))
            storm.add(operation, number)
            client.addOperation(operation)
            storm.reach(.added, number)
            return operation
        }
        for operation in operations { await operation.end() }
        storm.forget()

        // More requests than the limiters have slots, so that a lost slot would be noticed.
        let later = (0..<100).map { client.addRequest(Self.request(1000 + $0, "later", Census().life())) }

        for operation in later { #expect(try await operation.value() == "x") }
    }

    @Test func clientReleasedDuringCancellationsDeallocates() async throws {
        let (storm, census) = (Storm(300), Census())
        let ends = Recorder<Int>()
        weak var weakClient: HTTPClient?
        do {
            let client = client(storm, [])
            weakClient = client
            for number in 0..<300 {
                let request = Self.request(number, "\(number)", census.life())
                let operation = client.makeOperation(for: request) { _ in ends.record(number) }
                storm.add(operation, number)
                client.addOperation(operation)
                storm.reach(.added, number)
            }
        }

        #expect(weakClient == nil)
        #expect(Set(await ends.first(300)).count == 300)
        storm.forget()
        await census.extinction()
        #expect(ends.count == 300)
    }
}
