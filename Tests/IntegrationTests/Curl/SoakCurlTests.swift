// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

/// Tests of large numbers of transfers: small by default, full size in `Scripts/soak`.
@Suite(.bounded) struct SoakCurlTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

    @Test(.tags(.alone)) func randomCancelsCompleteOnceAndLeakNothing() async throws {
        let count = Scale.pick(3_000, whole: 250_000)
        let server = try RawListener { connection in
            while connection.readHead() != nil, connection.write(Self.answer) {}
        }
        let url = URL(string: "http://127.0.0.1:\(server.port)/")!
        let transport = CurlTransport.configured {
            $0.maximumConnectionsPerHost = nil
            // On a loaded machine, the server may be so slow that its queue is full. The system then drops new
            // connections, and tries them again after 1, 3, 7 and 15 seconds.
            $0.connectTimeout = .seconds(60)
        }
        let results = Locked<[String: Int]>([:])
        let violations = Locked<[String]>([])
        @Sendable func batch(_ size: Int) async {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<64 {
                    group.addTask {
                        var random = Fuzz(seed: Fuzz.seed &+ UInt64(number))
                        for _ in 0..<size / 64 {
                            let transcript = Transcript()
                            let transfer = transport.send(url, to: transcript)
                            if number.isMultiple(of: 2) {
                                let delay = DispatchTime.now() + .microseconds(.random(in: 0...3000, using: &random))
                                DispatchQueue.global().asyncAfter(deadline: delay) { transfer.cancel() }
                            }
                            try? await transcript.ended.wait(timeout: .seconds(Scale.timeLimit))
                            results.withLock { $0[transcript.result, default: 0] += 1 }
                            violations.withLock { $0 += transcript.violations }
                        }
                    }
                }
            }
        }

        await batch(count / 5)
        let (memory, descriptors) = (Usage.allocatedMemory, Usage.descriptors)
        await batch(count * 4 / 5)
        let (memoryAfter, descriptorsAfter) = (Usage.allocatedMemory, Usage.descriptors)
        transport.close()

        #expect(violations.withLock { $0 } == [], "seed \(Fuzz.seed)")
        #expect(Set(results.withLock { $0 }.keys).isSubset(of: ["success", "cancelled"]), "\(results.withLock { $0 })")
        if Scale.isWhole {
            #expect(!Usage.isMemoryExact || memoryAfter - memory < 48 << 20, "grew by \(memoryAfter - memory)")
            #expect(descriptorsAfter - descriptors < 200, "\(descriptors), then \(descriptorsAfter)")
        }
    }

    /// The server, in this process, has the other end of each transfer: two descriptors and one thread.
    @Test(.tags(.alone)) func stalledTransfersDelayNoneAndCancelImmediately() async throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        // Other tests may have left descriptors open.
        let most = (Int(min(limit.rlim_cur, 1 << 20)) - Usage.descriptors) / 2 - 500
        let count = max(100, min(most, Scale.pick(500, whole: 10_000)))
        let silence = try Silence()
        let server = try MockServer { _ in .text("hi") }
        let transport = CurlTransport.configured { $0.maximumConnectionsPerHost = nil }
        let hanging = (0..<count).map { _ in Transcript() }
        func threeHundred() async -> Duration {
            let start = ContinuousClock.now
            for _ in 0..<300 { #expect(await transport.run(server.url).text == "hi") }
            return ContinuousClock.now - start
        }

        let alone = await threeHundred()
        let transfers = hanging.map { transport.send(silence.url, timeout: .seconds(600), to: $0) }
        await silence.hasTaken(count)
        let among = await threeHundred()
        let start = ContinuousClock.now
        for transfer in transfers { transfer.cancel() }
        for transcript in hanging { try await transcript.ended.wait() }
        let cancelling = ContinuousClock.now - start
        transport.close()

        #expect(hanging.allSatisfy { $0.result == "cancelled" && $0.violations == [] })
        // Only a soak has the machine to itself. The limit is for a release build; this build also checks every event.
        if Scale.isWhole {
            #expect(among < alone * 3 + .milliseconds(300), "\(alone) alone, \(among) among \(count)")
            #expect(cancelling < .milliseconds(1000), "\(cancelling) for \(count)")
        }
        print("\(count) hanging: 300 requests in \(alone) alone, \(among) among them; all cancelled in \(cancelling)")
    }

    @Test(.tags(.alone)) func manyTransportsLeakNoResources() async throws {
        let count = Scale.pick(300, whole: 10_000)
        let server = try MockServer { _ in .text("hi") }
        func live(_ number: Int) async {
            let transport = CurlTransport()
            if !number.isMultiple(of: 3) { #expect(await transport.run(server.url).text == "hi") }
            if !number.isMultiple(of: 5) { transport.close() }
        }

        for number in 0..<count / 10 { await live(number) }
        let (memory, descriptors, loops) = (Usage.allocatedMemory, Usage.descriptors, Usage.loops)
        for number in 0..<count { await live(number) }
        try await server.awaitConnections(open: 0)

        // The last one may be about to end.
        #expect(Usage.loops - loops < 20)
        if Scale.isWhole {
            #expect(Usage.descriptors - descriptors < 100)
            let growth = Usage.allocatedMemory - memory
            #expect(!Usage.isMemoryExact || growth < 48 << 20, "grew by \(growth)")
        }
    }

    @Test(.tags(.alone)) func slowReceiverUsesConstantMemory() async throws {
        let (pieces, size) = (Scale.pick(128, whole: 1024), 1 << 20)
        let piece = Data(repeating: 0x78, count: size)
        let head = Data("HTTP/1.1 200 OK\r\nContent-Length: \(pieces * size)\r\n\r\n".utf8)
        let server = try MockServer { _ in .script([.send(head)] + (0..<pieces).map { _ in .send(piece) }) }
        let transport = CurlTransport()
        let before = Usage.memory
        let most = Locked(0)
        let transcript = Transcript(keepsContent: false) { event in
            guard case .data = event else { return }
            // Slow by work rather than by waiting: each piece opens and reads a file.
            let now = Usage.memory
            most.withLock { $0 = max($0, now) }
        }

        transport.send(server.url, to: transcript)
        try await transcript.ended.wait(timeout: .seconds(Scale.timeLimit))
        transport.close()

        #expect(transcript.result == "success")
        #expect(transcript.contentSize == pieces * size)
        #expect(transcript.violations == [])
        #expect(
            !Usage.isMemoryExact || most.withLock { $0 } - before < 64 << 20,
            "grew by \(most.withLock { $0 } - before)"
        )
    }
}

