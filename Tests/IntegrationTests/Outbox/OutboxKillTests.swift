// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux) || os(macOS)
import Foundation
import Requests
import RequestsOutbox
import RequestsTestSupport
import RequestsTesting
import Testing

/// An outbox whose process is killed at any moment, against a server that counts keys.
@Suite(.bounded) struct OutboxKillTests {
    /// What the server has received.
    private struct Ledger: Sendable {
        /// The keys of each write.
        var keys: [String: Set<String>] = [:]
        /// The writes that were carried out, some of them repeatedly.
        var accepted: [String] = []
        /// The writes with the credentials of another account.
        var foreign: [String] = []
        var requestCount = 0

        /// The writes that were carried out after a newer one of the same account and category.
        var overtaken: [String] {
            var newest: [String: Int] = [:]
            return accepted.filter { write in
                let parts = write.split(separator: "/")
                guard parts.count == 4, let number = Int(parts[3]) else { return true }
                let line = parts[1...2].joined(separator: "/")
                defer { newest[line] = max(newest[line] ?? 0, number) }
                return number < newest[line] ?? 0
            }
        }
    }

    /// A server that closes each connection after its response, so that it is idle when no connection is open.
    ///
    /// It answers requests for `/settle` when it is: before, it may still carry out a request whose client is gone.
    private static func server(_ ledger: Locked<Ledger>, _ random: Locked<SeededRandom>) throws -> MockServer {
        var configuration = MockServer.Configuration()
        configuration.maximumRecordedRequests = 0
        let (server, settlingCount) = (Locked<MockServer?>(nil), Locked(0))
        let made = try MockServer(configuration: configuration) { request in
            let write = String(request.url.path.dropFirst())
            guard write != "settle" else {
                settlingCount.withLock { $0 += 1 }
                while let server = server.withLock(\.self), server.openConnections > settlingCount.withLock(\.self) {
                    usleep(500)
                }
                settlingCount.withLock { $0 -= 1 }
                return .noContent.closing
            }
            let account = write.split(separator: "/").dropFirst().first.map(String.init)
            let chance = random.withLock { Int.random(in: 0..<20, using: &$0) }
            return ledger.withLock { ledger in
                ledger.requestCount += 1
                ledger.keys[write, default: []].insert(request.headers[.idempotencyKey] ?? "none")
                if request.headers["X-Account"] != account { ledger.foreign.append(write) }
                switch chance {
                case 0...1: return .status(.serviceUnavailable).closing
                case 2: return .status(.conflict, headers: [.retryAfter: "0"]).closing
                case 3:
                    ledger.accepted.append(write)
                    return .closed
                default:
                    ledger.accepted.append(write)
                    return .noContent.closing
                }
            }
        }
        server.withLock { $0 = made }
        return made
    }

    /// Runs the writing process until it is killed, and waits until the server has received what it has sent.
    private func run(_ arguments: [String], _ server: MockServer, killedAfter time: Duration) async throws {
        let process = Process()
        process.executableURL = BuiltProgram.url(named: "RequestsTransportProbe")
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        let ended = Gate()
        process.terminationHandler = { _ in ended.open() }
        try process.run()
        // A sleep, rather than a wait for a condition, since the moment of the kill is what varies.
        try await Task.sleep(for: time)
        kill(process.processIdentifier, SIGKILL)
        try? await ended.wait(timeout: .seconds(Scale.timeLimit))
        try #require(process.terminationReason == .uncaughtSignal, "\(process.terminationStatus)")
        _ = try await HTTPRequest(url: server.url("/settle")).send()
    }

    @Test func acknowledgedWritesArriveOnceAndInOrder() async throws {
        let (folder, list) = (TemporaryFolder(), TemporaryFolder())
        #if os(Linux)
        // A disk that becomes full.
        let isSmall = Self.mayMount
        if isSmall {
            try #require(Self.mount(folder.url) == 0)
        } else {
            print("the disk of the outbox doesn't become full: \(Self.mountingNeedsRoot)")
        }
        defer { if isSmall { _ = try? Self.run("/bin/umount", ["-l", folder.url.path]) } }
        #endif
        let (ledger, random) = (Locked(Ledger()), Locked(SeededRandom(Fuzz.seed)))
        let server = try Self.server(ledger, random)
        defer { server.stop() }
        let arguments = ["outbox", folder.url.path, list.url.path, "\(server.port)"]

        let rounds = Scale.pick(10, whole: 1000)
        for round in 0..<rounds {
            let time = random.withLock { Int.random(in: 0...250, using: &$0) }
            try await run(arguments + ["\(round * 10_000)"], server, killedAfter: .milliseconds(time))
        }
        let (status, _) = try await BuiltProgram.run("RequestsTransportProbe", arguments + ["drain"])
        #expect(status == 0)

        let text = try String(contentsOf: list.file("acknowledged"), encoding: .utf8)
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let removed = Set(lines.filter { $0[0] == "removing" && $0.count == 2 }.map { $0[1] })
        let added = lines.filter { $0[0] == "added" && $0.count == 3 && $0[2].count == 36 }
        let kept = added.filter { !removed.contains($0[2]) }
        let end = ledger.withLock { $0 }
        #expect(!kept.isEmpty)
        // Includes writes that arrived as another type, which has another path.
        let lost = Set(kept.map { $0[1] }).subtracting(end.accepted)
        #expect(lost == [], "seed \(Fuzz.seed)")
        let keys = Dictionary(added.map { ($0[1], $0[2]) }) { key, _ in key }
        #expect(end.keys.filter { $0.value.count != 1 || keys[$0.key].map($0.value.contains) == false } == [:])
        #expect(end.overtaken == [], "seed \(Fuzz.seed)")
        #expect(end.foreign == [], "seed \(Fuzz.seed)")
        if Scale.isWhole {
            print(
                "\(rounds) kills: \(added.count) acknowledged, \(removed.count) removed, \(end.requestCount) requests"
            )
        }
    }

