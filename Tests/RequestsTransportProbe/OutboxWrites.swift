// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsOutbox

/// Writes whose types have the same short name, with a number that grows within its account and category.
private protocol Write: RequestSpec, Codable {
    init(account: String, category: Int, number: Int)
}

private enum Notes {
    struct Save: Write {
        var account: String
        var category: Int
        var number: Int
        /// A kilobyte, so that the journal is often replaced.
        var text = String(repeating: "x", count: 1000)

        init(account: String, category: Int, number: Int) {
            (self.account, self.category, self.number) = (account, category, number)
        }

        var request: Post<Void> { Post("note/\(account)/\(category)/\(number)").body(.text(text)) }
    }
}

private enum Tags {
    struct Save: Write {
        var account: String
        var category: Int
        var number: Int

        init(account: String, category: Int, number: Int) {
            (self.account, self.category, self.number) = (account, category, number)
        }

        var request: Put<Void> { Put("tag/\(account)/\(category)/\(number)") }
    }
}

/// Adds writes to an outbox, which sends them, and removes some, until the process is killed; or sends what is left,
/// and exits.
///
/// The disk becomes full from time to time if the folder of the outbox is a small file system; the account and the date
/// change. The arguments are a folder for the outbox, one for the list of acknowledged writes, the port of a server on
/// the loopback, and the number of the first write, or `drain`. A line of the list is a write that was added, or one
/// that is removed next.
private final class Writer: Sendable {
    private static let accounts = ["ada", "bob"]

    private let folder: URL
    private let list: Int32
    private let first: Int?
    private let client: HTTPClient
    private let outbox: Outbox

    init(_ arguments: [String]) throws {
        guard arguments.count == 4, let port = Int(arguments[2]) else {
            print("usage: RequestsTransportProbe outbox <folder> <folder of the list> <port> <number>|drain")
            exit(64)
        }
        folder = URL(fileURLWithPath: arguments[0], isDirectory: true)
        list = open("\(arguments[1])/acknowledged", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        first = Int(arguments[3])
        let isDraining = first == nil
        let start = ContinuousClock.now
        let (credentials, dateError) = (Self.credentials, Self.dateError)
        client = HTTPClient(baseURL: URL(string: "http://127.0.0.1:\(port)")) {
            $0.interceptors.append(
                .adapting { $0.headers.set(HTTPField("X-Account", credentials.withLock(\.self))) }
            )
            if !isDraining { $0.now = { Date(timeIntervalSinceNow: dateError.withLock(\.self)) } }
        }
        outbox = try Outbox(at: folder.appending(path: "outbox"), client: client) {
            $0.connectivity = Connectivity()
            $0.backoff = .constant(.milliseconds(5))
            $0.isPaused = true
            $0.register(Notes.Save.self, as: "note") { _ in _ = usleep(UInt32.random(in: 0...2000)) }
            $0.register(Tags.Save.self, as: "tag")
        }
        guard outbox.damage.isEmpty else { exit(70) }
        guard start.duration(to: .now) < .seconds(2) else { exit(71) }
    }

    private static let credentials = Locked("none")
    /// The error of the date, in seconds.
    private static let dateError = Locked(0.0)

    private func logIn(_ account: String) async {
        outbox.account = nil
        // The server may still carry out a request that was cancelled here.
        _ = try? await client.send(HTTPRequest("settle"))
        Self.credentials.withLock { $0 = account }
        outbox.account = account
        outbox.resume()
    }

    private func note(_ line: String) { _ = write(list, "\(line)\n", line.utf8.count + 1) }

    /// Sends what is left; returns whether nothing is.
    private func drain() async -> Bool {
        unlink(folder.appending(path: "filler").path)
        for account in Self.accounts {
            await logIn(account)
            await outbox.waitUntilDrained()
        }
        return outbox.isEmpty
    }

    private func add<W: Write>(_ type: W.Type, _ kind: String, _ account: String, _ category: Int, _ number: Int) async
    {
        let write = W(account: account, category: category, number: number)
        // On a full disk, it isn't acknowledged.
        guard let id = try? await outbox.add(write, in: "\(category)") else { return }
        note("added \(kind)/\(account)/\(category)/\(number) \(id.uuidString)")
    }

    /// Adds and removes writes until the process is killed.
    private func run(from first: Int) async {
        for number in first... {
            switch Int.random(in: 0..<20) {
            case 0:
                await logIn(Self.accounts.randomElement() ?? "")
            case 1:
                Self.dateError.withLock { $0 = .random(in: -100_000...100_000) }
            case 2...3:
                guard let entry = outbox.entries.randomElement() else { break }
                note("removing \(entry.id.uuidString)")
                try? await outbox.remove(entry.id)
            default:
                let account = outbox.account ?? ""
                await withTaskGroup(of: Void.self) { group in
                    for category in 0..<4 where Bool.random() {
                        group.addTask { [self] in
                            if Bool.random() {
                                await add(Notes.Save.self, "note", account, category, number)
                            } else {
                                await add(Tags.Save.self, "tag", account, category, number)
                            }
                        }
                    }
                }
            }
            while outbox.entries.count > 60 { try? await Task.sleep(for: .milliseconds(1)) }
        }
    }

    /// Fills the disk and empties it, again and again, unless it is a large one.
    private func fill() async {
        let path = folder.appending(path: "filler").path
        var status = statvfs()
        guard statvfs(folder.path, &status) == 0, UInt64(status.f_blocks) * UInt64(status.f_frsize) < 10_000_000 else {
            return
        }
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        let bytes = [UInt8](repeating: 1, count: 4096)
        while true {
            for _ in 0..<20 {
                while write(file, bytes, bytes.count) > 0 {}
                while write(file, bytes, 64) > 0 {}
                try? await Task.sleep(for: .milliseconds(Int.random(in: 0...2)))
            }
            ftruncate(file, 0)
            try? await Task.sleep(for: .milliseconds(Int.random(in: 0...40)))
        }
    }

    func run() async -> Int32 {
        guard let first else { return await drain() ? 0 : 72 }
        await logIn(Self.accounts.randomElement() ?? "")
        async let filling: Void = fill()
        await run(from: first)
        await filling
        return 73
    }
}

func writeUntilKilled(_ arguments: [String]) async throws { exit(await (try Writer(arguments)).run()) }
