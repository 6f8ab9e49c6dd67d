// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// What one transfer has received so far: turns libcurl's callbacks into the events that a transport owes.
///
/// It does nothing itself, and knows no handle. Three things it sees to that libcurl leaves to its users: a head without
/// its empty line is no response, though libcurl counts it as success; lines after the head are trailers; and there is a
/// limit to everything.
struct CurlTransferState: Sendable {
    /// How large the parts of a response may be.
    struct Limits: Sendable {
        /// The bytes of one head.
        var head = 256 * 1024
        /// The lines of one head.
        var headLines = 1_000
        /// The responses before the final one (RFC 9110, 15.2).
        var informational = 100
        /// The bytes of the content, decoded.
        var body = Int.max
    }

    /// Why a transfer was ended from this side.
    enum Stop: Sendable, Hashable {
        case cancelled
        case timedOut
        case headTooLarge
        case bodyTooLarge
        case transportClosed
    }

    /// What a line of a head, or a piece of content, leads to.
    enum Reception: Sendable {
        /// Nothing to tell yet.
        case more
        /// Something to tell.
        case event(TransferEvent)
        /// The transfer has to end.
        case abort
    }

    private enum Phase: Sendable, Hashable {
        case head
        case body
        case ended
    }

    private let url: URL
    private let limits: Limits
    private var phase = Phase.head
    private var head: [UInt8] = []
    private var headLines = 0
    private var informational = 0
    private var received = 0
    private(set) var stopped: Stop?

    init(url: URL, limits: Limits) {
        self.url = url
        self.limits = limits
    }

    /// Takes a line of a head, or a trailer.
    mutating func receiveLine(_ line: UnsafeRawBufferPointer) -> Reception {
        guard stopped == nil else { return .abort }
        guard phase == .head else { return .more }
        if line.starts(with: "HTTP/".utf8) {
            head.removeAll(keepingCapacity: true)
            headLines = 0
        }
        headLines += 1
        guard head.count + line.count <= limits.head, headLines <= limits.headLines else { return abort(.headTooLarge) }
        head.append(contentsOf: line)
        guard line.isEmptyLine else { return .more }
        return endHead()
    }

    private mutating func endHead() -> Reception {
        let response = HTTPResponseHead(status: HTTPStatus(Self.status(of: head)), raw: head, url: url)
        head = []
        guard response.status.category == .informational, response.status != .switchingProtocols else {
            phase = .body
            return .event(.head(response))
        }
        informational += 1
        return informational <= limits.informational ? .event(.informational(response)) : abort(.headTooLarge)
    }

    /// Takes a piece of the content; the caller copies the bytes where they are to be delivered.
    mutating func receiveBody(_ count: Int) -> Bool {
        guard stopped == nil, phase == .body else { return false }
        guard count <= limits.body - received else {
            stopped = .bodyTooLarge
            return false
        }
        received += count
        return true
    }

    /// Ends the transfer from this side; false where it has ended, or is ending, already.
    mutating func stop(_ reason: Stop) -> Bool {
        guard phase != .ended, stopped == nil else { return false }
        stopped = reason
        return true
    }

    /// Takes the result of the transfer, and gives the terminal event; nil where there was one.
    mutating func end(_ result: CurlResult) -> TransferEvent? {
        guard phase != .ended else { return nil }
        let errorPhase: RequestError.Phase = phase == .body ? .receiving : .sending
        defer { phase = .ended }
        switch stopped {
        case .cancelled:
            return .end(RequestError(.cancelled, phase: errorPhase))
        case .timedOut:
            return .end(RequestError(.timedOut, phase: errorPhase, underlying: URLError(.timedOut)))
        case .headTooLarge:
            let reason = "the head of the response is larger than the limit"
            return .end(RequestError(.badResponse, phase: .receiving, reason: reason))
        case .bodyTooLarge:
            return .end(RequestError(.bodyTooLarge, phase: .receiving, reason: "more than \(limits.body) bytes"))
        case .transportClosed:
            return .end(RequestError(.cancelled, phase: errorPhase, reason: "the transport was closed"))
        case nil:
            break
        }
        if let error = result.error(phase: errorPhase) { return .end(error) }
        guard phase == .body else {
            let reason = "the connection ended in the middle of the head"
            return .end(RequestError(.connectionLost, phase: .receiving, reason: reason))
        }
        return .end(nil)
    }

    private mutating func abort(_ reason: Stop) -> Reception {
        stopped = reason
        return .abort
    }

    /// The code of a status line, which libcurl has checked: what stands behind the first space.
    private static func status(of head: [UInt8]) -> Int {
        head.drop { $0 != UInt8(ascii: " ") }.dropFirst().prefix { $0.isDigit }.prefix(3)
            .reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

extension UnsafeRawBufferPointer {
    fileprivate var isEmptyLine: Bool {
        switch count {
        case 1: self[0] == UInt8(ascii: "\n")
        case 2: self[0] == UInt8(ascii: "\r") && self[1] == UInt8(ascii: "\n")
        default: false
        }
    }
}
#endif
