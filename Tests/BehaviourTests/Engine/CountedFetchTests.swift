// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if DEBUG && os(Linux)
import RequestsTestSupport
import Testing

/// The cost of a fetch, in allocations and locks. `Scripts/bench Benchmarks counts` compares that of a release build.
@Suite(.bounded) struct CountedFetchTests {
    /// Runs in its own process, because the counters cover a whole process.
    @Test(.enabled(if: CountedFetch.isComparable)) func fetchCostMatchesRecordedBaseline() async {
        await #expect(processExitsWith: .success) {
            for fetch in CountedFetch.allCases {
                let cost = try await fetch.measure()
                #expect(cost == fetch.recorded, "\(fetch.rawValue): \(cost), instead of \(fetch.recorded)")
            }
        }
    }
}
#endif
