// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A connection of a server, which reads requests and sends responses on a separate thread.
///
/// The socket is non-blocking. Every wait is a single `poll` for the socket, the server's stop signal and, if a gate
/// holds the response, the opening of that gate. The wait ends with the first of these events.
struct Connection {
    let number: Int
    let socket: Socket
    let core: ServerCore
    private var parser = RequestParser()
    /// Whether the client half-closed the connection while a response was pending; if so, the connection no longer
    /// counts as open.
    private(set) var didReceiveFIN = false
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    init(number: Int, socket: Socket, core: ServerCore) {
        (self.number, self.socket, self.core) = (number, socket, core)
    }

    /// The maximum byte count of buffered requests, after which the connection stops reading while it waits.
    private static let pipelineLimit = 4 << 20

    /// Responds to requests until either side ends the connection; the caller closes the socket.
    mutating func run() {
        var left = max(1, core.configuration.maximumRequestsPerConnection ?? .max)
        while let (request, response) = nextResponse() {
            left -= 1
            if case .socket(let script) = response.content { return serve(response, script, to: request) }
            guard perform(response.steps(for: request, isLast: left == 0)) else { return }
            guard left > 0, response.keepsAlive, request.keepsAlive else { return finish() }
        }
    }

    private mutating func nextResponse() -> (ReceivedRequest, StubResponse)? {
        while true {
            switch parser.next() {
            case .request(let message):
                return core.respond(to: message, on: number)
            case .head(let head, let expectsContinue):
                let early = core.respondEarly(to: parser.partialMessage(head), on: number)
                if let early { return early }
                guard expectsContinue else { continue }
                guard send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)) else { return nil }
            case .malformed(let status, let reason):
                // There is no valid request to respond to, so use a placeholder.
                let request = ReceivedRequest(target: "/", method: .get, headers: [], body: Data())
                return (request, .text("\(reason)\n", status: status).closing)
            case nil:
                guard let data = receiveData() else { return nil }
                parser.feed(data)
            }
        }
    }

    private mutating func read() -> Socket.Transfer {
        let transfer = buffer.withUnsafeMutableBytes { socket.receive(into: $0) }
        if case .moved(let count) = transfer { parser.feed(buffer[..<count]) }
        return transfer
    }

    /// Whether the server was stopped; must be checked where no wait for the socket would reveal that.
    var isStopped: Bool { core.state.withLock { $0.isStopped } }

    /// Waits for bytes, and returns them; `nil` if the client has stopped sending, or the server is stopped.
    mutating func receiveData() -> Data? {
        // If a client never stops sending, reading never waits, so only this check reveals that the server was stopped.
        while !isStopped {
            switch buffer.withUnsafeMutableBytes({ socket.receive(into: $0) }) {
            case .moved(let count): return Data(buffer[..<count])
            case .finished, .ended: return nil
            case .blocked: guard wait(for: POLLIN) == .ready else { return nil }
            }
        }
        return nil
    }

    /// Waits until a gate is open, without reading; returns `false` if the connection breaks, or the server is stopped.
    func awaitOpening(of gate: Gate) -> Bool {
        guard !gate.isOpen else { return true }
        guard let wakeup = try? Wakeup() else { return false }
        let observation = gate.whenOpen { wakeup.signal() }
        defer { gate.removeAction(observation) }
        return wait(for: 0, wakeup: wakeup) == .passed
    }

    /// Performs the steps of a response; returns whether all were performed and the connection is intact.
    mutating func perform(_ steps: [StubPlan.Step]) -> Bool {
        for step in steps {
            switch step {
            case .content(let fragments):
                for (pause, data) in fragments {
                    guard pause <= .zero || idle(until: .now + pause), send(data) else { return false }
                }
            case .action(.wait(let duration), _):
                guard idle(until: .now + duration) else { return false }
            case .action(.hold(let gate), _):
                guard idle(until: gate) else { return false }
            case .action(.stall, _):
                idleUntilDisconnect()
                return false
            case .action(.close, _):
                finish()
                return false
            case .action(.reset, _):
                // A RST discards unsent bytes. A client that is reading receives them within microseconds, so wait up
                // to a second.
                let deadline = ContinuousClock.now + .seconds(1)
                while hasUnsentBytes(socket.descriptor), ContinuousClock.now < deadline,
                    wait(for: 0, until: .now + .milliseconds(1)) == .passed
                {}
                socket.resetOnDisposal()
                return false
            case .head, .finish, .action(.fail, _): break
            }
        }
        return true
    }

    /// Sends bytes; returns whether all of them were sent.
    mutating func send(_ data: Data) -> Bool {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                switch socket.send(UnsafeRawBufferPointer(rebasing: rest)) {
                case .moved(let count): rest = rest.dropFirst(count)
                case .finished, .ended: return false
                case .blocked: guard wait(for: POLLOUT) == .ready else { return false }
                }
            }
            return true
        }
    }

    private mutating func idle(until gate: Gate) -> Bool {
        guard !gate.isOpen else { return true }
        guard let wakeup = try? Wakeup() else { return false }
        let observation = gate.whenOpen { wakeup.signal() }
        defer { gate.removeAction(observation) }
        return idle(wakeup: wakeup)
    }

    /// Waits for a deadline or a wakeup; returns `false` if the client disconnects or the server stops first.
    ///
    /// While waiting, the client's next request is read and buffered, because only reading reveals whether the client
    /// is still connected. A client that half-closes the connection still gets its response, because its FIN doesn't
    /// show whether the client has also stopped reading. Only sending reveals that.
    private mutating func idle(until deadline: ContinuousClock.Instant? = nil, wakeup: Wakeup? = nil) -> Bool {
        while true {
            let listens = !didReceiveFIN && parser.pendingCount < Self.pipelineLimit
            switch wait(for: listens ? POLLIN : 0, until: deadline, wakeup: wakeup) {
            case .passed: return true
            case .stopped: return false
            case .ready:
                // After a FIN, any further event means that the connection is broken.
                guard !didReceiveFIN else { return false }
                switch read() {
                case .moved, .blocked: continue
                case .ended: return false
                case .finished:
                    didReceiveFIN = true
                    core.recordClosedConnection()
                }
            }
        }
    }

    /// Waits until the client half-closes the connection or disconnects, or the server is stopped; used when no
    /// response follows.
    private mutating func idleUntilDisconnect() {
        while !didReceiveFIN, wait(for: parser.pendingCount < Self.pipelineLimit ? POLLIN : 0) == .ready {
            guard ![.finished, .ended].contains(read()) else { return }
        }
    }

    /// Ends the connection so that the client receives all bytes that were sent.
    ///
    /// Closing a socket with unread bytes sends a RST, which may overtake the response (RFC 9112, 9.6). So this method
    /// sends a FIN first, and discards incoming bytes for up to a second.
    mutating func finish() {
        guard socket.hasUnreadBytes || !parser.isBetweenRequests else { return }
        socket.finishSending()
        let deadline = ContinuousClock.now + .seconds(1)
        while true {
            switch buffer.withUnsafeMutableBytes({ socket.receive(into: $0) }) {
            // If the client never stops sending, disconnect it after a second.
            case .moved: guard ContinuousClock.now < deadline, !isStopped else { return }
            case .finished, .ended: return
            case .blocked: guard wait(for: POLLIN, until: deadline) == .ready else { return }
            }
        }
    }

    private enum WaitOutcome {
        /// The socket has an event to handle.
        case ready
        /// The deadline has passed, or the wakeup was signalled.
        case passed
        case stopped
    }

    private func wait(
        for events: Int32,
        until deadline: ContinuousClock.Instant? = nil,
        wakeup: Wakeup? = nil
    ) -> WaitOutcome {
        var descriptors = [
            core.stopSignal.pollDescriptor, pollfd(fd: socket.descriptor, events: Int16(events), revents: 0),
        ]
        if let wakeup { descriptors.append(wakeup.pollDescriptor) }
        guard awaitReadiness(&descriptors, until: deadline) else { return deadline == nil ? .stopped : .passed }
        if descriptors[0].revents != 0 { return .stopped }
        if descriptors.count > 2, descriptors[2].revents != 0 { return .passed }
        return .ready
    }
}
