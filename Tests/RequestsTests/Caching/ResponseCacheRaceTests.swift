// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct ResponseCacheRaceTests {
    private let directory = TemporaryFolder()

    private static func url(_ index: Int) -> URL { URL(string: "https://example.com/\(index)")! }

    /// Each content names its user, and is long enough to be torn.
    private static func body(_ user: Int, _ index: Int) -> String {
        String(repeating: "\(user):\(index);", count: 500)
    }

    private static func request(_ user: Int, _ index: Int) -> HTTPRequest {
        CacheSample.get(url(index), [.authorization: "Bearer \(user)"])
    }

    /// Like two processes, which share only the directory.
    @Test func twoCachesCanShareDirectory() throws {
        let caches = try [0, 4096].map {
            try ResponseCache(directory: directory.url, diskLimit: 64 * 4096, memoryLimit: $0)
        }
        let wrong = Locked<[String]>([])

        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            var fuzz = Fuzz(seed: Fuzz.seed &+ UInt64(thread))
            let cache = caches[thread % 2]
            for _ in 0..<Scale.races {
                let (user, index) = (Int.random(in: 0..<4, using: &fuzz), Int.random(in: 0..<30, using: &fuzz))
                switch Int.random(in: 0..<100, using: &fuzz) {
                case 0: cache.removeAll()
                case 1...4: cache.remove(for: Self.url(index))
                case 5...40:
                    var response = CacheSample.response(body: Self.body(user, index), from: Self.url(index))
                    if index.isMultiple(of: 3) {
                        let headers: HTTPHeaders = [.cacheControl: "max-age=60", .vary: "Accept"]
                        response = CacheSample.response(headers, body: Self.body(user, index), from: Self.url(index))
                    }
                    cache.store(response, for: Self.request(user, index))
                default:
                    let content = cache.content(for: Self.request(user, index))
                    if let content, content != Self.body(user, index) {
                        wrong.withLock { $0.append("\(user):\(index) got \(content.prefix(20))") }
                    }
                }
            }
        }

        #expect(wrong.withLock { $0 } == [])
        // Each cache may exceed the limit by an eighth of it.
        #expect(caches[0].diskSize <= 64 * 4096 * 9 / 8)
        #expect(!directory.files.contains { $0.lastPathComponent.hasSuffix("partial") })
    }

    @Test func readerRacesReplacement() throws {
        let (writer, reader) = try (
            ResponseCache(directory: directory.url, memoryLimit: 0),
            ResponseCache(directory: directory.url, memoryLimit: 0)
        )
        let bodies: Set = [Self.body(1, 1), Self.body(2, 2) + "longer"]
        writer.store(CacheSample.response(body: Self.body(1, 1), from: Self.url(1)), for: Self.request(1, 1))
        let missed = Locked(0)

        simultaneously {
            for _ in 0..<Scale.races / 2 {
                for body in bodies {
                    writer.store(CacheSample.response(body: body, from: Self.url(1)), for: Self.request(1, 1))
                }
            }
        } and: {
            for _ in 0..<Scale.races {
                let content = reader.content(for: Self.request(1, 1))
                if !bodies.contains(content ?? "") { missed.withLock { $0 += 1 } }
            }
        }

        #expect(missed.withLock { $0 } == 0)
    }

    // The cache asks for the time before it writes each record, so a read can come between the two writes.
    @Test func staleResponseReadDuringWriteIsRemoved() throws {
        let (hook, request) = (Locked<@Sendable () -> Void>({}), Self.request(1, 1))
        let cache = try ResponseCache(
            directory: directory.url,
            now: {
                hook.withLock { $0 }()
                return Date()
            }
        )
        let (key, other) = (CacheKey(request), CacheKey(request, varyingBy: [.accept]))
        let record = CacheRecord.response(CacheSample.cached(body: "outdated"))
        let former = cache.state.withLock { $0.lastRemoval }
        cache.remove(for: Self.url(1))
        let present = cache.state.withLock { $0.lastRemoval }
        let writes = Locked(0)
        hook.withLock {
            $0 = {
                let count = writes.withLock { writes in
                    writes += 1
                    return writes
                }
                if count == 2 { _ = cache.record(key, since: present) }
            }
        }

        cache.store([(key, record), (other, record)], since: former)

        hook.withLock { $0 = {} }
        #expect(writes.withLock { $0 } >= 2)
        #expect(cache.state.withLock { $0.find(key) } == nil && cache.diskSize == 0)
    }

    @Test func readRacesRemoval() throws {
        let cache = try ResponseCache(directory: directory.url)
        let request = Self.request(1, 1)
        let response = CacheSample.response(from: Self.url(1))
        for round in 0..<Scale.races {
            // On disk, and sometimes in memory.
            cache.store(response, for: request)
            if round.isMultiple(of: 2) { cache.state.withLock { $0.forget(CacheKey(request)) } }
            let use = CacheTransaction(of: cache, by: request, .standard)

            simultaneously {
                if round.isMultiple(of: 3) { cache.removeAll() } else { cache.remove(for: Self.url(1)) }
            } and: {
                _ = cache.content(for: request)
                use.store(response, requestedAt: Date())
                _ = cache.content(for: request)
            }

            guard cache.content(for: request) == nil, cache.diskSize == 0 else {
                Issue.record("round \(round)")
                return
            }
        }
    }
}
