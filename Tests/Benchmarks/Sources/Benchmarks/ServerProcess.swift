// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

#if canImport(Glibc)
import Glibc
private let streamSocket = Int32(SOCK_STREAM.rawValue)
#else
private let streamSocket = SOCK_STREAM
#endif

/// This program as a server in a separate process, whose processor time and descriptors aren't the client's.
///
/// It ends with its standard input, so that it never outlives the client.
final class ServerProcess {
    let url: URL
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ arguments: String...) throws {
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        guard let url = URL(string: Self.line(from: output)) else { throw URLError(.badURL) }
        self.url = url
    }

    /// Waits for the server's next line.
    func line() -> String { Self.line(from: output) }

    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    private static func line(from output: Pipe) -> String {
        String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    // MARK: In the other process

    /// Sends a line to the client.
    static func tell(_ line: String) {
        print(line)
        fflush(nil)
    }

    /// Accepts connections at a free port, whose address it prints, until standard input ends.
    static func takeConnections(backlog: Int32, _ take: @escaping @Sendable (Int32) -> Void) throws {
        signal(SIGPIPE, SIG_IGN)
        let listener = socket(AF_INET, streamSocket, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, backlog) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw URLError(.cannotConnectToHost) }
        tell("http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/")
        Thread.detachNewThread {
            while case let connection = accept(listener, nil, nil), connection >= 0 { take(connection) }
        }
        _ = FileHandle.standardInput.readDataToEndOfFile()
    }
}
