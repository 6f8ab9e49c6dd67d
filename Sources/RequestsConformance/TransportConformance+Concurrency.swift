// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

extension TransportConformance {
    /// The checks of concurrent requests and of pausing.
    static let concurrency: [Check] = [
        Check("concurrent requests receive their own responses", .exact, needs: .server) { trial in
            let numbers = 0..<64
            let transfers = numbers.map { number in
                let headers: HTTPHeaders = ["X-Number": "\(number)"]
                return trial.start("/echo?\(number)", .post, headers: headers, body: .text("body \(number)"))
            }
            for (number, transfer) in zip(numbers, transfers) {
                let log = try await trial.finish(transfer)
                trial.expectResponse(log, content: "body \(number)", "request \(number)")
            }
            guard !trial.usesExternalServer else { return }
            let seen = trial.server.requests.map { "\($0.target) \($0.headers["X-Number"] ?? "") \($0.text)" }
            let sent = numbers.map { "/echo?\($0) \($0) body \($0)" }
            trial.expect(
                seen.sorted() == sent.sorted(),
                "\(seen.count) requests were sent, or some of them were changed"
            )
        },
        Check("a stalled transfer doesn't block others", .exact, needs: .server) { trial in
            let stalled = trial.start("/stalled")
            try await trial.awaitArrival()
            for _ in 0..<4 { try await trial.expectStillWorking(after: "a stalled transfer") }
            stalled.cancel()
            _ = try await trial.finish(stalled)
        },
        Check("a connection that the server closed isn't reused", .exact) { trial in
            for _ in 0..<5 { trial.expectResponse(try await trial.send("/last"), content: "last") }
            trial.expect(trial.server.connectionCount == 5, "\(trial.server.connectionCount) connections, expected 5")
        },
        Check("pausing stops the peer, and resuming delivers the rest", .capabilities, needs: .server, with: .pausing) {
            trial in
            // The content is larger than all buffers between the server and the client.
            let count = 1024
            let transfer = try await trial.startPaused("/flood/\(count)")
            let byteCount = await trial.byteCount(whenIdle: transfer)
            trial.expect(!transfer.log.hasEnded, "the transfer ended despite the pause")
            trial.expect(byteCount < count << 15, "\(byteCount) bytes were received after the pause")
            transfer.resume()
            trial.expectResponse(try await trial.finish(transfer), byteCount: count << 16)
        },
        Check("a paused transfer can be cancelled", .cancel, needs: .server, with: .pausing) { trial in
            let transfer = try await trial.startPaused("/flood/1024")
            transfer.cancel()
            trial.expectError(try await trial.finish(transfer), .cancelled)
        },
        Check("pausing and resuming at any moment loses no content", .capabilities, needs: .server, with: .pausing) {
            trial in
            let transfer = trial.start("/flood/64") { event, transfer in
                if case .data = event { transfer.pause() }
                if case .data = event { transfer.resume() }
            }
            for _ in 0..<200 where !transfer.log.hasEnded {
                transfer.pause()
                transfer.resume()
                await Task.yield()
            }
            transfer.resume()
            trial.expectResponse(try await trial.finish(transfer), byteCount: 64 << 16)
            transfer.pause()
            transfer.resume()
        },
    ]
}

extension ConformanceTrial {
    /// Starts a transfer, and pauses it when its head arrives.
    fileprivate func startPaused(_ target: String) async throws -> ObservedTransfer {
        let transfer = start(target) { event, transfer in
            if case .head = event { transfer.pause() }
        }
        try await wait(for: transfer.head, "no head was reported")
        transfer.pause()
        return transfer
    }

    /// Returns the number of content bytes received once no more have arrived for 150 milliseconds.
    fileprivate func byteCount(whenIdle transfer: ObservedTransfer) async -> Int {
        let deadline = ContinuousClock.now + maximumWait
        var byteCount = -1
        while byteCount != transfer.log.content.count, ContinuousClock.now < deadline {
            byteCount = transfer.log.content.count
            try? await Task.sleep(for: .milliseconds(150))
        }
        return byteCount
    }
}

// MARK: - Events

extension TransportConformance {
    /// The checks of the order of events.
    static let events: [Check] = [
        Check("a response is a head, content and one end", .order, needs: .nothing) { trial in
            let log = try await trial.send("/text")
            trial.expectResponse(log, content: "text")
        },
        Check("no event follows the end of concurrent transfers", .order, needs: .nothing) { trial in
            let transfers = (0..<32).map { _ in trial.start("/text") }
            for transfer in transfers { trial.expectResponse(try await trial.finish(transfer), content: "text") }
        },
        Check("sending returns immediately", .immediate, needs: .nothing) { trial in
            let start = ContinuousClock.now
            let transfer = trial.start("/stalled")
            let duration = ContinuousClock.now - start
            trial.expect(duration < trial.maximumWait / 2, "`send` took \(duration) without a response")
            transfer.cancel()
            _ = try await trial.finish(transfer)
        },
        Check("a transfer continues after its handle is released", .order, needs: .server) { trial in
            let log = Locked(EventLog())
            let end = Gate()
            _ = trial.transport.send(TransportRequest(HTTPRequest(url: trial.url("/drip")))) { event in
                log.withLock { $0.begin(event) }
                log.withLock { $0.finish() }
                if case .end = event { end.open() }
            }
            try await trial.wait(for: end, "no end was reported")
            trial.expectResponse(log.withLock { $0 }, content: "01234567")
        },
        Check("interim responses aren't the final response", .order) { trial in
            let hint = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            trial.server.route(.get, "/hints", .raw(hint + hint + answer, keepsAlive: true))
            trial.expectResponse(try await trial.send("/hints"), content: "ok")
        },
    ]
}
