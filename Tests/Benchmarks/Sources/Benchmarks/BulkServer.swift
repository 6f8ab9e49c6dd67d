// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

#if canImport(Glibc)
import Glibc
private let streamSocket = Int32(SOCK_STREAM.rawValue)
#else
private let streamSocket = SOCK_STREAM
#endif

/// A server of large content in a process of its own: it gives as many zeros as the path says, and swallows whatever
/// is posted.
///
/// Plain sockets and one buffer, so that it is faster than whoever talks to it.
final class BulkServer {
    let url: URL
    private let process = Process()
    private let input = Pipe()

    init() throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["--bulk"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let url = URL(string: line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw URLError(.badURL)
        }
        self.url = url
    }

    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Serves until standard input ends; what the other process does.
    static func serve() throws {
        signal(SIGPIPE, SIG_IGN)
        let listener = socket(AF_INET, streamSocket, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw URLError(.cannotConnectToHost) }
        print("http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/")
        fflush(nil)
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                answer(connection)
                close(connection)
            }
        }
        _ = FileHandle.standardInput.readDataToEndOfFile()
    }

    /// Answers one request, and has the connection end with it.
    private static func answer(_ connection: Int32) {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var head = Data()
        while head.range(of: Data("\r\n\r\n".utf8)) == nil {
            let count = read(connection, &buffer, buffer.count)
            guard count > 0 else { return }
            head += buffer[..<count]
        }
        guard let end = head.range(of: Data("\r\n\r\n".utf8))?.upperBound else { return }
        let lines = String(decoding: head[..<end], as: UTF8.self).components(separatedBy: "\r\n")
        let target = lines[0].split(separator: " ")[1]
        let length = lines.first { $0.lowercased().hasPrefix("content-length:") }?.split(separator: " ").last
        var rest = (length.flatMap { Int($0) } ?? 0) - (head.count - end)
        while rest > 0 {
            let count = read(connection, &buffer, min(rest, buffer.count))
            guard count > 0 else { return }
            rest -= count
        }
        var content = Int(target.dropFirst()) ?? 0
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(content)\r\nConnection: close\r\n\r\n"
        _ = Array(answer.utf8).withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
        buffer = [UInt8](repeating: 0, count: 1 << 20)
        while content > 0 {
            let count = write(connection, buffer, min(content, buffer.count))
            guard count > 0 else { return }
            content -= count
        }
    }
}
