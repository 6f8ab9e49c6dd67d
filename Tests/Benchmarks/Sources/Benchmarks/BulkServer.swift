// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A server of large content: it sends the number of zeros in the path, and discards uploads.
///
/// It uses plain sockets and one buffer, so that it is faster than its clients.
enum BulkServer {
    /// Serves until standard input ends; runs in a separate process.
    static func serve() throws {
        try ServerProcess.takeConnections(backlog: 16) { connection in
            answer(connection)
            close(connection)
        }
    }

    /// Responds to one request, after which the connection closes.
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
