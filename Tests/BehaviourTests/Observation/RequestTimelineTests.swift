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

    @Test func everythingIsRecordedWithItsTime() throws {
        let recorder = recorder()

        SampleOperation(1, monitor: recorder, watch: watch).runThroughEverything()

        let timeline = recorder.timeline
        let entry = try #require(timeline.entries.first)
        #expect(timeline.start == SampleOperation.start && timeline.end == .milliseconds(100))
        #expect(entry.created == .zero && entry.started == .milliseconds(5) && entry.ended == .milliseconds(100))
        #expect(entry.outcome == .success)
        let steps = entry.steps.map { step in
            switch step {
            case .attempt(let span):
                "\(span.number) \(span.cause) \(span.start) \(span.metrics?.end ?? (span.end ?? span.start) - span.start)"
            case .wait(let pause): "wait \(pause.start) \(pause.end ?? .zero) \(pause.delay) \(pause.reason)"
            case .authentication(let wait): "\(wait.step) \(wait.start) \(wait.end ?? .zero)"
            }
        }
        #expect(
            steps == [
                "1 initial 0.005 seconds 0.028 seconds",
                "2 redirect 0.035 seconds 0.01 seconds",
                "wait 0.045 seconds 0.095 seconds 0.05 seconds unacceptableStatus",
                "3 retry 0.095 seconds 0.005 seconds",
            ]
        )
    }

    @Test func oldestOperationsAreForgotten() {
        let recorder = recorder(limit: 3)

        for id in 1...10 {
            let operation = SampleOperation(UInt64(id), monitor: recorder)
            operation.make()
            operation.end()
        }
        SampleOperation(1, monitor: recorder).start()  // Removed: nothing is recorded.

        #expect(recorder.timeline.entries.map(\.operation.id) == [8, 9, 10])
        #expect(recorder.timeline.forgotten == 7)
    }

    @Test func operationThatTriesForEverKeepsItsLastSteps() throws {
        let recorder = recorder()
        let operation = SampleOperation(1, monitor: recorder)
        operation.make()

        for number in 1...1500 { operation.end(operation.begin(number, .retry)) }

        let entry = try #require(recorder.timeline.entries.first)
        #expect(entry.steps.count == 1000 && entry.forgottenSteps == 500)
    }

    @Test func contentsAreNotKept() throws {
        let recorder = recorder()
        let operation = SampleOperation(1, monitor: recorder)
        var request = SampleOperation.request
        request.body = .data(Data(count: 1_000_000))
        operation.make()

        _ = operation.begin(1, .initial, request)

        guard case .attempt(let span) = try #require(recorder.timeline.entries.first?.steps.first) else {
            Issue.record("no attempt")
            return
        }
        #expect(span.request.body.isEmpty && span.contentLength == 1_000_000)
    }

    @Test func clockThatIsSetBackStandsStill() throws {
        let recorder = recorder()
        let operation = SampleOperation(1, monitor: recorder)
        watch.advance(milliseconds: 10)
        operation.make()

        watch.advance(milliseconds: -1_000)
        operation.start()
        operation.end(operation.begin(1))
        operation.end()

        let entry = try #require(recorder.timeline.entries.first)
        #expect(entry.created == .milliseconds(10) && entry.ended == .milliseconds(10))
    }

    @Test func invalidTimesDontTrap() {
        for interval in [Double.nan, .infinity, -.infinity, 1e300, -1e300] {
            let recorder = RecordingMonitor { Date(timeIntervalSinceReferenceDate: interval) }
            SampleOperation(1, monitor: recorder).runThroughEverything()
            #expect(!recorder.timeline.text().isEmpty)
            #expect(!recorder.timeline.har().isEmpty)
        }
    }

    @Test func recordingStartsOver() {
        let recorder = recorder()
        let operation = SampleOperation(1, monitor: recorder)
        operation.make()
        watch.advance(milliseconds: 10)

        recorder.reset()
        operation.end()

        #expect(recorder.timeline.entries.isEmpty)
        #expect(recorder.timeline.start == watch.now)
    }

    @Test func deferredRequestIsKnownInTheEnd() {
        let recorder = recorder()
        var operation = SampleOperation(1, monitor: recorder)
        operation.make()

        operation.operation.requestType = "Later"
        operation.start()

        #expect(recorder.timeline.entries.first?.operation.requestType == "Later")
    }
}

