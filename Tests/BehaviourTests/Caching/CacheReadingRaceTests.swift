// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// A stored response that is read from its file while it is replaced or removed.
@Suite(.bounded) struct CacheReadingRaceTests {
    enum Change: CaseIterable {
        case newResponse
        case removal
        case removalOfAll
    }

    @Test(arguments: Change.allCases) func diskReadRacesInvalidation(_ change: Change) async throws {
        let folder = TemporaryFolder()
        // Large, so that the reader takes long enough.
        let old = StubResponse.text(String(repeating: "old", count: 20_000))
        let stored = CacheSample.get([], .returnCacheDataDontLoad)
        for round in 0..<Scale.races {
            let writer = try CacheTrial { try ResponseCache(directory: folder.url, memoryLimit: 0, now: $0) }
            await writer.send(CacheSample.get([], .reloadIgnoringLocalCacheData), old)
            let trial = try CacheTrial { try ResponseCache(directory: folder.url, now: $0) }

            async let read = trial.send(stored)
            switch change {
            case .newResponse: await trial.send(CacheSample.get([], .reloadIgnoringLocalCacheData))
            case .removal: trial.cache.remove(for: CacheSample.url)
            case .removalOfAll: trial.cache.removeAll()
            }
            _ = await read

            guard await trial.send(stored).text == (change == .newResponse ? "new" : nil) else {
                Issue.record("round \(round)")
                return
            }
        }
    }
}
