// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct DownloadDestinationTests {
    private let folder = FileManager.default.temporaryDirectory
    private let head = HTTPResponseHead(status: .ok)

    @Test func fileDestinationIsUsedUnchanged() throws {
        let url = folder.appendingPathComponent("a.txt")

        let destination = Download.Destination.file(url)

        #expect(destination.fixedFile == url && !destination.overwrite && destination.createsIntermediateDirectories)
        #expect(try destination.file(suggestedName: "b.txt", response: head) == url)
    }

    @Test func directoryDestinationUsesSuggestedName() throws {
        let destination = Download.Destination.directory(folder, overwrite: true)

        let file = try destination.file(suggestedName: "b.txt", response: head)

        #expect(file.deletingLastPathComponent().standardizedFileURL == folder.standardizedFileURL)
        #expect(file.lastPathComponent == "b.txt")
        #expect(destination.overwrite && destination.fixedFile == nil)
    }

    @Test func temporaryFilesAreUniqueWithExtension() throws {
        let one = try Download.Destination.temporary.file(suggestedName: "b.tar.gz", response: head)
        let other = try Download.Destination.temporary.file(suggestedName: "b", response: head)

        #expect(one != other && one.pathExtension == "gz" && other.pathExtension.isEmpty)
    }

    @Test func closureChoosesDestination() throws {
        let folder = folder
        let destination = Download.Destination { name, response in
            folder.appendingPathComponent("\(response.status.code)-\(name)")
        }

        #expect(try destination.file(suggestedName: "b", response: head).lastPathComponent == "200-b")
    }

    @Test func closureErrorIsThrown() {
        let destination = Download.Destination { _, _ in throw CancellationError() }

        #expect(throws: CancellationError.self) { try destination.file(suggestedName: "b", response: head) }
    }

    @Test(arguments: ["https://example.com/a", "file:///folder/"]) func destinationMustBeFileURL(_ text: String) {
        #expect(throws: FileError.self) {
            let url = try #require(URL(string: text))
            _ = try Download.Destination { _, _ in url }.file(suggestedName: "b", response: head)
        }
    }

    @Test func existingDestinationIsDetectedEarly() throws {
        let file = folder.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try Download.Destination.file(file).check(file)
        try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "/nowhere")

        #expect(throws: FileError.self) { try Download.Destination.file(file).check(file) }
        try Download.Destination.file(file, overwrite: true).check(file)
    }

    @Test(
        arguments: [
            (FileError.Code.fileExists, RequestError.Code.fileExists), (.cannotWriteFile, .cannotWriteFile),
            (.diskFull, .diskFull),
        ] as [(FileError.Code, RequestError.Code)]
    )
    func fileErrorsMapToRequestErrorCodes(code: FileError.Code, expected: RequestError.Code) {
        let error = RequestError(FileError(code, folder, "why"))

        #expect(error.code == expected && error.phase == .receiving)
    }
}