@Suite(.bounded) struct TimelineTextTests {
    private let watch = ManualDate(SampleOperation.start)

    @Test func rowsAreOperationsAttemptsAndWaits() {
        let recorder = RecordingMonitor { [watch] in watch.now }
        SampleOperation(1, tag: "profile", monitor: recorder, watch: watch).runThroughEverything()
        let other = SampleOperation(2, monitor: recorder, watch: watch)
        other.make()
        other.start()
        _ = other.begin(1)
        watch.advance(milliseconds: 20)

        let text = recorder.timeline.text(width: 100)

        #expect(text == Self.picture, "\(text)")
    }

    static let picture = """
        2 operations, from 2026-11-21T10:00:00.000Z
        #1 GetUser “profile”                .---------------------------         100.0 ms success
          1 GET https://example.com/users/1  ?+*>==<<                             28.0 ms 302
          2 redirect GET https://example.c…          ---                          10.0 ms 503
            wait                                        ~~~~~~~~~~~~~~            50.0 ms unacceptableStatus
          3 retry GET https://example.com/b                           --           5.0 ms 200
        #2 GetUser                                                      ------   not over
          1 GET https://example.com/users/1                             ------   not over
        . queue  ? name lookup  + connect  * TLS  > request  = wait  < response  x failing  - under way
        ~ until the retry  @ credential
        """

    @Test func phasesOfAnAttemptAreBars() {
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

    @Test func metricsWithoutAnythingAreAnEmptyTotal() {
        #expect(Metrics().text(width: 0) == "total" + String(repeating: " ", count: 29) + "0.0 ms")
    }

    @Test(arguments: [Int.min, 0, 60, 61, 99, 300, Int.max])
    func linesFitTheWidth(_ width: Int) {
        let recorder = RecordingMonitor { [watch] in watch.now }
        SampleOperation(1, tag: "ein langer Name 名前名前名前名前名前名前", monitor: recorder, watch: watch)
            .runThroughEverything()

        let lines = recorder.timeline.text(width: width).split(separator: "\n")

        #expect(lines.allSatisfy { $0.unicodeScalars.count <= max(60, min(width, 10_000)) })
    }

    @Test func hostileTextForgesNoRow() {
        let bad = "x\r\n#9 GetUser\u{1B}[2J\u{202E}"
        let recorder = RecordingMonitor { [watch] in watch.now }
        let operation = SampleOperation(1, tag: bad, monitor: recorder, watch: watch)
        operation.make()
        var request = SampleOperation.request
        request.method = HTTPMethod(bad)
        operation.end(operation.begin(1, .initial, request), HTTPStatus(-1))
        operation.end()

        let text = recorder.timeline.text(width: 300)

        #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}") && !text.contains("\r"))
        #expect(!text.contains("\n#9"))
    }

    @Test func noOperationsAreAPictureToo() {
        let text = RecordingMonitor { [watch] in watch.now }.timeline.text()

        #expect(text.hasPrefix("0 operations, from 2026-11-21T10:00:00.000Z\n"))
    }

    @Test func aWaitForACredentialIsDrawn() throws {
        let recorder = RecordingMonitor { [watch] in watch.now }
        let operation = SampleOperation(1, monitor: recorder, watch: watch)
        operation.make()
        operation.start()
        operation.report(.authenticationStarted(.refresh))
        watch.advance(milliseconds: 50)
        operation.report(.authenticationEnded(.refresh, isGranted: true))
        operation.end(operation.begin(1))
        operation.end()

        guard case .authentication(let wait) = try #require(recorder.timeline.entries.first?.steps.first) else {
            Issue.record("no wait")
            return
        }
        let line = try #require(recorder.timeline.text().split(separator: "\n").first { $0.contains("refresh") })
        #expect(wait.start == .zero && wait.end == .milliseconds(50) && wait.isGranted == true)
        #expect(line.contains("@@@") && line.contains("50.0 ms") && line.hasSuffix("granted"))
    }
}
