// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct ResumeTokenTests {
    private let manifest = DownloadManifest(
        address: "0",
        validator: .tag("a"),
        total: 10,
        created: Date(timeIntervalSince1970: 1_783_728_000)
    )

    @Test(arguments: ["/home/one", "/home/one/"]) func tokenSurvivesHomeDirectoryMove(home: String) throws {
        let name = PartialFile.name(for: "a")
        let file = URL(fileURLWithPath: "/home/one/Films/\(name)")

        let token = Download.ResumeToken(manifest, file: file, length: 4, home: home)

        #expect(token.file(home: home).path == file.path)
        #expect(token.file(home: "/home/two").path == "/home/two/Films/\(name)")
        let outside = Download.ResumeToken(
            manifest,
            file: URL(fileURLWithPath: "/home/oneself/\(name)"),
            length: 4,
            home: home
        )
        #expect(outside.file(home: "/home/two").path == "/home/oneself/\(name)")
    }
}
