// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct ResumeTokenTests {
    private let manifest = DownloadManifest(
        address: "0",
        validator: .tag("a"),
        total: 10,
        created: Date(timeIntervalSince1970: 1_783_728_000)
    )
    private let folder: TemporaryFolder
    private let destination: URL

    init() throws {
        folder = try TemporaryFolder()
        destination = folder.file("film.mov")
    }

    private func token() throws -> ResumeToken {
        let file = try PartialFile.create(beside: destination)
        try file.append(Data("1234".utf8))
        file.finish()
        return ResumeToken(manifest, file: file.url, length: 4)
    }

    @Test func aTokenIsStoredAndReadBack() throws {
        let token = try token()

        let other = try ResumeToken(data: token.data)

        #expect(other == token && other.receivedLength == 4 && other.totalLength == 10)
        #expect(other.created == manifest.created)
        #expect(PartialFile.resume(other.file())?.length == 4)
    }

    @Test func discardedTokenRemovesItsFile() throws {
        let token = try token()

        token.discard()
        token.discard()

        #expect(try folder.names() == [])
    }

    @Test(arguments: ["/home/one", "/home/one/"]) func theHomeOfTheUserMayMove(home: String) throws {
        let name = PartialFile.name(for: "a")
        let file = URL(fileURLWithPath: "/home/one/Films/\(name)")

        let token = ResumeToken(manifest, file: file, length: 4, home: home)

        #expect(token.file(home: home).path == file.path)
        #expect(token.file(home: "/home/two").path == "/home/two/Films/\(name)")
        let outside = ResumeToken(manifest, file: URL(fileURLWithPath: "/home/oneself/\(name)"), length: 4, home: home)
        #expect(outside.file(home: "/home/two").path == "/home/oneself/\(name)")
    }

    @Test func tokenForAForeignFileIsInvalid() throws {
        let name = PartialFile.name(for: "a")
        for path in ["/etc/passwd", "a/\(name)", "/a/../\(name)", "~/.bashrc", "/\(name)/", "/a\0/\(name)", ""] {
            let token = ResumeToken(manifest, file: URL(fileURLWithPath: "/folder/\(name)"), length: 4, home: "/none")
            let text = String(decoding: token.data, as: UTF8.self)
                .replacingOccurrences(
                    of: "\\/folder\\/\(name)",
                    with: path.replacingOccurrences(of: "\0", with: "\\u0000")
                )

            if path == "/\(name)/" {
                // The same as without the slash.
                #expect(throws: Never.self) { try ResumeToken(data: Data(text.utf8)) }
            } else {
                #expect(throws: DecodingError.self, "\(path.debugDescription)") {
                    try ResumeToken(data: Data(text.utf8))
                }
            }
        }
        #expect(throws: DecodingError.self) { try ResumeToken(data: Data("nonsense".utf8)) }
    }

    @Test(arguments: ["film.mov", String(repeating: "é", count: 120)])
    func theNextProcessFindsTheTokenBesideTheDestination(name: String) throws {
        let destination = folder.file(name)
        let token = try token()
        #expect(ResumeToken.stored(for: destination) == nil)

        try token.store(for: destination)
        try token.store(for: destination)

        #expect(ResumeToken.stored(for: destination) == token)
        #expect(try folder.names().count == 2)

        ResumeToken.removeStored(for: destination)
        #expect(ResumeToken.stored(for: destination) == nil)
    }

    @Test func aTokenThatLeadsElsewhereIsNotFollowed() throws {
        let elsewhere = folder.file("elsewhere/film.mov")
        try PartialFile.createFolder(of: elsewhere)
        let file = try PartialFile.create(beside: elsewhere)
        file.finish()

        try ResumeToken(manifest, file: file.url, length: 0).store(for: destination)

        #expect(ResumeToken.stored(for: destination) == nil)
        #expect(ResumeToken.stored(for: elsewhere) == nil)
    }
}
