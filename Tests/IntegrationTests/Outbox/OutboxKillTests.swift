// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux) || os(macOS)
import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// An outbox whose process is killed at any moment, against a server that counts keys.
@Suite(.bounded) struct OutboxKillTests {
    /// What the server has received.
    private struct Ledger: Sendable {
        /// The keys of each write.
        var keys: [String: Set<String>] = [:]
        /// The writes that were carried out, in their order, each once.
        var accepted: [String] = []
        var isAccepted: Set<String> = []
        var requestCount = 0
    }

    @Test func everyAcknowledgedWriteArrivesWithOneKeyInItsOrder() async throws {
        let folder = TemporaryFolder()
        let ledger = Locked(Ledger())
        let random = Locked(SeededRandom(Fuzz.seed))
        var configuration = MockServer.Configuration()
        configuration.maximumRecordedRequests = 0
        let server = try MockServer(configuration: configuration) { request in
            let write = String(request.url.path.dropFirst("/writes/".count))
            let isWell = random.withLock { Int.random(in: 0..<5, using: &$0) > 0 }
            return ledger.withLock { ledger in
                ledger.requestCount += 1
                ledger.keys[write, default: []].insert(request.headers[.idempotencyKey] ?? "none")
                if isWell, ledger.isAccepted.insert(write).inserted { ledger.accepted.append(write) }
                return .status(isWell ? .noContent : .serviceUnavailable)
            }
        }

        let rounds = Scale.pick(20, whole: 1000)
        for round in 0..<rounds {
            let process = Process()
            process.executableURL = BuiltProgram.url(named: "RequestsTransportProbe")
            process.arguments = ["outbox", folder.url.path, "\(server.port)", "\(round * 10_000)"]
            process.standardOutput = FileHandle.nullDevice
            let ended = Gate()
            process.terminationHandler = { _ in ended.open() }
            try process.run()
            // A sleep, rather than a wait for a condition, since the moment of the kill is what varies.
            try await Task.sleep(for: .milliseconds(random.withLock { Int.random(in: 0...250, using: &$0) }))
            kill(process.processIdentifier, SIGKILL)
            try? await ended.wait(timeout: .seconds(Scale.timeLimit))
            try #require(process.terminationReason == .uncaughtSignal, "round \(round): \(process.terminationStatus)")
        }
        let (status, _) = try await BuiltProgram.run(
            "RequestsTransportProbe",
            ["outbox", folder.url.path, "\(server.port)", "drain"]
        )
        #expect(status == 0)

        let text = try String(contentsOf: folder.file("acknowledged"), encoding: .utf8)
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let acknowledged = lines.filter { $0.count == 2 && $0[1].count == 36 }
        let end = ledger.withLock { $0 }
        #expect(!acknowledged.isEmpty)
        let lost = acknowledged.filter { end.keys[$0[0]] != [$0[1]] }
        #expect(lost == [], "seed \(Fuzz.seed)")
        #expect(Set(acknowledged.map { $0[0] }).subtracting(end.isAccepted) == [])
        #expect(end.keys.filter { $0.value.count != 1 } == [:])
        for category in 0..<4 {
            let numbers = end.accepted.filter { $0.hasPrefix("\(category)/") }.compactMap { Int($0.dropFirst(2)) }
            #expect(numbers == numbers.sorted(), "category \(category), seed \(Fuzz.seed)")
        }
        if Scale.isWhole {
            print("\(rounds) kills: \(acknowledged.count) acknowledged, \(end.requestCount) requests")
        }
    }

    #if os(Linux)
    /// Whether this process may mount a small file system; otherwise the test is skipped.
    private static let mayMount: Bool = {
        let folder = TemporaryFolder()
        guard geteuid() == 0, (try? mount(folder.url)) == 0 else { return false }
        return (try? run("/bin/umount", [folder.url.path])) == 0
    }()

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

    @Test(.enabled(if: mayMount)) func fullDiskIsAnErrorOfAddAndLosesNothing() async throws {
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
                $0.register(Write.self)
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
