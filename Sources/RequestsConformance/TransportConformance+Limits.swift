// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

extension TransportConformance {
    /// The checks of timeouts and size limits.
    static let limits: [Check] = [
        Check("content of exactly the maximum size is accepted", .limits, needs: .server) { trial in
            let log = try await trial.finish(trial.start("/flood/1", maximumBodySize: 1 << 16))
            trial.expectResponse(log, byteCount: 1 << 16)
        },
        Check("larger content is an error, or left to the operation", .limits, needs: .server) { trial in
            let log = try await trial.finish(trial.start("/flood/16", maximumBodySize: 1024))
            if log.error != nil { return trial.expectError(log, .bodyTooLarge) }
            trial.expectResponse(log, byteCount: 1 << 20)
        },
        Check("a transfer times out before the response", .limits, needs: .server) { trial in
            try await trial.expectTimeout("/stalled")
        },
        Check("a transfer times out while receiving the content", .limits, needs: .server) { trial in
            try await trial.expectTimeout("/begun")
        },
        Check("a transfer times out while sending the body", .limits, needs: .server) { trial in
            let body = HTTPBody.data(Data(count: 64 << 20))
            let transfer = trial.start("/upload", .post, body: body, timeout: .milliseconds(500))
            trial.expectError(try await trial.finish(transfer), .timedOut)
        },
        Check("unresponsive connections time out in parallel", .limits) { trial in
            try await trial.expectSimultaneousTimeouts()
        },
        Check("a timeout of less than a second allows a fast response", .limits) { trial in
            trial.server.route(.get, "/late", .text("late").delayed(by: .milliseconds(50)))
            let log = try await trial.finish(trial.start("/late", timeout: .milliseconds(900)))
            trial.expectResponse(log, content: "late")
        },
        Check("a timeout limits the idle time, not the total time", .limits, needs: .server) { trial in
            try await trial.expectSlowResponse("/drip", content: "01234567")
        },
        Check("a slow head doesn't time out while bytes arrive", .limits) { trial in
            // Each line arrives within the timeout. All lines together take several times as long, because a busy
            // machine may notice a timeout late.
            let fields = HTTPHeaders((10..<26).map { HTTPField(HTTPField.Name("X-Drip-\($0)"), "0123456789") })
            let response = StubResponse.text("drip", headers: fields).dripping(by: 16, every: .milliseconds(60))
            trial.server.route(.get, "/slow", response)
            try await trial.expectSlowResponse("/slow", content: "drip")
        },
        Check("a pause doesn't count as idle time", .limits, needs: .server, with: .pausing) { trial in
            try await trial.expectNoTimeoutInPause()
        },
    ]
}

extension ConformanceTrial {
    /// Expects a response that takes longer than the timeout, but is never idle for that long.
    fileprivate func expectSlowResponse(_ target: String, content: String) async throws {
        let timeout = Duration.milliseconds(400)
        var (attempts, log, duration) = (0, EventLog(), Duration.zero)
        // A transfer may stall on a busy machine, so only one of several attempts must succeed.
        repeat {
            attempts += 1
            let transfer = start(target, timeout: timeout)
            log = try await finish(transfer)
            duration = transfer.duration
        } while log.error?.code == .timedOut && attempts < 4
        expectResponse(log, content: content)
        expect(log.error != nil || duration > timeout, "the response arrived too early for the check")
    }

    /// Expects that transfers to a server that never accepts them time out simultaneously.
    fileprivate func expectSimultaneousTimeouts() async throws {
        var configuration = MockServer.Configuration()
        configuration.maximumConnections = 1
        let busy = try MockServer(configuration: configuration) { _ in .never }
        // The first transfer occupies the only connection. The operating system accepts further connections, but their
        // TLS handshakes get no response.
        let first = start(busy.url.absoluteString)
        do {
            try await busy.awaitRequest(timeout: maximumWait)
        } catch {
            return recordProblem("no request reached the server")
        }
        let timeout = Duration.milliseconds(500)
        var durations: [Duration] = []
        var attempts = 0
        // A busy machine may delay a timeout, so only one of several attempts must be on time.
        repeat {
            attempts += 1
            let transfers = (0..<8).map { start("https://127.0.0.1:\(busy.port)/\($0)", timeout: timeout) }
            for transfer in transfers { expectError(try await finish(transfer), .timedOut, .cannotConnect) }
            durations = transfers.map(\.duration)
        } while durations.contains { $0 > timeout * 3 } && attempts < 3
        first.cancel()
        expect(
            durations.allSatisfy { $0 <= timeout * 3 },
            "8 transfers with a timeout of \(timeout) ended after \(durations)"
        )
    }

    /// Expects that a transfer continues after a pause longer than the timeout, during which the server must wait.
    fileprivate func expectNoTimeoutInPause() async throws {
        let (timeout, count) = (Duration.milliseconds(500), 256)
        var (attempts, log) = (0, EventLog())
        // A transfer may stall on a busy machine before or after the pause, so only one of several attempts must
        // succeed.
        repeat {
            attempts += 1
            let begun = Gate()
            let transfer = start("/flood/\(count)", timeout: timeout) { event, transfer in
                switch event {
                case .head:
                    transfer.pause()
                    begun.open()
                case .end: begun.open()
                default: break
                }
            }
            try await wait(for: begun, "no head was reported")
            transfer.pause()
            if transfer.log.head != nil, !transfer.log.hasEnded {
                try await Task.sleep(for: timeout * 3)
                let isOver = transfer.log.hasEnded
                expect(!isOver, "a transfer paused for \(timeout * 3) timed out after \(timeout)")
                transfer.resume()
            }
            log = try await finish(transfer)
        } while log.error?.code == .timedOut && problems.isEmpty && attempts < 4
        expectResponse(log, byteCount: count << 16)
    }

    /// Expects that an idle transfer ends soon after the timeout, and never before it.
    fileprivate func expectTimeout(_ target: String) async throws {
        let timeout = Duration.milliseconds(300)
        var durations: [Duration] = []
        // A busy machine may delay a timeout but never advance it, so only one of several attempts must be on time.
        repeat {
            let transfer = start(target, timeout: timeout)
            expectError(try await finish(transfer), .timedOut)
            durations.append(transfer.duration)
        } while durations.last.map { $0 > timeout * 2 } == true && durations.count < 8
        // The clocks of the transport and of this check may differ by a tick.
        expect(
            durations.allSatisfy { $0 > timeout - .milliseconds(2) },
            "transfers with a timeout of \(timeout) ended after \(durations)"
        )
        expect(
            durations.contains { $0 <= timeout * 2 },
            "transfers with a timeout of \(timeout) ended after \(durations)"
        )
    }
}
