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
    ///
    /// - Complexity: O(1) in memory; O(n) in the number of pieces that the response has already.
    public func dripping(chunkSize: Int = 1, every interval: Duration) -> MockResponse {
        inPieces(of: max(1, chunkSize), every: interval) { _ in interval }
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
    public func throttled(to speed: StubResponse.Speed) -> MockResponse {
        let size = max(1, speed.bytesPerSecond / 20)
        return inPieces(of: size, every: speed.duration(of: size), andBehind: speed.duration)
    }

    /// The response in pieces of a size, head included; behind the last piece of a step, the pause depends on its bytes.
    private func inPieces(
        of size: Int,
        every interval: Duration,
        andBehind pause: @escaping @Sendable (Int) -> Duration
    ) -> MockResponse {
        changingSteps { steps in
            var lastCount: Int?
            return steps.flatMap(\.withoutPieces).flatMap { step -> [Step] in
                guard case .send(let bytes) = step, !bytes.isEmpty else { return [step] }
                defer { lastCount = (bytes.count - 1) % size + 1 }
                return (lastCount.map { [.pause(pause($0))] } ?? []) + [.sendInPieces(bytes, of: size, every: interval)]
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

extension MockResponse.Step {
    /// The bytes that the step sends; nil where it does something else.
    fileprivate var bytes: Data? {
        switch self {
        case .send(let bytes), .sendInPieces(let bytes, _, _): bytes
        case .pause, .waitFor, .stall, .close, .reset: nil
        }
    }

    /// The step with other bytes to send.
    fileprivate func sending(_ bytes: Data) -> Self {
        guard case .sendInPieces(_, let size, let interval) = self else { return .send(bytes) }
        return .sendInPieces(bytes, of: size, every: interval)
    }

    /// The pause that there is behind so many bytes, where a piece ends with them.
    fileprivate func pauseBehind(_ count: Int) -> [Self] {
        guard case .sendInPieces(_, let size, let interval) = self, count % Swift.max(1, size) == 0 else { return [] }
        return [.pause(interval)]
    }

    /// The same without pieces: those that are sent one by one.
    fileprivate var withoutPieces: [Self] {
        guard case .sendInPieces(var rest, let size, let interval) = self else { return [self] }
        var steps: [Self] = []
        while !rest.isEmpty {
            if !steps.isEmpty { steps.append(.pause(interval)) }
            steps.append(.send(Data(rest.prefix(Swift.max(1, size)))))
            rest = rest.dropFirst(Swift.max(1, size))
        }
        return steps
    }
}

extension [MockResponse.Step] {
    /// The steps that send the first `count` bytes, and those that are left.
    func split(after count: Int) -> (front: [Element], back: [Element]) {
        var left = Swift.max(0, count)
        for (index, step) in enumerated() {
            guard left > 0 else { return (Array(self[..<index]), Array(self[index...])) }
            guard let bytes = step.bytes else { continue }
            guard bytes.count > left else {
                left -= bytes.count
                continue
            }
            return (
                self[..<index] + [step.sending(Data(bytes.prefix(left)))],
                step.pauseBehind(left) + [step.sending(Data(bytes.dropFirst(left)))] + self[(index + 1)...]
            )
        }
        return (self, [])
    }
}
