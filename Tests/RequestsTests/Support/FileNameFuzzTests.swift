// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// Names of a hostile server: for any suggestion, the file is inside its folder.
@Suite(.bounded) struct FileNameFuzzTests {
    @Test func safeNamesAreSinglePathComponents() {
        let pieces = [
            "..", ".", "/", "\\", ":", " ", "\0", "\n", "\u{202E}", "\u{200D}", "\u{301}", "CON", "nul", "com1", "a",
            "é", "👩‍👧", ".txt", "~", "%2f", String(repeating: "b", count: 100), String(repeating: "é", count: 130),
            String(repeating: " ", count: 250), "\u{2028}", "_", "\u{FF0F}", "\u{2215}",
        ]
        var fuzz = Fuzz()
        for _ in 0..<Scale.fuzz(weight: 10) {
            let text = fuzz.text(of: pieces, upTo: 6)

            let name = FileName.safe(text)

            let scalars = name.unicodeScalars
            let isSafe =
                1...255 ~= name.utf8.count && scalars.first != "." && scalars.last != "."
                && !scalars.contains { "/\\:".unicodeScalars.contains($0) || $0.properties.generalCategory == .control }
                && name == FileName.safe(name)
            guard isSafe else {
                Issue.record("\(text.debugDescription) gives \(name.debugDescription), seed \(Fuzz.seed)")
                return
            }
        }
    }
}
