// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct ProgressMeterTests {
    private func progress(_ completed: Int64, of total: Int64? = nil) -> TransferProgress {
        TransferProgress(completed: completed, total: total)
    }

    @Test func reportsProgressAtIntervalsAndExactEnd() {
        var meter = ProgressMeter(interval: .milliseconds(100))

        #expect(meter.begin(total: 1000, time: .zero) == progress(0, of: 1000))
        #expect(meter.update(10, at: .milliseconds(50)) == nil)
        #expect(meter.update(20, at: .milliseconds(99)) == nil)
        #expect(meter.update(30, at: .milliseconds(100)) == progress(30, of: 1000))
        #expect(meter.update(990, at: .milliseconds(101)) == nil)
        #expect(meter.finish(1000) == progress(1000, of: 1000))
        #expect(meter.finish(1000) == nil)
    }

    @Test func throttledProgressIsReportedWhenDue() {
        var meter = ProgressMeter(interval: .milliseconds(100))
        _ = meter.begin(total: nil, time: .seconds(1))
        #expect(meter.due == nil)

        #expect(meter.update(10, at: .milliseconds(1001)) == nil)

        #expect(meter.due == .milliseconds(1100))
        #expect(meter.flush(at: .milliseconds(1099)) == nil)
        #expect(meter.flush(at: .milliseconds(1100)) == progress(10))
        #expect(meter.due == nil && meter.flush(at: .seconds(9)) == nil)
    }

    @Test func resumptionStartsAtFileLength() {
        var meter = ProgressMeter(interval: .zero)

        #expect(meter.begin(at: 400, total: 1000, time: .zero) == progress(400, of: 1000))
        #expect(meter.update(500, at: .zero) == progress(500, of: 1000))
        #expect(meter.begin(at: 500, total: 1000, time: .zero) == nil)
        #expect(meter.update(600, at: .zero) == progress(600, of: 1000))
    }

    @Test func progressNeverDecreasesOnRestart() {
        var meter = ProgressMeter(interval: .zero)
        _ = meter.begin(total: 1000, time: .zero)
        _ = meter.update(600, at: .zero)

        #expect(meter.begin(total: 2000, time: .zero) == progress(600, of: 2000))
        #expect(meter.update(500, at: .zero) == nil)
        #expect(meter.update(700, at: .zero) == progress(700, of: 2000))
    }

    @Test func finalProgressIsExactEvenIfFileShrinks() {
        var meter = ProgressMeter(interval: .zero)
        _ = meter.begin(total: 1000, time: .zero)
        _ = meter.update(600, at: .zero)
        let again = meter.begin(total: 500, time: .zero)

        #expect(again == progress(600, of: 500) && again?.fraction == 1)
        #expect(meter.finish(500) == progress(500, of: 500))
    }

    @Test func wrongTotalIsDropped() {
        var meter = ProgressMeter(interval: .zero)
        _ = meter.begin(total: 10, time: .zero)

        #expect(meter.update(11, at: .zero) == progress(11))
        #expect(meter.begin(total: -1, time: .zero) == nil)
    }

    @Test(
        arguments: [
            (0, nil, nil), (0, 0, 1), (1, 2, 0.5), (2, 2, 1), (3, 2, 1), (-1, 2, 0), (.max, .max, 1),
        ] as [(Int64, Int64?, Double?)]
    )
    func fractionIsBetweenZeroAndOne(completed: Int64, total: Int64?, fraction: Double?) {
        #expect(progress(completed, of: total).fraction == fraction)
    }

    @Test func descriptionStatesByteCount() {
        #expect("\(progress(1, of: 2))" == "1 of 2 bytes" && "\(progress(1))" == "1 byte")
    }
}
