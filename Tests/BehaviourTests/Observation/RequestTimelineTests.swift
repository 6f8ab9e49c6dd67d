// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct RequestTimelineTests {
    private let watch = ManualDate(SampleOperation.start)

    private func recorder(limit: Int = 1000) -> RecordingMonitor {
        RecordingMonitor(limit: limit) { [watch] in watch.now }
    }

    @Test func transfersAreRecordedWithTimes() throws {
        let recorder = recorder()

        SampleOperation(1, monitor: recorder, watch: watch).runThroughEverything()

        let timeline = recorder.timeline
        #expect(timeline.start == SampleOperation.start && timeline.end == .milliseconds(100))
        let transfers = timeline.transfers.map { transfer in
            let duration = transfer.record.metrics?.end ?? (transfer.end ?? transfer.start) - transfer.start
            return "\(transfer.number) \(transfer.record.cause) \(transfer.start) \(duration)"
        }
        #expect(
            transfers == [
                "1 initial 0.005 seconds 0.028 seconds",
                "2 redirect 0.035 seconds 0.01 seconds",
                "3 retry 0.095 seconds 0.005 seconds",
            ]
        )
    }

    @Test func oldestTransfersAreDropped() {
        let recorder = recorder(limit: 3)

        for id in 1...10 {
            let operation = SampleOperation(UInt64(id), monitor: recorder)
            operation.end(operation.begin(1))
        }

        #expect(recorder.timeline.transfers.map(\.operation.id) == [8, 9, 10])
        #expect(recorder.timeline.droppedCount == 7)
    }

    @Test func endlessRetriesKeepLatestTransfers() {
        let recorder = recorder()
        let operation = SampleOperation(1, monitor: recorder)

        for number in 1...5500 { operation.end(operation.begin(number, .retry)) }

        #expect(recorder.timeline.transfers.map(\.number) == Array(4501...5500))
        #expect(recorder.timeline.droppedCount == 4500)
    }

    @Test func droppedTransferEndIsIgnored() {
        let recorder = recorder(limit: 1)
        let operation = SampleOperation(1, monitor: recorder)
        let first = operation.begin(1)
        for number in 2...9 { operation.end(operation.begin(number)) }

        operation.end(first)

        #expect(recorder.timeline.transfers.map(\.number) == [9])
    }

    @Test func bodiesAreNotRetained() throws {
        let recorder = recorder()
        let operation = SampleOperation(1, monitor: recorder)
        var request = SampleOperation.request
        request.body = .data(Data(count: 1_000_000))

        _ = operation.begin(1, .initial, request)

        let transfer = try #require(recorder.timeline.transfers.first)
        #expect(transfer.record.request.body.isEmpty && transfer.contentLength == 1_000_000)
    }

    @Test func timesDoNotDecreaseIfClockIsSetBack() throws {
        let recorder = recorder()
        let operation = SampleOperation(1, monitor: recorder)
        watch.advance(milliseconds: 10)
        let attempt = operation.begin(1)

        watch.advance(milliseconds: -1_000)
        operation.end(attempt)

        let transfer = try #require(recorder.timeline.transfers.first)
        #expect(transfer.start == .milliseconds(10) && transfer.end == .milliseconds(10))
    }

    @Test func invalidDatesDoNotTrap() {
        for interval in [Double.nan, .infinity, -.infinity, 1e300, -1e300] {
            let recorder = RecordingMonitor { Date(timeIntervalSinceReferenceDate: interval) }
            SampleOperation(1, monitor: recorder).runThroughEverything()
            #expect(!recorder.timeline.text().isEmpty)
            #expect(!recorder.timeline.har().isEmpty)
        }
    }

    @Test func resetDiscardsTransfers() {
        let recorder = recorder()
        let operation = SampleOperation(1, monitor: recorder)
        let attempt = operation.begin(1)
        watch.advance(milliseconds: 10)

        recorder.reset()
        operation.end(attempt)

        #expect(recorder.timeline.transfers.isEmpty)
        #expect(recorder.timeline.start == watch.now)
    }
}

