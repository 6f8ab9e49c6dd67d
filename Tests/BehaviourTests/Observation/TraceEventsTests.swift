// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

/// The Trace Event Format, as a reader sees it.
private struct Trace: Decodable {
    struct Event: Decodable {
        let ph: String
        let name: String
        let pid: Int
        let tid: Int
        let ts: Int64?
        let dur: Int64?
        let cat: String?
        let args: [String: JSONValue]

        var range: Range<Int64> { (ts ?? 0)..<((ts ?? 0) + (dur ?? 0)) }
    }

    let traceEvents: [Event]
    let otherData: [String: String]

    var slices: [Event] { traceEvents.filter { $0.ph == "X" } }

    /// The number of pairs of slices in one lane that overlap without nesting; readers drop these.
    var crossings: Int {
        let lanes = Dictionary(grouping: slices, by: \.tid).values
        return lanes.reduce(0) { count, slices in
            count
                + slices.indices.reduce(0) { count, index in
                    let range = slices[index].range
                    return count
                        + slices[(index + 1)...].count { other in
                            range.overlaps(other.range) && range.clamped(to: other.range) != range
                                && range.clamped(to: other.range) != other.range
                        }
                }
        }
    }
}

@Suite(.bounded) struct TraceEventsTests {
    private let watch = ManualDate(SampleOperation.start)
    private let recorder: RecordingMonitor

    init() {
        recorder = RecordingMonitor { [watch] in watch.now }
    }

    private func read() throws -> Trace {
        try JSONDecoder().decode(Trace.self, from: recorder.timeline.traceEvents())
    }

    @Test func operationIsASliceAndHoldsWhatItDid() throws {
        SampleOperation(1, monitor: recorder, watch: watch).runThroughEverything()

        let trace = try read()

        let slices = trace.slices.filter { $0.cat != "phase" }.map { "\($0.name) \($0.range)" }
        #expect(
            slices == [
                "#1 GetUser 0..<100000",
                "waiting for its turn 0..<5000",
                "GET https://example.com/users/1 5000..<33000",
                "GET https://example.com/b 35000..<45000",
                "waiting for the retry 45000..<95000",
                "GET https://example.com/b 95000..<100000",
            ]
        )
        let phases = trace.slices.filter { $0.cat == "phase" }.map { "\($0.name) \($0.range)" }
        #expect(
            phases == [
                "queue 5000..<6000", "name lookup 6000..<8000", "connect 8000..<11000", "TLS 11000..<15000",
                "request 15000..<20000", "wait 20000..<26000", "response 26000..<33000",
            ]
        )
        #expect(trace.crossings == 0)
        #expect(trace.otherData["start"] == "2026-11-21T10:00:00.000Z")
    }

    @Test func operationsThatOverlapHaveLanesOfTheirOwnAndShareThemOtherwise() throws {
        let operations = (1...3).map { SampleOperation($0, monitor: recorder, watch: watch) }
        operations[0].make()
        watch.advance(milliseconds: 1)
        operations[1].make()
        watch.advance(milliseconds: 1)
        operations[0].end()
        operations[2].make()
        watch.advance(milliseconds: 1)
        operations[1].end()
        operations[2].end()

        let trace = try read()

        let operationsOfTrace = trace.slices.filter { $0.cat == "operation" }
        #expect(operationsOfTrace.map(\.tid) == [1, 2, 1])
        #expect(
            trace.traceEvents.filter { $0.ph == "M" }.map(\.name) == ["process_name", "thread_name", "thread_name"]
        )
        #expect(trace.crossings == 0)
    }

    @Test func nothingInItIsASecretOrForgesAnything() throws {
        let operation = SampleOperation(1, tag: "x\n\u{1B}", monitor: recorder, watch: watch)
        operation.runThroughEverything()
        _ = operation.begin(4, .initial, HTTPRequest("https://ann:hush@example.com/?sig=hush"))

        let text = String(decoding: recorder.timeline.traceEvents(), as: UTF8.self)

        #expect(!text.contains("hush") && !text.contains("\n") && !text.contains("\u{1B}"))
    }
}

@Suite(.bounded) struct RequestTimelineFuzzTests {
    @Test func picturesOfAnyEventsAreReadableAndBounded() throws {
        var fuzz = Fuzz()
        for _ in 0..<Scale.fuzz(weight: 1000) {
            let watch = ManualDate(SampleOperation.start)
            let recorder = RecordingMonitor(limit: 4) { watch.now }
            let operations = (1...6).map { SampleOperation($0, monitor: recorder, watch: watch) }
            for _ in 0..<40 {
                watch.advance(milliseconds: .random(in: -2...9, using: &fuzz))
                let operation = operations[Int.random(in: 0..<6, using: &fuzz)]
                let attempt = MonitoredAttempt(
                    number: .random(in: 1...3, using: &fuzz),
                    cause: .initial,
                    request: SampleOperation.request
                )
                switch Int.random(in: 0..<8, using: &fuzz) {
                case 0, 1: operation.make()
                case 2: operation.start()
                case 3, 4: _ = operation.begin(attempt.number)
                case 5: operation.end(attempt, nil, error: .timedOut, metrics: metrics(&fuzz))
                case 6: operation.retry()
                default: operation.end()
                }
            }

            let timeline = recorder.timeline
            let trace = try JSONDecoder().decode(Trace.self, from: timeline.traceEvents())
            #expect(trace.crossings == 0)
            #expect(trace.slices.allSatisfy { ($0.dur ?? -1) >= 0 && ($0.ts ?? -1) >= 0 })
            let log = try JSONDecoder().decode(JSONValue.self, from: timeline.har())["log"]
            #expect(log?["version"] == "1.2")
            #expect(timeline.text(width: 80).split(separator: "\n").allSatisfy { $0.unicodeScalars.count <= 80 })
        }
    }

    private func metrics(_ fuzz: inout Fuzz) -> Metrics {
        func end() -> Duration? {
            Bool.random(using: &fuzz) ? nil : .microseconds(Int64.random(in: -99...9999, using: &fuzz))
        }
        var metrics = Metrics(start: SampleOperation.start)
        metrics.dispatched = end()
        metrics.nameResolved = end()
        metrics.connected = end()
        metrics.secured = end()
        metrics.sent = end()
        metrics.firstByte = end()
        metrics.end = end()
        return metrics
    }
}
