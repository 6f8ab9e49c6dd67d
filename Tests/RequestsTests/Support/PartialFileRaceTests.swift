// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct PartialFileRaceTests {
    private let folder: TemporaryFolder
    private let destination: URL

    init() throws {
        folder = TemporaryFolder()
        destination = folder.file("film.mov")
    }

    @Test func resumeRacesResume() throws {
        let file = try PartialFile.create(beside: destination)
        try file.append(Data("Hello".utf8))
        file.finish()
        let url = file.url
        for round in 0..<Scale.races {
            let owners = Locked<[PartialFile?]>([])
            @Sendable func resume() {
                let owner = PartialFile.resume(url)
                owners.withLock { $0.append(owner) }
            }

            simultaneously({ resume() }, and: { resume() })

            let taken = owners.withLock { $0 }.compactMap { $0 }
            #expect(taken.count == 1, "round \(round)")
            for owner in taken { owner.finish() }
        }
    }

    @Test func finishRacesAppend() throws {
        let piece = Data(repeating: 7, count: 10_000)
        for round in 0..<Scale.races {
            let file = try PartialFile.create(beside: destination)
            let lengths = Locked<[Int64?]>([])

            simultaneously(
                { try? file.append(piece) },
                and: {
                    file.finish()
                    // At once: from here on, no more bytes are written, and another owner can continue the file.
                    lengths.withLock { $0 = [file.length, PartialFile.resume(file.url)?.length] }
                }
            )

            let length = file.length
            #expect(lengths.withLock { $0 } == [length, length] && (length == 0 || length == 10_000), "round \(round)")
            PartialFile.resume(file.url)?.discard()
        }
        #expect(try folder.names().isEmpty)
    }

    @Test func discardRacesMove() throws {
        for round in 0..<Scale.races {
            let file = try PartialFile.create(beside: destination)
            try file.append(Data("Hello".utf8))
            let isMoved = Locked(false)
            let destination = destination

            simultaneously(
                {
                    guard (try? file.move(to: destination)) != nil else { return }
                    isMoved.withLock { $0 = true }
                },
                and: { file.discard() }
            )

            // The whole file or none, and no other file.
            let content = try? Data(contentsOf: destination)
            #expect((content != nil) == isMoved.withLock { $0 }, "round \(round)")
            #expect(content == nil || content == Data("Hello".utf8))
            try? FileManager.default.removeItem(at: destination)
            #expect(try folder.names().isEmpty)
        }
    }

    @Test func discardRacesAppend() async throws {
        for _ in 0..<Scale.races {
            let file = try PartialFile.create(beside: destination)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for _ in 0..<20 { try? file.append(Data("bytes".utf8)) } }
                group.addTask { file.discard() }
            }
        }
        #expect(try folder.names() == [])
    }
}
