// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension StubResponse {
    /// One step of a script: what a ``MockServer`` does with its connection.
    public enum Step: Sendable {
        /// Sends the bytes.
        case send(Data)
        /// Sends the bytes in pieces of a size, at least 1, with a pause between two pieces.
        case sendInPieces(Data, of: Int, every: Duration)
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
        var response = StubResponse(status: nil, content: .script(steps))
        response.closes = !keepsAlive
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

    /// The steps with which a ``MockServer`` answers the request: what a fault of your own is made of.
    ///
    /// ```swift
    /// server.route(.get, "/twice") { request in
    ///     let steps = StubResponse.text("hello").steps(for: request)
    ///     return .script(steps + steps)
    /// }
    /// ```
    public func steps(for request: RecordedRequest) -> [Step] {
        steps(for: request, isLast: false)
    }

    /// The steps with which a server answers the request, which may be the last that its connection carries.
    func steps(for request: RecordedRequest, isLast: Bool) -> [Step] {
        let closes = isLast || !keepsAlive || !request.keepsAlive
        do {
            let plan = try StubPlan(self, to: StubPlan.Request(request), peer: .server(closes: closes))
            return pace.applied(to: try plan.wireSteps())
        } catch {
            let refusal = StubResponse.text("no response could be made: \(error)\n", status: .internalServerError)
            return refusal.steps(for: request, isLast: isLast)
        }
    }

    /// Whether the connection may be used again after the response, unless the client asks for its end.
    var keepsAlive: Bool { !closes && !headers.askForClose }
}

// MARK: - Rendering

/// A failure that a server has no bytes for.
private struct UnservableFailure: Error, CustomStringConvertible {
    let error: RequestError

    var description: String {
        """
        a MockServer can't make a request fail with \(error.code); \
        take closed, reset, truncated(after:), stalled(after:) or never
        """
    }
}

extension StubPlan {
    /// The plan as a server does it; the head leaves together with the content that follows it, in one write.
    ///
    /// - Throws: ``UnservableFailure``.
    fileprivate func wireSteps() throws -> [StubResponse.Step] {
        var result: [StubResponse.Step] = []
        var bytes = Data()
        for step in steps {
            var next: StubResponse.Step?
            switch step {
            case .head(let status, let headers):
                bytes = headers.head(of: status)
                continue
            case .content(let pieces):
                if let size = pieces.startedChunk { bytes += Data("\(String(size, radix: 16))\r\n".utf8) }
                bytes = bytes.isEmpty && pieces.data.startIndex == 0 ? pieces.data : bytes + pieces.data
                if pieces.endsChunk { bytes += Data("\r\n".utf8) }
            case .finish(let trailers):
                if let trailers { bytes += Data("0\r\n\(trailers.wireText)\r\n".utf8) }
            case .wait(let duration): next = .pause(duration)
            case .hold(let gate): next = .waitFor(gate)
            case .stall: next = .stall
            case .close: next = .close
            case .reset: next = .reset
            case .wire(let step): next = step
            case .fail(let error):
                guard error.code == .connectionLost else { throw UnservableFailure(error: error) }
                next = .reset
            }
            if !bytes.isEmpty { result.append(.send(bytes)) }
            bytes = Data()
            if let next { result.append(next) }
        }
        return result
    }
}

extension StubResponse.Pace {
    /// The steps with their bytes in pieces, head included.
    ///
    /// - Complexity: O(n) in the number of steps, however many pieces there are.
    fileprivate func applied(to steps: [StubResponse.Step]) -> [StubResponse.Step] {
        guard let size = pieceSize ?? speed?.bytesPerPiece else { return steps }
        var lastCount: Int?
        return steps.flatMap { step -> [StubResponse.Step] in
            guard case .send(let bytes) = step, !bytes.isEmpty else { return [step] }
            defer { lastCount = (bytes.count - 1) % size + 1 }
            return (lastCount.map { [.pause(time(of: $0))] } ?? [])
                + [.sendInPieces(bytes, of: size, every: time(of: size))]
        }
    }

    /// The time from one piece to the next, for a piece of `count` bytes.
    private func time(of count: Int) -> Duration {
        pause + (speed?.duration(of: count) ?? .zero)
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
