// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import AsyncHTTPClientTransport
import CLoop
import Foundation
import Requests
import RequestsTesting

/// One benchmark: a name, and the work that is measured.
struct Measurement: Sendable {
    let name: String
    let run: @Sendable () throws -> Usage

    static let all: [Measurement] =
        storms + memory + graphs + loopback + engine + multiplexed + vocabulary + growth + client + transfers
        + multitude + path + outbox + webSockets

    // MARK: Many requests on one queue

    private static let storms: [Measurement] = [10_000, 100_000].flatMap { count in
        [
            Measurement(name: "storm-bare-\(count)") {
                drain(count) { queue, _ in queue.addOperation(BareOperation()) }
            },
            Measurement(name: "storm-bare-completion-\(count)") {
                drain(count) { queue, done in
                    done.enter()
                    queue.addOperation(BareOperation { _ in done.leave() })
                }
            },
            Measurement(name: "storm-requests-\(count)") {
                let transport = InMemoryTransport.counting()
                return drain(count) { queue, _ in queue.addRequest(CountRequest(number: 1), session: transport) }
            },
            Measurement(name: "storm-requests-completion-\(count)") {
                let transport = InMemoryTransport.counting()
                return drain(count) { queue, done in
                    done.enter()
                    queue.addRequest(CountRequest(number: 1), session: transport) { _ in done.leave() }
                }
            },
        ]
    }

    /// Adds operations to a queue of the default width and waits for all of them and their completions.
    private static func drain(_ count: Int, _ add: (OperationQueue, DispatchGroup) -> Void) -> Usage {
        let queue = OperationQueue()
        let done = DispatchGroup()
        return Usage.measure {
            for _ in 0..<count { add(queue, done) }
            queue.waitUntilAllOperationsAreFinished()
            done.wait()
        }
    }

    // MARK: Memory of waiting requests

    private static let memory: [Measurement] = [
        Measurement(name: "memory-bare") { held { $0.addOperation(BareOperation { _ in }) } },
        Measurement(name: "memory-requests") {
            let transport = InMemoryTransport.counting()
            return held { $0.addRequest(CountRequest(number: 1), session: transport) { _ in } }
        },
        Measurement(name: "memory-crowd") { try crowd(width: 64) },
        Measurement(name: "memory-crowd-started") {
            try crowd(width: OperationQueue.defaultMaxConcurrentOperationCount)
        },
    ]

    /// The peak memory of 100,000 requests that are added at once and sent over a socket; the caller keeps none.
    private static func crowd(width: Int) throws -> Usage {
        let server = try LoopbackServer()
        defer { server.stop() }
        let (url, queue, done) = (server.url, OperationQueue(), DispatchGroup())
        queue.maxConcurrentOperationCount = width
        let before = Usage.residentBytes()
        for _ in 0..<100_000 {
            done.enter()
            queue.addRequest(TodoRequest(url: url)) { result in
                if case .failure(let error) = result { fatalError("a request failed: \(error)") }
                done.leave()
            }
        }
        done.wait()
        return Usage(bytes: Usage.mostResidentBytes() - before)
    }

    private static func held(_ add: (OperationQueue) -> Void) -> Usage {
        let queue = OperationQueue()
        queue.isSuspended = true
        for _ in 0..<100 { add(queue) }
        let before = Usage.residentBytes()
        for _ in 0..<100_000 { add(queue) }
        let bytes = (Usage.residentBytes() - before) / 100_000
        return Usage(bytes: bytes)
    }

    // MARK: Dependencies

    private static let graphs: [Measurement] = [
        Measurement(name: "chain-serial-bare-10000") { graph(10_000, width: 1, link: chain) { BareOperation() } },
        Measurement(name: "chain-serial-requests-10000") { graph(10_000, width: 1, link: chain, make: requests()) },
        Measurement(name: "chain-serial-requests-100000") { graph(100_000, width: 1, link: chain, make: requests()) },
        Measurement(name: "chain-bare-8000") { graph(8_000, link: chain) { BareOperation() } },
        Measurement(name: "chain-requests-8000") { graph(8_000, link: chain, make: requests()) },
        Measurement(name: "fan-out-bare-8000") { graph(8_000, link: fanOut) { BareOperation() } },
        Measurement(name: "fan-out-requests-8000") { graph(8_000, link: fanOut, make: requests()) },
        Measurement(name: "fan-in-bare-8000") { graph(8_000, link: fanIn) { BareOperation() } },
        Measurement(name: "fan-in-requests-8000") { graph(8_000, link: fanIn, make: requests()) },
    ]

