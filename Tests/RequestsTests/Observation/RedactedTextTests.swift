// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct RedactedTextTests {
    @Test(arguments: [
        "the code is wrong", "pass it on", "No such session.", "It's a pin", #"a "key" is needed"#,
    ])
    func commonWordsOfATextAreShown(text: String) throws {
        #expect(Redaction.shown(Data(text.utf8), type: "text/plain") == Data(text.utf8))
    }

    @Test func linesOfJSONThatNameASecretAreHidden() throws {
        let text = "{\"a\":1}\n\n{\"pin\":1234,\"b\":2}\n"

        #expect(Redaction.shown(Data(text.utf8), type: "application/x-ndjson") == nil)
        #expect(Redaction.shown(Data("{\"a\":1}\n{\"b\":2}\n".utf8), type: nil) != nil)
    }
}
