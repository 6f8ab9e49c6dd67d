// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The files of a cache: their permissions, corruption and disk space.
@Suite(.bounded) struct CacheDirectoryTests {
    private static let block = 4096
    private let folder: TemporaryFolder
    private let directory: URL

    init() {
        folder = TemporaryFolder()
        directory = folder.url.appending(path: "cache")
    }

    /// A client with a cache in the directory, and by default none in memory.
    private func trial(blocks: Int = 1000, memoryLimit: Int = 0) throws -> CacheTrial {
        try CacheTrial {
            let limit = blocks * Self.block
            return try ResponseCache(directory: directory, diskLimit: limit, memoryLimit: memoryLimit, now: $0)
        }
    }

    private static func get(_ number: Int) -> HTTPRequest {
        CacheSample.get(CacheSample.url.appending(path: "\(number)"))
    }

    /// The text of a stored response, fresh or not.
    private func stored(_ number: Int, in trial: CacheTrial) async -> String? {
        await trial.send(Self.get(number).cachePolicy(.returnCacheDataDontLoad)).text
    }

    private var files: [URL] { TemporaryFolder.files(in: directory) }

    /// Loads a response and returns its file.
    private func file(_ number: Int = 1, of trial: CacheTrial) async throws -> URL {
        let former = Set(files.map(\.lastPathComponent))
        await trial.load(for: Self.get(number))
        return try #require(files.first { !former.contains($0.lastPathComponent) })
    }

    private func permissions(of url: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }

    // MARK: Content

    @Test func cacheFilesAreReadableOnlyByOwner() async throws {
        let file = try await file(of: trial())

        #expect(try permissions(of: directory) == 0o700 && permissions(of: file) == 0o600)
        #expect(files.count == 1)
    }

    @Test func filesRevealNeitherSecretsNorURLs() async throws {
        let url = try #require(URL(string: "https://api.example.com/hunter2?token=hunter2"))
        let trial = try trial()
        let headers: HTTPHeaders = [.authorization: "Bearer hunter2", .cookie: "a=hunter2", .acceptLanguage: "hunter2"]
        let response: HTTPHeaders = [.setCookie: "a=hunter2", "X-Auth-Token": "hunter2", .vary: "Accept-Language"]

        await trial.load(response, for: CacheSample.get(url, headers))

        #expect(files.count == 2)
        for file in files {
            let name = file.deletingPathExtension().lastPathComponent
            #expect(name.split(separator: "-").allSatisfy { $0.allSatisfy(\.isHexDigit) })
            let bytes = try Data(contentsOf: file)
            for secret in ["hunter2", "example"] { #expect(bytes.range(of: Data(secret.utf8)) == nil) }
        }
    }

    @Test(
        arguments: [
            ([], 200, ""),
            (
                [HTTPField(.eTag, "\"1\""), HTTPField(.link, "<a>"), HTTPField(.link, "<b>"), HTTPField("X", "ü")], 404,
                "content\r\n\u{0}"
            ),
            ([.vary: "Accept, Accept-Language"], 200, "content"),
        ] as [(HTTPHeaders, HTTPStatus, String)]
    )
    func storedResponseSurvivesRestart(headers: HTTPHeaders, status: HTTPStatus, text: String) async throws {
        let first = try trial()
        await first.send(Self.get(1), .status(status, headers: headers, body: Data(text.utf8)), delay: 0.25)
        let second = try trial()
        second.advance(by: 0.75)

        let exchange = await second.send(Self.get(1).cachePolicy(.returnCacheDataDontLoad))

        let response = try #require(exchange.response)
        var expected = headers
        expected.merge([.contentLength: "\(text.utf8.count)", .age: "1"])
        #expect(response.status == status && response.headers.hasSameFields(as: expected))
        #expect(exchange.text == text && response.body.startIndex == 0)
        #expect(second.cache.diskSize == files.count * Self.block)
    }

    @Test func diskEntryIsPromotedToMemory() async throws {
        let file = try await file(of: trial())
        let trial = try trial(memoryLimit: 1 << 20)
        #expect(await stored(1, in: trial) == "content")

        try FileManager.default.removeItem(at: file)

        #expect(await stored(1, in: trial) == "content")
    }

    #if os(Linux)
    @Test func invalidationDoesNotListWholeCache() async throws {
        let trial = try trial()
        for number in 1...3 { await trial.load(for: Self.get(number)) }
        let watch = try #require(DirectoryWatch(directory))

        for method in [HTTPMethod.post, .put, .delete] { await trial.send(Self.get(1).method(method)) }

        #expect(await stored(1, in: trial) == nil)
        #expect(await stored(2, in: trial) == "content")
        #expect(watch.listings == 0)
        // The watch works.
        _ = trial.cache.diskSize
        #expect(watch.listings > 0)
    }
    #endif

    // MARK: Damage

    @Test func corruptFileIsAMissAndIsDeleted() async throws {
        let trial = try trial()
        let file = try await file(of: trial)
        let bytes = try Data(contentsOf: file)
        let step = Scale.pick(5, whole: 1)
        let truncated = stride(from: 0, to: bytes.count, by: step).map { bytes.prefix($0) }
        let changed = stride(from: 0, to: bytes.count * 8, by: step * 3).map { bit in
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            return changed
        }
        for damaged in truncated + changed + [bytes + [0]] {
            try write(damaged, to: file)
            guard await stored(1, in: trial) == nil, files.isEmpty else {
                Issue.record("\(Array(damaged)) was read or left")
                return
            }
        }
        try write(bytes, to: file)
        #expect(await stored(1, in: trial) == "content")
    }

    /// Writes a file. Its folder may have been removed with the previous file.
    private func write(_ bytes: Data, to file: URL) throws {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try bytes.write(to: file)
    }

    @Test func misnamedFileIsDeleted() async throws {
        let trial = try trial()
        let (first, second) = (try await file(1, of: trial), try await file(2, of: trial))
        try FileManager.default.removeItem(at: second)
        try FileManager.default.moveItem(at: first, to: second)

        #expect(await stored(2, in: trial) == nil)
        #expect(files.isEmpty)
    }

    @Test func symlinkIsDeletedButItsTargetIsKept() async throws {
        let trial = try trial()
        let (file, target) = (try await file(of: trial), folder.file("target"))
        try FileManager.default.moveItem(at: file, to: target)
        let bytes = try Data(contentsOf: target)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)

        #expect(await stored(1, in: trial) == nil)
        #expect(files.isEmpty)
        #expect(try Data(contentsOf: target) == bytes)
    }