/// A listener that accepts and never answers, without a thread for each connection.
private final class Silence: Sendable {
    let url: URL
    private let state = Locked((accepted: 0, waiting: [(Int, CheckedContinuation<Void, Never>)]()))
    private let descriptor: Int32
    private let done = DispatchGroup()

    init() throws {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(listener, $0, length)
                _ = listen(listener, 4096)
                _ = getsockname(listener, $0, &length)
            }
        }
        descriptor = listener
        url = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: name.sin_port))/")!
        done.enter()
        Thread.detachNewThread { [state, done] in
            var open: [Int32] = []
            while case let accepted = accept(listener, nil, nil), accepted >= 0 {
                open.append(accepted)
                let ready = state.withLock { state in
                    state.accepted += 1
                    let ready = state.waiting.filter { $0.0 <= state.accepted }.map(\.1)
                    state.waiting.removeAll { $0.0 <= state.accepted }
                    return ready
                }
                for continuation in ready { continuation.resume() }
            }
            // If no descriptor is left, the test fails instead of waiting forever.
            let rest = state.withLock { state in
                state.accepted = .max
                defer { state.waiting = [] }
                return state.waiting
            }
            for (_, continuation) in rest { continuation.resume() }
            for descriptor in open + [listener] { close(descriptor) }
            done.leave()
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        done.wait()
    }

    /// Waits until `count` connections were accepted.
    func hasTaken(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.accepted < count { state.waiting.append((count, continuation)) }
                return state.accepted >= count
            }
            if isThere { continuation.resume() }
        }
    }
}
#endif
