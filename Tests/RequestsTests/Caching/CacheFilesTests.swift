// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct CacheFilesTests {
    private let directory = TemporaryFolder(isMade: false)
    private let files: CacheFiles
    private let start = CacheSample.start

    init() throws {
        files = try CacheFiles(directory: directory.url)
    }

    private static func key(_ index: Int) -> CacheKey {
        CacheKey(CacheSample.get(URL(string: "https://example.com/\(index)")!))
    }

    private static let record = CacheRecord.response(CacheSample.cached())

    private func save(_ index: Int, at time: Date = CacheSample.start) {
        files.save(Self.record.bytes(for: Self.key(index)), as: Self.key(index), at: time)
    }

    private func load(_ index: Int) -> CacheRecord? {
        files.load(Self.key(index), at: start)
    }

    private func permissions(of url: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }

    private func path(_ index: Int) -> URL {
        directory.url.appendingPathComponent("\(Self.key(index).name).response")
    }

    @Test func onlyTheOwnerCanReadThem() throws {
        save(1)

        #expect(try permissions(of: directory.url) == 0o700)
        #expect(directory.files == [path(1)])
        #expect(try permissions(of: path(1)) == 0o600)
    }

    @Test func savedRecordIsLoaded() {
        save(1)

        #expect(load(1) == Self.record)
        #expect(load(2) == nil)
        #expect(files.size() == 4096)
    }

    @Test func aDamagedFileIsRemoved() throws {
        save(1)
        var bytes = try Data(contentsOf: path(1))
        try #require(bytes.count > 20)
        bytes[20] ^= 1
        try bytes.write(to: path(1))

        #expect(load(1) == nil)
        #expect(directory.files.isEmpty)
    }

    @Test func aFileUnderTheNameOfAnotherIsRemoved() throws {
        save(1)
        try FileManager.default.moveItem(at: path(1), to: path(2))

        #expect(load(2) == nil)
        #expect(directory.files.isEmpty)
    }

    @Test func aLinkIsRemovedAndWhereItLeadsIsLeftAlone() throws {
        let outside = TemporaryFolder()
        try FileManager.default.createDirectory(at: outside.url, withIntermediateDirectories: true)
        let target = outside.url.appendingPathComponent("target")
        let bytes = Self.record.bytes(for: Self.key(1))
        try bytes.write(to: target)
        try FileManager.default.createSymbolicLink(at: path(1), withDestinationURL: target)

        #expect(load(1) == nil)
        #expect(directory.files.isEmpty)
        #expect(try Data(contentsOf: target) == bytes)
        withExtendedLifetime(outside) {}
    }

    @Test func aLinkIsReplacedAndNotWrittenThrough() throws {
        let outside = TemporaryFolder()
        try FileManager.default.createDirectory(at: outside.url, withIntermediateDirectories: true)
        let target = outside.url.appendingPathComponent("target")
        try Data("mine".utf8).write(to: target)
        try FileManager.default.createSymbolicLink(at: path(1), withDestinationURL: target)

        files.touch(Self.key(1), at: start)
        save(1)

        #expect(load(1) == Self.record)
        #expect(try Data(contentsOf: target) == Data("mine".utf8))
        let modified = try FileManager.default.attributesOfItem(atPath: target.path)[.modificationDate] as? Date
        #expect(modified != start)
        withExtendedLifetime(outside) {}
    }

    @Test func aPipeDoesNotBlock() {
        #expect(mkfifo(path(1).path, 0o600) == 0)

        #expect(load(1) == nil)
        #expect(directory.files.isEmpty)
    }

    @Test func aDirectoryIsAMiss() throws {
        try FileManager.default.createDirectory(at: path(1), withIntermediateDirectories: true)

        #expect(load(1) == nil)
        save(1)
        #expect(load(1) == nil)
        #expect(directory.files.count == 1)
    }

    @Test func aDirectoryThatWentAwayIsMadeAgain() throws {
        try FileManager.default.removeItem(at: directory.url)

        #expect(load(1) == nil)
        #expect(files.size() == 0)
        save(1)

        #expect(load(1) == Self.record)
        #expect(try permissions(of: directory.url) == 0o700)
    }

    @Test func foreignFilesAreLeftAlone() throws {
        let names = [
            "notes.txt", "a.response", "-.response", ".response", "\(Self.key(1).name).txt", "\(Self.key(1).name)",
            "\(String(repeating: "x", count: 32))-\(String(repeating: "0", count: 64)).response",
        ]
        for name in names { try Data("mine".utf8).write(to: directory.url.appendingPathComponent(name)) }

        files.removeAll()
        files.remove([Self.key(1).resource])
        _ = files.sweep(ifAbove: 0, downTo: 0, at: start)

        #expect(Set(directory.files.map(\.lastPathComponent)) == Set(names))
        #expect(files.size() == 0)
    }

    @Test func theLeastRecentlyUsedGoFirst() {
        for index in 0..<8 { save(index, at: start + TimeInterval(index)) }
        _ = files.load(Self.key(0), at: start + 100)
        files.touch(Self.key(1), at: start + 101)

        let size = files.sweep(ifAbove: 5 * 4096, downTo: 4 * 4096, at: start + 200)

        #expect(size == 4 * 4096)
        #expect(files.size() == size)
        #expect((0..<8).filter { load($0) != nil } == [0, 1, 6, 7])
    }

    @Test func nothingGoesWhereThereIsRoom() {
        for index in 0..<8 { save(index) }

        #expect(files.sweep(ifAbove: 8 * 4096, downTo: 0, at: start) == 8 * 4096)
        #expect(directory.files.count == 8)
    }

    @Test func filesOfACrashedWriterAreRemoved() throws {
        for (id, age) in [("old", 3601.0), ("new", 3599)] {
            let url = directory.url.appendingPathComponent("\(Self.key(1).name).\(id).partial")
            try Data("part".utf8).write(to: url)
            try FileManager.default.setAttributes([.modificationDate: start - age], ofItemAtPath: url.path)
        }

        let size = files.sweep(ifAbove: .max, downTo: .max, at: start)

        #expect(size == 4096)
        #expect(directory.files.map(\.lastPathComponent) == ["\(Self.key(1).name).new.partial"])
    }

    @Test func aResourceIsRemovedForAllItsUsers() {
        let users: [HTTPHeaders] = [[], [.authorization: "Bearer a"], [.cookie: "b=1"]]
        let keys = users.map { CacheKey(CacheSample.get($0)) }
        for key in keys { files.save(Self.record.bytes(for: key), as: key, at: start) }
        save(1)

        files.remove([keys[0].resource])

        #expect(directory.files == [path(1)])
    }
}
