// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension TransportConformance {
    /// The order of events.
    static let events: [Check] = [
        Check("an answer is a head, content and one end", .order, needs: .nothing) { trial in
            let log = try await trial.send("/text")
            trial.expectAnswer(log, content: "text")
        },
        Check("nothing follows the end of many transfers at once", .order, needs: .nothing) { trial in
            let transfers = (0..<32).map { _ in trial.start("/text") }
            for transfer in transfers { trial.expectAnswer(try await trial.finish(transfer), content: "text") }
        },
        Check("sending returns at once", .immediate, needs: .nothing) { trial in
            let start = ContinuousClock.now
            let transfer = trial.start("/stalled")
            let duration = ContinuousClock.now - start
            trial.expect(duration < trial.patience / 2, "send took \(duration) for an answer that never comes")
            transfer.cancel()
            _ = try await trial.finish(transfer)
        },
        Check("a transfer goes on without its handle", .order, needs: .server) { trial in
            let log = Locked(EventLog())
            let end = Gate()
            _ = trial.transport.send(TransportRequest(HTTPRequest(url: trial.url("/drip")))) { event in
                log.withLock { $0.begin(event) }
                log.withLock { $0.finish() }
                if case .end = event { end.open() }
            }
            try await trial.wait(for: end, "no end came")
            trial.expectAnswer(log.withLock { $0 }, content: "01234567")
        },
        Check("interim responses aren't the answer", .order) { trial in
            let hint = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            trial.server.route(.get, "/hints", .raw(hint + hint + answer, keepsAlive: true))
            trial.expectAnswer(try await trial.send("/hints"), content: "ok")
        },
        Check("uploads and downloads report in order", .order, needs: .server) { trial in
            let content = Data(repeating: 0x61, count: 1 << 20)
            let log = try await trial.send("/echo", .post, body: .data(content))
            trial.expectAnswer(log)
            trial.expect(log.content == content, "\(log.content.count) bytes came back, not 1 MiB")
        },
    ]
}