    #if os(Linux)
    /// Whether this process may mount a small file system.
    private static let mayMount: Bool = {
        let folder = TemporaryFolder()
        guard geteuid() == 0, (try? mount(folder.url)) == 0 else { return false }
        return (try? run("/bin/umount", [folder.url.path])) == 0
    }()

    private static let mountingNeedsRoot: Comment = "only root may mount a small file system"

    private static func mount(_ folder: URL) throws -> Int32 {
        try run("/bin/mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", folder.path])
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    private struct Write: RequestSpec, Codable {
        var number: Int
        var text = String(repeating: "x", count: 4000)

        var request: Post<Void> { Post("writes/\(number)") }
    }

    /// The reserve is for the ends of entries: without the record of a failure, the next process only sends too early.
    @Test(.enabled(if: mayMount, mountingNeedsRoot)) func failuresOnFullDiskPreserveReserve() async throws {
        let folder = TemporaryFolder()
        try #require(Self.mount(folder.url) == 0)
        defer { _ = try? Self.run("/bin/umount", ["-l", folder.url.path]) }
        let (clock, paths) = (ManualClock(), Recorder<String>())
        let transport = InMemoryTransport { request in
            paths.record(request.url.path)
            return .status(request.url.path == "/writes/503" ? .serviceUnavailable : .noContent)
        }
        let client = HTTPClient(baseURL: URL(string: "https://api.example.com"), transport: transport) {
            $0.clock = clock
        }
        let outbox = try Outbox(at: folder.url.appending(path: "outbox"), client: client) {
            $0.register(Write.self, as: "write")
            $0.backoff = .constant(.seconds(1)).jitter(.none)
            ($0.connectivity, $0.isPaused) = (Connectivity(), true)
        }
        // Each record of a failure repeats the category, and the reserve has 64 KiB.
        let category = String(repeating: "busy", count: 1000)
        try await outbox.add(Write(number: 503), in: category)
        let id = try await outbox.add(Write(number: 1), in: "other")
        let filler = open(folder.file("filler").path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        defer { close(filler) }
        let byte = [UInt8](repeating: 1, count: 4096)
        while write(filler, byte, byte.count) > 0 {}

        outbox.resume()
        while let entry = outbox.entries.first, entry.attempts <= 30 {
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(1))
        }

        try await eventually { !outbox.entries.contains { $0.id == id } }
        #expect(outbox.entries.count == 1)
        #expect(try Data(contentsOf: folder.file("outbox/journal")).count < 20_000)
        #expect(paths.elements.count { $0 == "/writes/1" } == 1)
        outbox.pause()
        try await outbox.removeAll { _ in true }
        #expect(outbox.isEmpty)
    }

    @Test(.enabled(if: mayMount, mountingNeedsRoot)) func fullDiskFailsAddAndLosesNothing() async throws {
        let folder = TemporaryFolder()
        try #require(Self.mount(folder.url) == 0)
        defer { _ = try? Self.run("/bin/umount", ["-l", folder.url.path]) }
        let paths = Recorder<String>()
        let transport = InMemoryTransport { request in
            paths.record(request.url.path)
            return .status(.noContent)
        }
        let client = HTTPClient(baseURL: URL(string: "https://api.example.com"), transport: transport)
        func open(isPaused: Bool) throws -> Outbox {
            try Outbox(at: folder.url.appending(path: "outbox"), client: client) {
                $0.register(Write.self, as: "write")
                ($0.connectivity, $0.isPaused) = (Connectivity(), isPaused)
            }
        }

        let first = try open(isPaused: true)
        var (added, refused) = ([Int](), 0)
        for number in 0..<120 {
            do {
                try await first.add(Write(number: number), in: "a")
                added.append(number)
            } catch let error as FileError {
                #expect(error.code == .diskFull)
                refused += 1
            }
        }
        #expect(added.count > 20 && refused > 20 && first.entries.count == added.count)
        let entries = first.entries
        await first.close()

        let second = try open(isPaused: true)
        #expect(second.entries == entries && second.damage == [])
        second.resume()
        #expect(await second.waitUntilDrained())
        try await second.add(Write(number: 1000), in: "a")
        #expect(await second.waitUntilDrained())
        #expect(paths.elements == (added + [1000]).map { "/writes/\($0)" })
    }
    #endif
}
#endif
