// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension StubResponse {
    /// One step of a script: what a ``MockServer`` does with its connection.
    public enum Step: Sendable {
        /// Sends the bytes.
        case send(Data)
        /// Waits for a time; the connection ends if the client leaves meanwhile, or the server stops.
        case pause(Duration)
        /// Waits until the gate is open; the connection ends if the client leaves meanwhile, or the server stops.
        case waitFor(Gate)
        /// Does nothing more, until the client leaves or the server stops.
        case stall
        /// Closes the connection with a FIN.
        case close
        /// Closes the connection with a RST.
        case reset
    }

    // MARK: What only a server can do

    /// The steps as they are, each ``Step/send(_:)`` one write, and nothing added to them.
    ///
    /// ```swift
    /// .script([.send(Data("HTTP/1.1 200 OK\r\nContent-Len".utf8)), .pause(.milliseconds(5)), .reset])
    /// ```
    ///
    /// For a ``MockServer``: other transports have no bytes, and end the request with the error `unsupported`, as they
    /// do for ``raw(_:keepsAlive:)-(String,_)`` and ``early``. Modifiers count the bytes of the `send` steps as the
    /// content.
    ///
    /// - Parameters:
    ///   - steps: The steps.
    ///   - keepsAlive: Whether the connection may be used again, unless the client asks for its end.
    /// - Returns: The response.
    public static func script(_ steps: [Step], keepsAlive: Bool = true) -> StubResponse {
        var response = StubResponse(status: nil)
        var pieces: [Data] = []
        var count = 0
        for step in steps {
            switch step {
            case .send(let data):
                pieces.append(data)
                count += data.count
            case .pause(let duration): response.add(.wait(duration), at: count)
            case .waitFor(let gate): response.add(.hold(gate), at: count)
            case .stall: response.add(.stall, at: count)
            case .close: response.add(.close, at: count)
            case .reset: response.add(.reset, at: count)
            }
        }
        (response.content, response.closes) = (.raw(pieces), !keepsAlive)
        return response
    }

    /// Bytes of any kind, garbage included, sent in one write; then the connection closes, unless it is kept alive.
    ///
    /// For a ``MockServer``, as ``script(_:keepsAlive:)`` is.
    public static func raw(_ bytes: Data, keepsAlive: Bool = false) -> StubResponse {
        .script([.send(bytes)], keepsAlive: keepsAlive)
    }

    /// Text of any kind, garbage included, sent in one write; then the connection closes, unless it is kept alive.
    ///
    /// For a ``MockServer``, as ``script(_:keepsAlive:)`` is.
    public static func raw(_ text: String, keepsAlive: Bool = false) -> StubResponse {
        .raw(Data(text.utf8), keepsAlive: keepsAlive)
    }

    /// The response as soon as the head of a request is there: a server that refuses an upload, or breaks it off.
    ///
    /// No `100 Continue` is sent, and the connection closes afterwards. The request is recorded without a body, with
    /// those of its bytes that had come. Works for routes and queues of fixed responses, since a handler decides only
    /// once it has the whole request.
    ///
    /// ```swift
    /// server.route(.post, "/photos", .status(.contentTooLarge).early)
    /// server.route(.post, "/videos", .reset.early)      // in the middle of the upload
    /// server.route(.post, "/music", .never.early)       // reads a few megabytes, then the client has to wait
    /// ```
    ///
    /// For a ``MockServer``, as ``script(_:keepsAlive:)`` is.
    public var early: StubResponse {
        closing.changing { $0.isEarly = true }
    }

    /// The steps with which a server answers the request, which may be the last that its connection carries.
    func steps(for request: ReceivedRequest, isLast: Bool = false) -> [StubPlan.Step] {
        let closes = isLast || !keepsAlive || !request.keepsAlive
        do {
            return try StubPlan(self, to: request, serverCloses: closes).rendered(pace)
        } catch {
            let refusal = StubResponse.text("no response could be made: \(error)\n", status: .internalServerError)
            return refusal.steps(for: request, isLast: isLast)
        }
    }

    /// Whether the connection may be used again after the response, unless the client asks for its end.
    var keepsAlive: Bool { !closes && !headers.requestsClose }
}

// MARK: - Rendering

extension StubPlan {
    /// The steps of a server: the head and the framing are content, which leaves in one write with what follows it.
    ///
    /// - Throws: The error of a failure that a server has no bytes for.
    fileprivate func rendered(_ pace: StubResponse.Pace) throws -> [Step] {
        var result: [Step] = []
        var (bytes, isFirst) = (Data(), true)
        func flush() {
            guard !bytes.isEmpty else { return }
            result.append(.content(ContentFragments(of: bytes, pace: pace, isFirst: isFirst)))
            (bytes, isFirst) = (Data(), false)
        }
        for step in steps {
            switch step {
            case .head(let status, let headers): bytes = headers.head(of: status)
            case .content(let pieces):
                if let size = pieces.startedChunk { bytes += Data("\(String(size, radix: 16))\r\n".utf8) }
                bytes = bytes.isEmpty ? pieces.data : bytes + pieces.data
                if pieces.endsChunk { bytes += Data("\r\n".utf8) }
                flush()
            case .finish(let trailers):
                if let trailers { bytes += Data("0\r\n\(trailers.wireText)\r\n".utf8) }
            case .action(.fail(let error), let phase):
                guard error.code == .connectionLost else {
                    let reason = "a MockServer can't make a request fail with \(error.code); take closed, reset, never"
                    throw RequestError(.unsupported, phase: .sending, reason: reason)
                }
                flush()
                result.append(.action(.reset, phase))
            case .action:
                flush()
                result.append(step)
            }
        }
        flush()
        return result
    }
}

extension HTTPHeaders {
    /// The status line and the fields, up to and including the empty line.
    func head(of status: HTTPStatus) -> Data {
        Data("HTTP/1.1 \(status.code) \(status.name ?? "")\r\n\(wireText)\r\n".utf8)
    }

    /// The fields as they stand on the wire, a line each.
    var wireText: String {
        map { "\($0.name.rawValue): \($0.value)\r\n" }.joined()
    }
}