@Suite(.bounded) struct TimelineTextTests {
    private let watch = ManualDate(SampleOperation.start)

    @Test func printsOneLinePerTransfer() {
        let recorder = RecordingMonitor { [watch] in watch.now }
        SampleOperation(1, tag: "profile", monitor: recorder, watch: watch).runThroughEverything()
        let other = SampleOperation(2, monitor: recorder, watch: watch)
        _ = other.begin(1)
        watch.advance(milliseconds: 20)

        let text = recorder.timeline.text(width: 100)

        #expect(text == Self.picture, "\(text)")
    }

    static let picture = """
        4 transfers, from 2026-11-21T10:00:00.005Z
        #1.1 “profile” GET https://example.com/users… +*>=<                      28.0 ms 302
        #1.2 “profile” redirect GET https://example.…       --                   10.0 ms 503
        #1.3 “profile” retry GET https://example.com…                   -         5.0 ms 200
        #2.1 GET https://example.com/users/1                             ---- unfinished
        . queue  ? name lookup  + connect  * TLS  > request  = wait  < response  - unknown
        """

    @Test func phasesAreDrawnAsBars() {
        let text = SampleOperation.metrics.text(width: 60)

        #expect(text == Self.bars, "\(text)")
    }

    static let bars = """
        queue        .                                        1.0 ms
        name lookup   ??                                      2.0 ms
        connect         ++++                                  3.0 ms
        TLS                 *****                             4.0 ms
        request                  >>>>>>>                      5.0 ms
        wait                            ========              6.0 ms
        response                                <<<<<<<<<     7.0 ms
        total        http/1.1, 0 bytes sent, 1234 bytes …    28.0 ms
        """

    @Test func linesAreNotTruncatedWithoutWidth() throws {
        var metrics = SampleOperation.metrics
        (metrics.isReusedConnection, metrics.responseBodySize) = (false, 1_234_567)

        let lines = metrics.text().split(separator: "\n")

        #expect(
            try #require(lines.last)
                .hasPrefix("total        http/1.1, new connection, 0 bytes sent, 1234567 bytes received ")
        )
        #expect(Set(lines.map(\.count)).count == 1)
        #expect(TransferRecord.Metrics().text().count == 80)
    }

    @Test func emptyMetricsPrintOnlyTotal() {
        #expect(TransferRecord.Metrics().text(width: 0) == "total" + String(repeating: " ", count: 29) + "0.0 ms")
    }

    @Test(arguments: [Int.min, 0, 85, 86, 99, 300, Int.max])
    func linesFitTheWidth(_ width: Int) {
        let recorder = RecordingMonitor { [watch] in watch.now }
        SampleOperation(1, tag: "ein langer Name 名前名前名前名前名前名前", monitor: recorder, watch: watch)
            .runThroughEverything()

        let lines = recorder.timeline.text(width: width).split(separator: "\n")

        #expect(lines.allSatisfy { $0.unicodeScalars.count <= max(85, min(width, 10_000)) })
    }

    @Test func hostileTextCannotForgeRows() {
        let bad = "x\r\n#9 GetUser\u{1B}[2J\u{202E}"
        let recorder = RecordingMonitor { [watch] in watch.now }
        let operation = SampleOperation(1, tag: bad, monitor: recorder, watch: watch)
        var request = SampleOperation.request
        request.method = HTTPMethod(bad)
        operation.end(operation.begin(1, .initial, request), HTTPStatus(-1))

        let text = recorder.timeline.text(width: 300)

        #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}") && !text.contains("\r"))
        #expect(!text.contains("\n#9"))
    }

    @Test func emptyTimelinePrintsHeader() {
        let text = RecordingMonitor { [watch] in watch.now }.timeline.text()

        #expect(text.hasPrefix("0 transfers, from 2026-11-21T10:00:00.000Z\n"))
    }
}
