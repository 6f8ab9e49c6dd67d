// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct ResponseCacheDiskTests {
    private let clock = ManualDate()
    private let directory = TemporaryFolder()

    private func cache(diskLimit: Int = 128 << 20, memoryLimit: Int = 0) throws -> ResponseCache {
        try ResponseCache(
            directory: directory.url,
            diskLimit: diskLimit,
            memoryLimit: memoryLimit,
            now: { [clock] in clock.now }
        )
    }

    private static func url(_ index: Int) -> URL { URL(string: "https://example.com/\(index)")! }

    @Test func storedResponsesPersistAcrossInstances() throws {
        try cache().store(CacheSample.response(), for: CacheSample.get([.authorization: "Bearer a"]))

        #expect(try cache().content(for: CacheSample.get([.authorization: "Bearer a"])) == "content")
        #expect(try cache().content(for: CacheSample.get()) == nil)
    }

    @Test func recordReadFromDiskIsCachedInMemory() throws {
        try cache().store(CacheSample.response(), for: CacheSample.get())
        let cache = try cache(memoryLimit: 1 << 20)
        #expect(cache.memorySize == 0)

        #expect(cache.content(for: CacheSample.get()) == "content")

        #expect(cache.memorySize > 0)
        for file in directory.files { try FileManager.default.removeItem(at: file) }
        #expect(cache.content(for: CacheSample.get()) == "content")
    }

    @Test func diskLimitIsEnforced() throws {
        let (limit, count) = (32 * 4096, Scale.pick(80, whole: 200))
        let cache = try cache(diskLimit: limit)
        for index in 0..<count {
            clock.advance(by: 0.01)
            cache.store(CacheSample.response(from: Self.url(index)), for: CacheSample.get(Self.url(index)))
            _ = cache.content(for: CacheSample.get(Self.url(0)))
            #expect(cache.diskSize <= limit)
        }

        #expect(cache.diskSize >= limit / 2)
        #expect(cache.content(for: CacheSample.get(Self.url(count - 1))) == "content")
        // Used all the time, so it is never the least recently used.
        #expect(cache.content(for: CacheSample.get(Self.url(0))) == "content")
        #expect(cache.content(for: CacheSample.get(Self.url(1))) == nil)
    }

    @Test func recordUsedInMemoryIsNotEvictedFromDisk() throws {
        let cache = try cache(diskLimit: 32 * 4096, memoryLimit: 1 << 20)
        for index in 0..<Scale.pick(80, whole: 200) {
            clock.advance(by: 0.01)
            cache.store(CacheSample.response(from: Self.url(index)), for: CacheSample.get(Self.url(index)))
            _ = cache.content(for: CacheSample.get(Self.url(0)))
        }

        #expect(try self.cache().content(for: CacheSample.get(Self.url(0))) == "content")
    }

    @Test func oversizedResponseRemovesStoredOne() throws {
        let cache = try cache(diskLimit: 32 * 4096)
        cache.store(CacheSample.response(), for: CacheSample.get())

        cache.store(CacheSample.response(body: String(repeating: "x", count: 8 * 4096)), for: CacheSample.get())

        #expect(cache.answer(to: CacheSample.get()).word == "miss")
        #expect(cache.diskSize == 0)
    }

    @Test func corruptFileIsAMissAndIsRemoved() throws {
        let cache = try cache()
        let headers: HTTPHeaders = [.cacheControl: "max-age=60", .vary: "Accept"]
        cache.store(CacheSample.response(headers), for: CacheSample.get())
        #expect(directory.files.count == 2)
        for file in directory.files {
            let bytes = try Data(contentsOf: file)
            for count in [0, 1, bytes.count / 2, bytes.count - 1] {
                try? FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(),
                    withIntermediateDirectories: true
                )
                try bytes.prefix(count).write(to: file)

                #expect(cache.answer(to: CacheSample.get()).word == "miss")
                #expect(!FileManager.default.fileExists(atPath: file.path))
            }
            try bytes.write(to: file)
            #expect(cache.content(for: CacheSample.get()) == "content")
        }
    }

    @Test func diskContainsNoSecrets() throws {
        let cache = try cache()
        let url = URL(string: "https://api.example.com/hunter2?token=hunter2")!
        let headers: HTTPHeaders = [
            .authorization: "Bearer hunter2", .cookie: "a=hunter2", .acceptLanguage: "hunter2",
        ]
        let response: HTTPHeaders = [
            .setCookie: "a=hunter2", "X-Auth-Token": "hunter2", .vary: "Accept-Language", .eTag: "\"1\"",
        ]

        cache.store(CacheSample.response(response, from: url), for: CacheSample.get(url, headers))

        #expect(directory.files.count == 2)
        for file in directory.files {
            let bytes = try Data(contentsOf: file)
            for secret in ["hunter2", "example"] { #expect(bytes.range(of: Data(secret.utf8)) == nil) }
        }
    }

    @Test func unusableDirectoryThrows() throws {
        let file = TemporaryFolder(isMade: false)
        try Data().write(to: file.url)

        #expect(throws: FileError.self) { try ResponseCache(directory: file.url) }
        #expect(throws: FileError.self) {
            try ResponseCache(directory: file.url.appendingPathComponent("below"))
        }
        #expect(throws: FileError.self) { try ResponseCache(directory: CacheSample.url) }
    }
}
