// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

extension TransportConformance {
    /// The checks of cancellation at every stage of a transfer.
    static let cancellation: [Check] = [
        cancelCheck("right after sending", needs: .nothing) { $0.start("/stalled") },
        Check("cancelling before the first event ends the transfer", .cancel, needs: .server) { trial in
            let content = Data(repeating: 0x61, count: 1 << 16)
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try content.write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let stream = HTTPBody.stream(HTTPBody.Stream(length: 1 << 16) { InputStream(data: content) })
            for body in [HTTPBody.data(content), .file(file), stream] {
                let transfer = trial.start("/upload", .post, body: body)
                try await trial.expectCancelled(transfer)
                trial.expect(transfer.log.head == nil, "a head was reported for a request without a response")
            }
        },
        Check("nothing is sent after a cancellation", .cancel) { trial in
            // A transport that limits its connections delays some of these requests, and must not send any of those
            // once they are cancelled.
            let stalled = (0..<64).map { _ in trial.start("/stalled") }
            try await trial.awaitRequest()
            let cancelled = (0..<64).map { trial.start("/cancelled?\($0)") }
            for transfer in cancelled { try await trial.expectCancelled(transfer) }
            func arrivals() -> Int { trial.server.requests.count { $0.path == "/cancelled" } }
            try await Task.sleep(for: .milliseconds(100))
            let count = arrivals()
            for transfer in stalled { try await trial.expectCancelled(transfer) }
            try await trial.expectStillWorking(after: "128 cancellations")
            try await Task.sleep(for: .milliseconds(200))
            trial.expect(arrivals() == count, "\(arrivals() - count) requests were sent after their cancellation")
        },
        cancelCheck("while waiting for the response", needs: .server) { trial in
            let transfer = trial.start("/stalled")
            try await trial.awaitArrival()
            return transfer
        },
        cancelCheck("while sending the body", needs: .server) { trial in
            // The body is larger than the sockets' buffers.
            let transfer = trial.start("/upload", .post, body: .data(Data(count: 64 << 20)))
            try await trial.awaitArrival()
            return transfer
        },
        cancelCheck("while receiving the head") { trial in
            let read = Gate()
            let start = Data("HTTP/1.1 200 OK\r\nContent-Le".utf8)
            trial.server.route(.get, "/head", .script([.send(start), .waitFor(read), .stall]))
            let transfer = trial.start("/head")
            try await trial.awaitRequest()
            read.open()
            return transfer
        },
        cancelCheck("while receiving the content", needs: .server) { trial in
            let transfer = trial.start("/begun")
            try await trial.wait(for: transfer.content, "no content was reported")
            return transfer
        },
        cancelCheck("while receiving a flood of content") { trial in
            // The last bytes are never sent, so the transfer is still active whenever the check cancels it.
            trial.server.route(.get, "/flood", .flood(count: 512).stalled(after: 512 << 16))
            let transfer = trial.start("/flood")
            try await trial.wait(for: transfer.content, "no content was reported")
            return transfer
        },
        Check("cancelling after the end has no effect", .cancel, needs: .nothing) { trial in
            let transfer = trial.start("/text")
            trial.expectResponse(try await trial.finish(transfer), content: "text")
            transfer.cancel()
            transfer.cancel()
            trial.expect(transfer.log.error == nil, "the end was replaced: \(transfer.log)")
        },
        Check("concurrent cancellations have the effect of one", .cancel, needs: .nothing) { trial in
            let transfer = trial.start("/stalled")
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<16 { group.addTask { transfer.cancel() } }
            }
            try await trial.expectCancelled(transfer)
        },
        Check("cancelling inside an event handler ends the transfer", .unlocked, needs: .server) { trial in
            let inHead = trial.start("/begun") { event, transfer in
                if case .head = event { transfer.cancel() }
            }
            trial.expectError(try await trial.finish(inHead), .cancelled, context: "the cancellation in the head")
            let inData = trial.start("/begun") { event, transfer in
                if case .data = event { transfer.cancel() }
            }
            trial.expectError(try await trial.finish(inData), .cancelled, context: "the cancellation in the content")
            let inEnd = trial.start("/text") { event, transfer in
                if case .end = event { transfer.cancel() }
            }
            trial.expectResponse(try await trial.finish(inEnd), content: "text")
        },
        Check("cancelling at any moment leads to exactly one end", .cancel, needs: .server) { trial in
            // An HTTP/2 server treats many resets as an attack, and closes the connection.
            let count = trial.usesExternalServer ? 100 : 1000
            for number in 0..<count {
                let transfer = trial.start("/text")
                // The delays cover the duration of a response, so that transfers are cancelled before, during and after
                // it.
                let delay = Duration.microseconds(number * 37 % 1500)
                async let cancel: Void = {
                    try? await Task.sleep(for: delay)
                    transfer.cancel()
                }()
                let log = try await trial.finish(transfer)
                await cancel
                if log.error == nil {
                    trial.expectResponse(log, content: "text", "transfer \(number)")
                } else {
                    trial.expectError(log, .cancelled, context: "transfer \(number)")
                }
            }
            try await trial.expectStillWorking(after: "\(count) cancellations")
        },
    ]
}

extension TransportConformance {
    /// Creates a check that a cancellation ends a transfer, and that the transport still works.
    private static func cancelCheck(
        _ moment: String,
        needs need: Need = .script,
        start: @escaping @Sendable (ConformanceTrial) async throws -> ObservedTransfer
    ) -> Check {
        Check("cancelling \(moment) ends the transfer", .cancel, needs: need) { trial in
            try await trial.expectCancelled(try await start(trial))
            try await trial.expectStillWorking(after: "the cancellation")
        }
    }
}

extension ConformanceTrial {
    fileprivate func expectCancelled(_ transfer: ObservedTransfer) async throws {
        transfer.cancel()
        transfer.cancel()
        expectError(try await finish(transfer), .cancelled)
    }
}
