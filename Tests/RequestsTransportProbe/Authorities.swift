// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Makes new connections to a server that ends each during the handshake; the exit status is 1 if the process read more
/// than a few kilobytes for each after the first, as it would to parse the system's authorities again.
///
/// The arguments are the port of the server and the number of connections after the first.
func connectWithSystemAuthorities(_ arguments: [String]) async throws {
    let numbers = arguments.compactMap(Int.init)
    guard numbers.count == 2, let url = URL(string: "https://127.0.0.1:\(numbers[0])/") else {
        print("usage: RequestsTransportProbe authorities <port> <number>")
        exit(64)
    }
    let queue = OperationQueue()
    func connect() async {
        do {
            _ = try await queue.fetch(Fetch(url: url))
            exit(66)
        } catch {
            if (error as? RequestError)?.code != .connectionLost { exit(66) }
        }
    }
    await connect()
    let before = try readBytes()
    for _ in 0..<numbers[1] { await connect() }
    exit(try readBytes() - before < numbers[1] * 16 * 1024 ? 0 : 1)
}

/// Returns the number of bytes that this process has read, from files and sockets.
private func readBytes() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix("rchar: ") }
    return line.flatMap { Int($0.dropFirst("rchar: ".count)) } ?? 0
}
