// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct RedactedTextTests {
    @Test(arguments: [
        "the code is wrong", "the key: none", "pass it on", "No such session.", "It's a pin", #"a "key" is needed"#,
    ])
    func commonWordsAreShown(text: String) throws {
        #expect(Redaction.content(Data(text.utf8), type: "text/plain") == Data(text.utf8))
    }

    @Test func wordsWithCommonPrefixAreHidden() {
        #expect(Redaction.content(Data("1code7".utf8), type: "text/plain") == nil)
    }

    @Test func jsonLinesOmitSecrets() throws {
        let text = "{\"a\":1}\n\n{\"pin\":1234,\"b\":2}\n"

        let shown = try #require(Redaction.content(Data(text.utf8), type: "application/x-ndjson"))

        #expect(String(decoding: shown, as: UTF8.self) == "{\"a\":1}\n\n{\"b\":2,\"pin\":0}\n")
    }
}
