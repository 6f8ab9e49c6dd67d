// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import RequestsTesting
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct HostResolverTests {
    @Test func resolvesLocalhost() throws {
        let addresses = try HostResolver.systemLookup("localhost").get()

        #expect(Set(addresses).isSubset(of: ["127.0.0.1", "::1"]) && !addresses.isEmpty)
    }
}

@Suite(.bounded) struct HostResolverRaceTests {
    /// Questions are asked and withdrawn at any moment, while look-ups succeed and fail.
    @Test func queriesCompleteOnceUnlessCancelled() async throws {
        let names = HostResolver(maximumAwaited: 2, maximumWorkers: 4) { name in
            name.hasSuffix("0") ? .failure(.init(reason: "unknown")) : .success([name])
        }
        for round in 0..<Scale.races {
            let answers = Locked([Int](repeating: 0, count: 8))
            let wrong = Locked<[String]>([])
            let (unanswered, done) = (DispatchGroup(), Gate())
            DispatchQueue.concurrentPerform(iterations: 8) { asker in
                let name = "name-\(round)-\(asker % 3)"
                let stays = asker.isMultiple(of: 2)
                if stays { unanswered.enter() }
                let query = HostQuery(name) { query, found in
                    let isFirst = answers.withLock { answers in
                        answers[asker] += 1
                        return answers[asker] == 1
                    }
                    let right: HostResolver.LookupResult =
                        name.hasSuffix("0") ? .failure(.init(reason: "unknown")) : .success([name])
                    if query.name != name || found != right { wrong.withLock { $0.append("\(name): \(found)") } }
                    if stays, isFirst { unanswered.leave() }
                }
                if case .fresh = names.addresses(of: name, for: query) {
                    if stays { unanswered.leave() }
                } else if !stays {
                    names.cancel(query)
                }
            }
            unanswered.notify(queue: .global()) { done.open() }
            try await done.wait()

            #expect(answers.withLock { $0.allSatisfy { $0 <= 1 } })
            #expect(wrong.withLock { $0 } == [])
        }
    }
}
#endif