    @Test func symlinkIsReplacedNotFollowed() async throws {
        let trial = try trial(memoryLimit: 1 << 20)
        let (file, target) = (try await file(of: trial), folder.file("target"))
        try FileManager.default.removeItem(at: file)
        try Data("mine".utf8).write(to: target)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)

        // From memory, which marks the file as used; then from the server.
        #expect(await stored(1, in: trial) == "content")
        await trial.load(for: Self.get(1).cachePolicy(.reloadIgnoringLocalCacheData))

        #expect(try await stored(1, in: self.trial()) == "content")
        #expect(try Data(contentsOf: target) == Data("mine".utf8))
        let modified = try FileManager.default.attributesOfItem(atPath: target.path)[.modificationDate] as? Date
        #expect(modified != CacheSample.start)
    }

    @Test func namedPipeDoesNotBlockRead() async throws {
        let trial = try trial()
        let file = try await file(of: trial)
        try FileManager.default.removeItem(at: file)
        #expect(mkfifo(file.path, 0o600) == 0)

        #expect(await stored(1, in: trial) == nil)
        #expect(files.isEmpty)
    }

    @Test func directoryAtFilePathIsAMiss() async throws {
        let trial = try trial()
        let file = try await file(of: trial)
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)

        for _ in 1...2 {
            #expect(await stored(1, in: trial) == nil)
            await trial.load(for: Self.get(1))
        }
        #expect(files.isEmpty && FileManager.default.fileExists(atPath: file.path))
    }

    @Test func deletedDirectoryIsRecreated() async throws {
        let trial = try trial()
        try FileManager.default.removeItem(at: directory)
        #expect(await stored(1, in: trial) == nil)
        #expect(trial.cache.diskSize == 0)

        await trial.load(for: Self.get(1))

        #expect(await stored(1, in: trial) == "content")
        #expect(try permissions(of: directory) == 0o700)
    }

    @Test func unrelatedFilesAreKept() async throws {
        let trial = try trial(blocks: 16)
        let file = try await file(of: trial)
        let name = file.deletingPathExtension().lastPathComponent
        let resource = file.deletingLastPathComponent().lastPathComponent
        let names = [
            "notes.txt", "a.response", "-.response", ".response", "\(name).txt", name, "\(name).response",
            "\(resource)/notes.txt", "\(resource)/\(name)", "\(resource)/\(resource).response",
            "other/\(name).response",
            "\(resource)/\(String(repeating: "x", count: 64)).response",
        ]
        for name in names { try write(Data("mine".utf8), to: directory.appending(path: name)) }

        for number in 1...20 { await trial.load(for: Self.get(number)) }
        trial.cache.remove(for: Self.get(1).url)
        trial.cache.removeAll()

        #expect(Set(files.map(\.path)) == Set(names.map { directory.appending(path: $0).path }))
        #expect(trial.cache.diskSize == 0)
    }

    // MARK: Size

    @Test func leastRecentlyUsedFilesAreEvictedFirst() async throws {
        let trial = try trial(blocks: 16)
        for number in 0..<16 {
            await trial.load(for: Self.get(number))
            trial.advance(by: 1)
        }
        #expect(trial.cache.diskSize == 16 * Self.block)
        #expect(await stored(0, in: trial) == "content")
        trial.advance(by: 1)

        await trial.load(for: Self.get(16))

        // Eviction frees an eighth of the limit.
        #expect(trial.cache.diskSize == 15 * Self.block)
        var left: [Int] = []
        for number in 0...16 where await stored(number, in: trial) != nil { left.append(number) }
        #expect(left == [0] + Array(3...16))
    }

    @Test func largeFileEvictsOlderFiles() async throws {
        let trial = try trial(blocks: 16)
        for number in 0..<16 { await trial.load(for: Self.get(number)) }

        await trial.send(Self.get(16), .text(String(repeating: "x", count: 3 * Self.block)))

        #expect(trial.cache.diskSize == 16 * Self.block)
        #expect(await stored(16, in: trial) != nil)
    }

    @Test(arguments: [(-5, 0, false), (0, 0, false), (16, 3, true), (16, 4, false)])
    func entriesOverQuarterOfDiskLimitAreNotStored(limit: Int, blocks: Int, isStored: Bool) async throws {
        let trial = try trial(blocks: limit)
        await trial.load(for: Self.get(1))

        // The head of the response needs one more block.
        let text = StubResponse.text(String(repeating: "x", count: blocks * Self.block))
        await trial.send(Self.get(1).cachePolicy(.reloadIgnoringLocalCacheData), text)

        // The previous response is outdated in any case.
        #expect(trial.cache.diskSize == (isStored ? (blocks + 1) * Self.block : 0))
    }

    @Test func existingFilesCountTowardsDiskLimit() async throws {
        for number in 0..<16 { await (try trial(blocks: 16)).load(for: Self.get(number)) }

        await (try trial(blocks: 16)).load(for: Self.get(16))

        #expect(files.count == 15)
    }

    @Test func secondCacheExceedsLimitByAtMostAnEighth() async throws {
        let trials = try [trial(blocks: 32), trial(blocks: 32)]
        for number in 0..<100 {
            await trials[number % 2].load(for: Self.get(number))
            for trial in trials { trial.advance(by: 1) }
            #expect(files.count <= 36)
        }
        #expect(files.count >= 24)
    }

    @Test func stalePartialFilesAreDeleted() async throws {
        let trial = try trial()
        let file = try await file(of: trial)
        let names = [3601.0, 3599].map { (".\(file.lastPathComponent).\(UUID()).partial", $0) }
        for (name, age) in names {
            let url = file.deletingLastPathComponent().appending(path: name)
            try Data("part".utf8).write(to: url)
            let date = CacheSample.start - age
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: url.path)
        }

        // The first write of a run scans the directory.
        await (try self.trial()).load(for: Self.get(2))

        #expect(files.filter { $0.pathExtension == "partial" }.map(\.lastPathComponent) == [names[1].0])
    }

    @Test func removalByURLAppliesToAllUsers() async throws {
        let trial = try trial()
        let users: [HTTPHeaders] = [[], [.authorization: "Bearer a"], [.cookie: "b=1"]]
        for user in users { await trial.load(for: CacheSample.get(user)) }
        let other = try await file(of: trial)

        trial.cache.remove(for: CacheSample.url)

        #expect(files.map(\.lastPathComponent) == [other.lastPathComponent])
    }
}

#if os(Linux)
/// Counts how often a directory is listed, as the kernel reports it (inotify(7)).
private final class DirectoryWatch {
    private let descriptor: Int32

    init?(_ directory: URL) {
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0, inotify_add_watch(descriptor, directory.path, UInt32(IN_ACCESS)) >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// The number of listings since the last call. Listings of subfolders, whose events have a name, don't count.
    var listings: Int {
        var (bytes, count) = ([UInt8](repeating: 0, count: 65_536), 0)
        let end = read(descriptor, &bytes, bytes.count)
        var start = 0
        while start + 16 <= end {
            let length = bytes[start + 12..<start + 16].reversed().reduce(0) { $0 << 8 | Int($1) }
            if length == 0 { count += 1 }
            start += 16 + length
        }
        return count
    }
}
#endif
