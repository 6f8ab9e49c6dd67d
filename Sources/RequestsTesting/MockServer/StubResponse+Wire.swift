// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension StubResponse {
    /// A step of a script that a ``MockServer`` performs on a connection.
    public enum Step: Sendable {
        /// Sends the bytes.
        case send(Data)
        /// Waits for a time; the connection ends if the client disconnects or the server stops first.
        case pause(Duration)
        /// Waits until the gate is open; the connection ends if the client disconnects or the server stops first.
        case waitFor(Gate)
        /// Stalls until the client disconnects or the server stops.
        case stall
        /// Closes the connection with a FIN.
        case close
        /// Closes the connection with a RST.
        case reset
    }

    // MARK: Server-only responses

    /// Creates a response from steps, which are performed verbatim: each ``Step/send(_:)`` is one write, and nothing is
    /// added.
    ///
    /// ```swift
    /// .script([.send(Data("HTTP/1.1 200 OK\r\nContent-Len".utf8)), .pause(.milliseconds(5)), .reset])
    /// ```
    ///
    /// Requires a ``MockServer``. Other transports don't send bytes, so the request fails with the code `unsupported`,
    /// as for ``raw(_:keepsAlive:)-(String,_)`` and ``early``. For modifiers, the content consists of the bytes of all
    /// `send` steps.
    ///
    /// - Parameters:
    ///   - steps: The steps.
    ///   - keepsAlive: Whether the connection may be reused, unless the client requests to close it.
    /// - Returns: The response.
    public static func script(_ steps: [Step], keepsAlive: Bool = true) -> StubResponse {
        var response = StubResponse(status: nil)
        var writes: [Data] = []
        var count = 0
        for step in steps {
            switch step {
            case .send(let data):
                writes.append(data)
                count += data.count
            case .pause(let duration): response.add(.wait(duration), at: count)
            case .waitFor(let gate): response.add(.hold(gate), at: count)
            case .stall: response.add(.stall, at: count)
            case .close: response.add(.close, at: count)
            case .reset: response.add(.reset, at: count)
            }
        }
        (response.content, response.closes) = (.raw(writes), !keepsAlive)
        return response
    }

    /// Creates a response from arbitrary bytes, which are sent in one write; then the connection closes, unless it is
    /// kept alive.
    ///
    /// Requires a ``MockServer``, like ``script(_:keepsAlive:)``.
    public static func raw(_ bytes: Data, keepsAlive: Bool = false) -> StubResponse {
        .script([.send(bytes)], keepsAlive: keepsAlive)
    }

    /// Creates a response from arbitrary text, which is sent in one write; then the connection closes, unless it is
    /// kept alive.
    ///
    /// Requires a ``MockServer``, like ``script(_:keepsAlive:)``.
    public static func raw(_ text: String, keepsAlive: Bool = false) -> StubResponse {
        .raw(Data(text.utf8), keepsAlive: keepsAlive)
    }

    /// The same response, sent as soon as the head of a request has arrived, as by a server that rejects or aborts an
    /// upload.
    ///
    /// No `100 Continue` is sent, and the connection closes after the response. The request is recorded without a body,
    /// but with the bytes that were received. Early responses work in routes and in the queue, but not in handlers,
    /// which run only after the request is complete.
    ///
    /// ```swift
    /// server.route(.post, "/photos", .status(.contentTooLarge).early)
    /// server.route(.post, "/videos", .reset.early)      // in the middle of the upload
    /// server.route(.post, "/music", .never.early)       // reads a few megabytes, then the client has to wait
    /// ```
    ///
    /// Requires a ``MockServer``, like ``script(_:keepsAlive:)``.
    public var early: StubResponse {
        closing.changing { $0.isEarly = true }
    }

    /// Returns the steps of the response for a server; `isLast` is whether the server closes the connection afterwards.
    func steps(for request: ReceivedRequest, isLast: Bool = false) -> [StubPlan.Step] {
        let closes = isLast || !keepsAlive || !request.keepsAlive
        do {
            return try StubPlan(self, to: request, serverCloses: closes).rendered(pace)
        } catch {
            let refusal = StubResponse.text("no response could be created: \(error)\n", status: .internalServerError)
            return refusal.steps(for: request, isLast: isLast)
        }
    }

    /// Whether the connection may be reused after the response, unless the client requests to close it.
    var keepsAlive: Bool { !closes && !headers.requestsClose }
}

// MARK: - Rendering

extension StubPlan {
    /// Returns the steps for a server, with the head and the chunk framing as part of the content.
    ///
    /// The head and the framing are sent in one write with the content that follows them.
    ///
    /// - Throws: The error of a failure that a server can't simulate.
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
            case .content(let fragments):
                if let size = fragments.startedChunk { bytes += Data("\(String(size, radix: 16))\r\n".utf8) }
                bytes = bytes.isEmpty ? fragments.data : bytes + fragments.data
                if fragments.endsChunk { bytes += Data("\r\n".utf8) }
                flush()
            case .finish(let trailers):
                if let trailers { bytes += Data("0\r\n\(trailers.wireText)\r\n".utf8) }
            case .action(.fail(let error), let phase):
                guard error.code == .connectionLost else {
                    let reason = "a MockServer can't simulate \(error.code); use .closed, .reset or .never"
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
    /// Returns the status line and the header fields, including the empty line after them.
    func head(of status: HTTPStatus) -> Data {
        Data("HTTP/1.1 \(status.code) \(status.name ?? "")\r\n\(wireText)\r\n".utf8)
    }

    /// The fields in the format of HTTP/1.1, one per line.
    var wireText: String {
        map { "\($0.name.rawValue): \($0.value)\r\n" }.joined()
    }
}
