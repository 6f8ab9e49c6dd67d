// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A write with a number that grows within its category.
private struct Write: RequestSpec, Codable {
    var category: Int
    var number: Int
    /// A kilobyte, so that the journal is often replaced.
    var text = String(repeating: "x", count: 1000)

    var request: Post<Void> { Post("writes/\(category)/\(number)").body(.text(text)) }
}

/// Adds writes to an outbox, which sends them, until the process is killed; or sends what is left, and exits.
///
/// The arguments are a folder, the port of a server on the loopback, and the number of the first write, or `drain`. A
/// line of the file `acknowledged` in the folder is a write that was added.
func writeUntilKilled(_ arguments: [String]) async throws {
    guard arguments.count == 3, let port = Int(arguments[1]) else {
        print("usage: RequestsTransportProbe outbox <folder> <port> <number>|drain")
        exit(64)
    }
    let folder = URL(fileURLWithPath: arguments[0], isDirectory: true)
    let start = ContinuousClock.now
    let outbox = try Outbox(
        at: folder.appending(path: "outbox"),
        client: HTTPClient(baseURL: URL(string: "http://127.0.0.1:\(port)"))
    ) {
        $0.connectivity = Connectivity()
        $0.backoff = .constant(.milliseconds(5))
        $0.register(Write.self) { _ in _ = usleep(UInt32.random(in: 0...2000)) }
    }
    guard outbox.damage.isEmpty else { exit(70) }
    guard start.duration(to: .now) < .seconds(1) else { exit(71) }
    guard let first = Int(arguments[2]) else { exit(await outbox.waitUntilDrained() ? 0 : 72) }
    let acknowledged = open(folder.appending(path: "acknowledged").path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    await withThrowingTaskGroup(of: Void.self) { group in
        for category in 0..<4 {
            group.addTask {
                for number in first... {
                    let id = try await outbox.add(Write(category: category, number: number), in: "\(category)")
                    let line = "\(category)/\(number) \(id.uuidString)\n"
                    _ = write(acknowledged, line, line.utf8.count)
                    while outbox.entries.count > 60 { try await Task.sleep(for: .milliseconds(1)) }
                }
            }
        }
    }
    exit(73)
}
