// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A blocking client of bytes: it receives what the server sent, without a library in between.
///
/// A read without data for a minute ends as if the connection had ended, so that a failing test doesn't hang.
final class RawClient {
    private let descriptor: Int32
    private(set) var wasReset = false

    init(port: Int) throws {
        #if canImport(Glibc)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #else
        descriptor = socket(AF_INET, Int32(SOCK_STREAM), 0)
        #endif
        var address = sockaddr_in()
        #if canImport(Darwin)
        address.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw MockConnectionRefused() }
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    deinit { close(descriptor) }

    func send(_ text: String) { _ = send(Data(text.utf8)) }

    /// Sends bytes; returns whether all of them could be sent.
    func send(_ data: Data) -> Bool {
        var bytes = data[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(bytes: $0) }
            guard count > 0 else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }

    func get(_ target: String, fields: String = "") {
        send("GET \(target) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n")
    }

    /// Reads `count` bytes, or fewer if the connection ends.
    func read(_ count: Int) -> String {
        var result: [UInt8] = []
        while result.count < count, let bytes = receive(count - result.count) { result += bytes }
        return String(decoding: result, as: UTF8.self)
    }

    /// Reads up to and including an ASCII text.
    func read(upTo end: String) -> String {
        var result: [UInt8] = []
        while !result.suffix(end.utf8.count).elementsEqual(end.utf8), let byte = receive(1) { result += byte }
        return String(decoding: result, as: UTF8.self)
    }

    /// Reads to the end of the connection.
    func readToEnd() -> String {
        var result: [UInt8] = []
        while let bytes = receive(1 << 16) { result += bytes }
        return String(decoding: result, as: UTF8.self)
    }

    func finishSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    private func receive(_ limit: Int) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = recv(descriptor, &buffer, limit, 0)
        if count < 0 { wasReset = errno == ECONNRESET }
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    private func write(bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
        Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
        #elseif canImport(Glibc)
        Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        #else
        Musl.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        #endif
    }
}

struct MockConnectionRefused: Error {}
