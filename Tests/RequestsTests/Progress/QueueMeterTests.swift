// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct QueueMeterTests {
    private final class Name {}
    private let names = (0..<3).map { _ in Name() }
    private var ids: [ObjectIdentifier] { names.map { ObjectIdentifier($0) } }

    private func progress(_ completed: Int64, of total: Int64? = nil) -> TransferProgress {
        TransferProgress(completed: completed, total: total)
    }

    @Test func emptyQueueIsIdleAndComplete() {
        #expect(QueueMeter().progress == QueueProgress(fraction: 1) && QueueMeter().progress.isIdle)
    }

    @Test func requestsContributeEqually() {
        var meter = QueueMeter()
        let isNew = [ids[0], ids[1], ids[0]].map { meter.add($0) }
        #expect(isNew == [true, true, false])
        #expect(meter.progress == QueueProgress(count: 2, fraction: 0))

        meter.update(progress(50, of: 100), .download, of: ids[0])
        #expect(meter.progress == QueueProgress(count: 2, received: 50, fraction: 0.25))
        meter.update(progress(100, of: 100), .download, of: ids[0])
        meter.end(ids[0])
        #expect(meter.progress == QueueProgress(finished: 1, count: 2, received: 100, fraction: 0.5))

        meter.update(progress(7), .download, of: ids[1])
        meter.end(ids[1])
        #expect(meter.progress == QueueProgress(finished: 2, count: 2, received: 107, fraction: 1))
        #expect(meter.progress.isIdle && "\(meter.progress)" == "2 of 2 requests")
    }

    @Test func uploadIsHalfOfRequestProgress() {
        var meter = QueueMeter()
        _ = meter.add(ids[0])

        meter.update(progress(50, of: 100), .upload, of: ids[0])
        #expect(meter.progress == QueueProgress(count: 1, sent: 50, fraction: 0.25))
        meter.update(progress(100, of: 100), .upload, of: ids[0])
        meter.update(progress(5, of: 10), .download, of: ids[0])
        #expect(meter.progress == QueueProgress(count: 1, received: 5, sent: 100, fraction: 0.75))
    }

    @Test func requestAfterCompletionRestartsProgress() {
        var meter = QueueMeter()
        _ = meter.add(ids[0])
        meter.update(progress(10, of: 10), .download, of: ids[0])
        meter.end(ids[0])

        let isNew = meter.add(ids[0])
        #expect(isNew && meter.progress == QueueProgress(count: 1, fraction: 0))
        meter.update(progress(1), .download, of: ids[2])
        meter.end(ids[2])
        #expect(meter.progress == QueueProgress(count: 1, fraction: 0))
    }
}