    private static func requests() -> (() -> Operation) {
        let transport = InMemoryTransport.counting()
        let maker = OperationQueue()
        return { maker.makeOperation(for: CountRequest(number: 1), session: transport) }
    }

    private static func chain(_ operations: [Operation]) {
        for (earlier, later) in zip(operations, operations.dropFirst()) { later.addDependency(earlier) }
    }

    private static func fanOut(_ operations: [Operation]) {
        for later in operations.dropFirst() { later.addDependency(operations[0]) }
    }

    private static func fanIn(_ operations: [Operation]) {
        for earlier in operations.dropLast() { operations[operations.count - 1].addDependency(earlier) }
    }

    private static func graph(
        _ count: Int,
        width: Int = OperationQueue.defaultMaxConcurrentOperationCount,
        link: ([Operation]) -> Void,
        make: () -> Operation
    ) -> Usage {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        return Usage.measure {
            let operations = (0..<count).map { _ in make() }
            link(operations)
            queue.addOperations(operations, waitUntilFinished: true)
        }
    }

    // MARK: Over a socket

    private static let loopback: [Measurement] = [1, 8, 64].flatMap { width in
        [
            Measurement(name: "session-bare-\(width)") {
                let session = BareSession()
                session.open()
                return try Load(width: width, count: 4_000).measure(session.get)
            },
            Measurement(name: "session-requests-\(width)") {
                let session = URLSession(configuration: BareSession.configuration)
                return try Load(width: width, count: 4_000).measure(requests(width, session))
            },
            Measurement(name: "session-decoded-\(width)") {
                let session = URLSession(configuration: BareSession.configuration)
                return try Load(width: width, count: 4_000).measure { url, done in
                    collect(url, from: session) { data in
                        // Not on the delivering thread, like the bare session.
                        DispatchQueue.global().async {
                            done((try? JSONDecoder().decode(Todo.self, from: data)) != nil)
                        }
                    }
                }
            },
            Measurement(name: "recipe-requests-\(width)") {
                try Load(width: width, count: 20_000).measure(requests(width, AsyncHTTPClientTransport()))
            },
            Measurement(name: "c-loop-\(width)") {
                let server = try LoopbackServer()
                defer { server.stop() }
                let count = 40_000
                guard cloop_run(server.url.absoluteString, Int32(width), Int32(width * 20)) == 0 else {
                    throw URLError(.cannotConnectToHost)
                }
                return Usage.measure(count: count) {
                    _ = cloop_run(server.url.absoluteString, Int32(width), Int32(count))
                }
            },
            Measurement(name: "default-requests-\(width)") {
                try Load(width: width, count: 40_000).measure(requests(width, nil))
            },
            Measurement(name: "default-decoded-\(width)") {
                try Load(width: width, count: 40_000).measure { url, done in
                    collect(url) { data in done((try? JSONDecoder().decode(Todo.self, from: data)) != nil) }
                }
            },
            Measurement(name: "default-transport-\(width)") {
                try Load(width: width, count: 40_000).measure { url, done in
                    collect(url) { data in done(!data.isEmpty) }
                }
            },
        ]
    }

    /// The full path: a request, an operation, a queue of a given width, a completion.
    private static func requests(_ width: Int, _ session: (any HTTPTransport)?) -> Load.Get {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        return { url, done in
            queue.addRequest(TodoRequest(url: url), session: session) { result in done((try? result.get()) != nil) }
        }
    }

    /// A transport alone: no operation, no queue.
    static func collect(
        _ url: URL,
        from transport: any HTTPTransport = HTTPClient.defaultTransport,
        trust: TrustPolicy = .system,
        _ done: @escaping @Sendable (Data) -> Void
    ) {
        let content = Guarded(Data())
        _ = transport.send(TransportRequest(HTTPRequest(url: url), trust: trust)) { event in
            switch event {
            case .data(let data): content.withLock { $0.append(data) }
            case .end(nil): done(content.withLock { $0 })
            case .end: done(Data())
            case .informational, .sent, .head, .trailers, .metrics: break
            }
        }
    }
}
