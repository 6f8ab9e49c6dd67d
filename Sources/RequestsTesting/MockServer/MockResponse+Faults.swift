// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension MockResponse {
    /// The response, after a time.
    public func delayed(by duration: Duration) -> MockResponse {
        changingSteps { [.pause(duration)] + $0 }
    }

    /// The response, after a time; the same as ``delayed(by:)-(Duration)``, for a switch that starts with the fault.
    public static func delayed(by duration: Duration, _ response: MockResponse) -> MockResponse {
        response.delayed(by: duration)
    }

    /// The response, held until the test opens the gate: before its first byte, or after so many bytes.
    public func held(by gate: Gate, after bytes: Int = 0) -> MockResponse {
        changingSteps { steps in
            let (front, back) = steps.split(after: bytes)
            return front + [.waitFor(gate)] + back
        }
    }

    /// The response in small pieces, head included, with a pause between any two.
    public func dripping(chunkSize: Int = 1, every interval: Duration) -> MockResponse {
        changingSteps { steps in
            var result: [Step] = []
            var hasSent = false
            for step in steps {
                guard case .send(var rest) = step else {
                    result.append(step)
                    continue
                }
                while !rest.isEmpty {
                    if hasSent { result.append(.pause(interval)) }
                    result.append(.send(Data(rest.prefix(max(1, chunkSize)))))
                    rest = rest.dropFirst(max(1, chunkSize))
                    hasSent = true
                }
            }
            return result
        }
    }

    /// A response in small pieces; the same as ``dripping(chunkSize:every:)``, for a switch that starts with the fault.
    public static func dripping(
        _ response: MockResponse,
        chunkSize: Int = 1,
        every interval: Duration
    ) -> MockResponse {
        response.dripping(chunkSize: chunkSize, every: interval)
    }

    /// The response at a speed, head included: never faster, and slower by what a busy machine adds.
    ///
    /// The bytes come in small pieces, 20 in a second, with pauses between them.
    public func throttled(to speed: StubSpeed) -> MockResponse {
        changingSteps { steps in
            let pieceSize = max(1, speed.bytesPerSecond / 20)
            var pause: Duration?
            return steps.flatMap { step -> [Step] in
                guard case .send(var rest) = step else { return [step] }
                var result: [Step] = []
                while !rest.isEmpty {
                    let piece = Data(rest.prefix(pieceSize))
                    if let pause { result.append(.pause(pause)) }
                    result.append(.send(piece))
                    pause = speed.duration(of: piece.count)
                    rest = rest.dropFirst(pieceSize)
                }
                return result
            }
        }
    }

    /// So many bytes of the response, counted from the status line, then the end of the connection.
    public func truncated(after bytes: Int) -> MockResponse {
        changingSteps { $0.split(after: bytes).front + [.close] }
    }

    /// So many bytes of the response, counted from the status line, then a RST: the client reads "connection reset".
    ///
    /// A client that doesn't read for a second may get fewer bytes: a RST throws away what can't be sent.
    public func reset(after bytes: Int = 0) -> MockResponse {
        changingSteps { $0.split(after: bytes).front + [.reset] }
    }

    /// A RST instead of an answer.
    public static var reset: MockResponse { .script([.reset]) }

    /// So many bytes of the response, counted from the status line, then silence until the client leaves.
    public func stalled(after bytes: Int = 0) -> MockResponse {
        changingSteps { $0.split(after: bytes).front + [.stall] }
    }

    /// Silence instead of an answer, until the client leaves.
    public static var stalled: MockResponse { .script([.stall]) }

    /// The response with `Connection: close`, which is then done.
    public var closing: MockResponse {
        var result = changingRender { render in { request, _ in render(request, true) } }
        result.keepsAlive = false
        return result
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
    /// server.route(.post, "/music", .stalled.early)     // reads a few megabytes, then the client has to wait
    /// ```
    public var early: MockResponse {
        var result = closing
        result.isEarly = true
        return result
    }

    /// The end of the connection instead of an answer.
    public static var closed: MockResponse { .script([.close]) }
}

extension [MockResponse.Step] {
    /// The steps that send the first `count` bytes, and those that are left.
    func split(after count: Int) -> (front: [Element], back: [Element]) {
        var left = Swift.max(0, count)
        for (index, step) in enumerated() {
            guard left > 0 else { return (Array(self[..<index]), Array(self[index...])) }
            guard case .send(let data) = step else { continue }
            guard data.count > left else {
                left -= data.count
                continue
            }
            return (
                self[..<index] + [.send(Data(data.prefix(left)))],
                [.send(Data(data.dropFirst(left)))] + self[(index + 1)...]
            )
        }
        return (self, [])
    }
}
