// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension TransportConformance {
    /// How long and how much.
    static let limits: [Check] = [
        Check("content of exactly the limit isn't too large", .limits) { trial in
            trial.server.route(.get, "/limit", .text(String(repeating: "x", count: 1024)))
            let log = try await trial.finish(trial.start("/limit", maximumBodySize: 1024))
            trial.expectAnswer(log)
            trial.expect(log.content.count == 1024, "\(log.content.count) bytes of 1024 arrived")
        },
        Check("content beyond the limit is an error, or left to the operation", .limits) { trial in
            trial.server.route(.get, "/large", .text(String(repeating: "x", count: 1 << 20)))
            let log = try await trial.finish(trial.start("/large", maximumBodySize: 1024))
            if log.error != nil { return trial.expectError(log, .bodyTooLarge) }
            trial.expect(
                log.content.count == 1 << 20,
                "the content ended after \(log.content.count) bytes without an error"
            )
        },
        Check("silence before the answer ends at the timeout", .limits) { trial in
            try await trial.expectTimeout("/stalled")
        },
        Check("silence in the content ends at the timeout", .limits) { trial in
            trial.server.route(.get, "/begun", .begun(then: .stall))
            try await trial.expectTimeout("/begun")
        },
        Check("silence in an upload ends at the timeout", .limits) { trial in
            trial.server.route(.post, "/upload", .stalled.early)
            let transfer = trial.start(
                "/upload",
                .post,
                body: .data(.init(count: 64 << 20)),
                timeout: .milliseconds(500)
            )
            trial.expectError(try await trial.finish(transfer), .timedOut)
        },
        Check("an answer within a timeout below a second is an answer", .limits) { trial in
            trial.server.route(.get, "/late", .text("late").delayed(by: .milliseconds(50)))
            let log = try await trial.finish(trial.start("/late", timeout: .milliseconds(900)))
            trial.expectAnswer(log, content: "late")
        },
        Check("a timeout is about silence and not about all", .limits) { trial in
            let head = Data("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n".utf8)
            let drops = (0..<8).flatMap { [MockResponse.Step.pause(.milliseconds(100)), .send(Data("\($0)".utf8))] }
            try await trial.expectPatience(.script([.send(head)] + drops), content: "01234567")
        },
        Check("a head that drips is no silence", .limits) { trial in
            try await trial.expectPatience(
                .text("drip").dripping(chunkSize: 16, every: .milliseconds(100)),
                content: "drip"
            )
        },
    ]
}

extension ConformanceTrial {
    /// Expects that an answer, which takes longer than the timeout and is never silent for as long, arrives.
    fileprivate func expectPatience(_ response: MockResponse, content: String) async throws {
        let timeout = Duration.milliseconds(400)
        server.route(.get, "/drip", response)
        var (tries, log, start) = (0, EventLog(), ContinuousClock.now)
        // A busy machine is silent at times: of some answers, one has to arrive.
        repeat {
            (tries, start) = (tries + 1, .now)
            log = try await finish(self.start("/drip", timeout: timeout))
        } while log.error?.code == .timedOut && tries < 4
        expectAnswer(log, content: content)
        expect(log.error != nil || ContinuousClock.now - start > timeout, "the answer came too soon to tell anything")
    }

    /// Expects an end after the silence of a timeout: never before, and not long after.
    fileprivate func expectTimeout(_ target: String) async throws {
        let timeout = Duration.milliseconds(300)
        var durations: [Duration] = []
        // A busy machine makes any one late, and none early: the best of some has to be on time.
        repeat {
            let start = ContinuousClock.now
            let log = try await finish(self.start(target, timeout: timeout))
            durations.append(ContinuousClock.now - start)
            expectError(log, .timedOut)
        } while durations.last.map { $0 > timeout * 2 } == true && durations.count < 8
        // The clocks of two sides may differ by a tick.
        expect(
            durations.allSatisfy { $0 > timeout - .milliseconds(2) },
            "\(timeout) of silence ended after \(durations)"
        )
        expect(durations.contains { $0 <= timeout * 2 }, "\(timeout) of silence ended after \(durations)")
    }
}
