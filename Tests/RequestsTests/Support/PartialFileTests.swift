// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct PartialFileTests {
    private let folder: TemporaryFolder
    private let destination: URL

    init() throws {
        folder = TemporaryFolder()
        destination = folder.file("film.mov")
    }

    private var names: [String] {
        (try? folder.names()) ?? []
    }

    private func text(of url: URL) -> String? {
        (try? Data(contentsOf: url)).map { String(decoding: $0, as: UTF8.self) }
    }

    private func code(_ body: () throws(FileError) -> Void) -> FileError.Code? {
        do throws(FileError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func fileAppearsUnderItsNameOnceComplete() throws {
        let file = try PartialFile.create(beside: destination)

        try file.append(Data("Hello, ".utf8))
        try file.append(Data("file".utf8))

        #expect(names == [file.url.lastPathComponent] && file.length == 11)

        try file.move(to: destination)

        #expect(names == ["film.mov"] && text(of: destination) == "Hello, file")
        #expect(code { () throws(FileError) in try file.append(Data("more".utf8)) } == .cannotWriteFile)
        file.discard()
        #expect(text(of: destination) == "Hello, file")
    }

    @Test func fileIsPrivateToOwner() throws {
        let file = try PartialFile.create(beside: destination)

        let attributes = try FileManager.default.attributesOfItem(atPath: file.url.path)

        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func discardedFileLeavesNothing() throws {
        let file = try PartialFile.create(beside: destination)
        try file.append(Data("half".utf8))

        file.discard()
        file.discard()

        #expect(names == [])
        #expect(code { () throws(FileError) in try file.move(to: destination) } == .cannotWriteFile)
    }

    @Test func existingFileIsReplacedOnlyIfRequested() throws {
        try Data("old".utf8).write(to: destination)
        let file = try PartialFile.create(beside: destination)
        try file.append(Data("new".utf8))

        #expect(code { () throws(FileError) in try file.move(to: destination) } == .fileExists)
        #expect(text(of: destination) == "old" && names.count == 2)

        try file.move(to: destination, overwrite: true)

        #expect(text(of: destination) == "new" && names == ["film.mov"])
    }

    @Test(arguments: [true, false]) func symbolicLinkAtDestinationIsNotFollowed(leadsSomewhere: Bool) throws {
        let target = folder.file("target")
        if leadsSomewhere { try Data("safe".utf8).write(to: target) }
        try FileManager.default.createSymbolicLink(at: destination, withDestinationURL: target)
        let file = try PartialFile.create(beside: destination)
        try file.append(Data("new".utf8))

        #expect(code { () throws(FileError) in try file.move(to: destination) } == .fileExists)
        try file.move(to: destination, overwrite: true)

        #expect(text(of: target) == (leadsSomewhere ? "safe" : nil) && text(of: destination) == "new")
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: destination.path)) == nil)
    }

    @Test func placeholderIsReplacedWithoutHardLinks() throws {
        let other = folder.file("other")
        try Data("new".utf8).write(to: other)

        #expect(PartialFile.replacePlaceholder(other.path, destination.path) == 0)
        #expect(names == ["film.mov"] && text(of: destination) == "new")

        #expect(PartialFile.replacePlaceholder(other.path, destination.path) == EEXIST)
        #expect(PartialFile.replacePlaceholder(other.path, folder.url.path + "/gone") == ENOENT)
        #expect(names == ["film.mov"])
    }

    @Test func fullDiskFailsAndKeepsWrittenLength() throws {
        let room = Locked(6)
        let file = try PartialFile.create(beside: destination) { descriptor, bytes in
            let count = room.withLock { room in
                let count = min(room, bytes.count, 4)
                room -= count
                return count
            }
            return count == 0
                ? -Int(ENOSPC) : PrivateFile.systemWriter(descriptor, UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }

        #expect(code { () throws(FileError) in try file.append(Data("1234567890".utf8)) } == .diskFull)

        #expect(file.length == 6 && text(of: file.url) == "123456")
        let error = #expect(throws: FileError.self) { try file.append(Data("x".utf8)) }
        #expect(error.map { RequestError($0).code } == .diskFull && error?.file.path == destination.path)
    }

    @Test func interruptedWritesContinueUnlessStuck() throws {
        let answers = Locked([-Int(EINTR), 2, -Int(EINTR), 1, 0])
        let file = try PartialFile.create(beside: destination) { _, _ in
            answers.withLock { $0.isEmpty ? 0 : $0.removeFirst() }
        }

        try file.append(Data("abc".utf8))

        #expect(file.length == 3)
        #expect(code { () throws(FileError) in try file.append(Data("d".utf8)) } == .cannotWriteFile)
    }

    @Test func unwritableFolderFails() throws {
        let inFile = folder.file("file/film.mov")
        try Data().write(to: folder.file("file"))
        let inNothing = folder.file("gone/film.mov")

        for url in [inFile, inNothing, try #require(URL(string: "https://example.com/film.mov"))] {
            #expect(code { () throws(FileError) in _ = try PartialFile.create(beside: url) } == .cannotWriteFile)
        }
        #expect(
            code { () throws(FileError) in
                try PartialFile.createFolder(of: inFile)
            } == .cannotWriteFile
        )
    }

    @Test func intermediateFoldersAreCreated() throws {
        let deep = folder.file("a/b/film.mov")

        try PartialFile.createFolder(of: deep)
        let file = try PartialFile.create(beside: deep)
        try file.move(to: deep)

        #expect(text(of: deep) == "")
    }

    @Test func missingPartialFileFailsMove() throws {
        let file = try PartialFile.create(beside: destination)
        try FileManager.default.removeItem(at: file.url)

        #expect(code { () throws(FileError) in try file.move(to: destination) } == .cannotWriteFile)
        #expect(names == [])
    }

    @Test func resumedFileAppendsAtEnd() throws {
        let first = try PartialFile.create(beside: destination)
        try first.append(Data("Hello, ".utf8))
        first.finish()

        let second = try #require(PartialFile.resume(first.url))
        #expect(second.length == 7)
        try second.append(Data("file".utf8))
        try second.move(to: destination)

        #expect(text(of: destination) == "Hello, file")
        #expect(PartialFile.resume(first.url) == nil)
    }

    @Test func fileHasOneOwnerAtATime() throws {
        let first = try PartialFile.create(beside: destination)
        try first.append(Data("Hello, ".utf8))

        #expect(PartialFile.resume(first.url) == nil)
        first.finish()
        let second = try #require(PartialFile.resume(first.url))
        #expect(PartialFile.resume(first.url) == nil)
        second.finish()
        #expect(PartialFile.resume(first.url)?.length == 7)
    }

    #if os(Linux)
    /// The descriptors of files in the folder, including removed files.
    private func descriptors() throws -> [Int32] {
        let path = folder.url.resolvingSymlinksInPath().path
        return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            return target?.hasPrefix(path + "/") == true ? Int32(name) : nil
        }
    }

    /// A process that is started at that moment has such a copy.
    @Test func duplicatedDescriptorHoldsNoLock() throws {
        let file = try PartialFile.create(beside: destination)
        let copy = dup(try #require(try descriptors().first))
        defer { close(copy) }
        #expect(PartialFile.resume(file.url) == nil)

        file.finish()

        #expect(PartialFile.resume(file.url) != nil)
    }
    #endif

    @Test func finishWaitsForRunningWrite() async throws {
        let (begun, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let file = try PartialFile.create(beside: destination) { descriptor, bytes in
            begun.signal()
            goOn.wait()
            return PrivateFile.systemWriter(descriptor, bytes)
        }
        let writing = Thread { try? file.append(Data("Hello".utf8)) }
        writing.start()

        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                begun.wait()
                Thread.detachNewThread { goOn.signal() }
                file.finish()
                continuation.resume()
            }
        }

        #expect(file.length == 5)
        #expect(PartialFile.resume(file.url)?.length == 5)
    }

    #if os(Linux)
    @Test func fileOnAnotherVolumeIsCopied() throws {
        let memory = URL(fileURLWithPath: "/dev/shm/\(UUID())", isDirectory: true)
        try FileManager.default.createDirectory(at: memory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: memory) }
        let content = Data(repeating: 7, count: 600_000)
        let file = try PartialFile.create(beside: memory.appendingPathComponent("film.mov", isDirectory: false))
        try file.append(content)

        try file.move(to: destination)

        #expect(try Data(contentsOf: destination) == content && names == ["film.mov"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: memory.path).isEmpty)
        let second = try PartialFile.create(beside: memory.appendingPathComponent("film.mov", isDirectory: false))
        #expect(code { () throws(FileError) in try second.move(to: destination) } == .fileExists)
        #expect(names == ["film.mov"] && FileManager.default.fileExists(atPath: second.url.path))
    }
    #endif

    @Test func fileCanBeTruncatedAndRestarted() throws {
        let file = try PartialFile.create(beside: destination)
        try file.append(Data("Hello, file".utf8))

        try file.truncate(to: 5)
        try file.append(Data("!".utf8))
        #expect(text(of: file.url) == "Hello!" && file.length == 6)

        try file.truncate()
        try file.append(Data("A".utf8))
        #expect(text(of: file.url) == "A" && file.length == 1)

        #expect(code { () throws(FileError) in try file.truncate(to: 2) } == .cannotWriteFile)
        #expect(code { () throws(FileError) in try file.truncate(to: -1) } == .cannotWriteFile)
    }

    @Test func onlyPartialFilesAreResumed() throws {
        let name = PartialFile.name(for: "film.mov")
        let partial = folder.file(name)
        try Data("mine".utf8).write(to: destination)

        #expect(PartialFile.resume(destination) == nil)
        try FileManager.default.createSymbolicLink(at: partial, withDestinationURL: destination)
        #expect(PartialFile.resume(partial) == nil)
        try FileManager.default.removeItem(at: partial)
        try FileManager.default.linkItem(at: destination, to: partial)
        #expect(PartialFile.resume(partial) == nil)
        try FileManager.default.removeItem(at: partial)
        try FileManager.default.createDirectory(at: partial, withIntermediateDirectories: false)
        #expect(PartialFile.resume(partial) == nil)
    }

    @Test(arguments: ["film.mov", "", ".", String(repeating: "é", count: 300), "a\nb"])
    func hiddenNamesAreValidAndFit(_ destination: String) {
        let name = PartialFile.name(for: destination)

        #expect(PartialFile.isValidName(name) && name.hasPrefix(".") && name.utf8.count <= 200)
    }

    @Test(arguments: [
        "", ".partial", "film.partial", ".film.partial", ".a/b.5F0E3C1A-5F0E-4C1A-8F0E-5F0E3C1A5F0E.partial",
        "film.5F0E3C1A-5F0E-4C1A-8F0E-5F0E3C1A5F0E.partial", ".bashrc",
    ])
    func otherNamesAreInvalid(_ name: String) {
        #expect(!PartialFile.isValidName(name))
    }

    @Test func descriptorsAreClosed() throws {
        for round in 0..<Scale.pick(30, whole: 3000) {
            let file = try PartialFile.create(beside: destination)
            switch round % 3 {
            case 0: file.discard()
            case 1: try file.move(to: destination, overwrite: true)
            default: try FileManager.default.removeItem(at: file.url)
            }
        }
        #expect(names == ["film.mov"])
        #if os(Linux)
        #expect(try descriptors() == [])
        #endif
    }
}
