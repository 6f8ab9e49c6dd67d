// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct MetricsPeriodTests {
    @Test(arguments: [
        (TransferRecord.Metrics.Phase.allCases.map { ($0, 5) }, 0), ([(.queue, -5), (.wait, 100), (.response, 7)], 7),
        ([(.response, 0)], 0), ([(.domainLookup, 9), (.connect, 3), (.response, -1)], 0),
    ])
    func periodsAreContiguous(_ ends: [(TransferRecord.Metrics.Phase, Int)], _ total: Int) {
        var metrics = TransferRecord.Metrics(start: SampleOperation.start)
        for (phase, end) in ends {
            let end = Duration.milliseconds(end)
            switch phase {
            case .queue: metrics.fetchStart = end
            case .domainLookup: metrics.domainLookupEnd = end
            case .connect: metrics.connectEnd = end
            case .secureConnection: metrics.secureConnectionEnd = end
            case .request: metrics.requestEnd = end
            case .wait: metrics.responseStart = end
            case .response: metrics.end = end
            }
        }

        let periods = metrics.periods

        var reached = Duration.zero
        for period in periods {
            #expect(period.range.lowerBound == reached && period.range.upperBound >= reached)
            reached = period.range.upperBound
        }
        #expect(reached == max(.zero, metrics.end ?? .zero))
    }
}
