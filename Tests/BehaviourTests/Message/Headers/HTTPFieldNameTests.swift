// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct HTTPFieldNameTests {
    @Test(
        arguments: [
            (.accept, "Accept"), (.eTag, "ETag"), (.wwwAuthenticate, "WWW-Authenticate"), (.te, "TE"),
            (.traceParent, "traceparent"), (.lastEventID, "Last-Event-ID"),
            (.apiKey, "X-API-Key"),
        ] as [(HTTPField.Name, String)]
    )
    func standardNamesUseRegisteredSpelling(name: HTTPField.Name, text: String) {
        #expect(name.rawValue == text && text.isToken)
    }

    @Test func nameOrderIsCaseInsensitive() {
        let names: [HTTPField.Name] = ["b", "A", "c", "B-x", "a-"]

        #expect(names.sorted().map(\.rawValue) == ["A", "a-", "b", "B-x", "c"])
    }

    @Test func patternMatchingIsCaseInsensitive() {
        switch HTTPField.Name("CONTENT-TYPE") {
        case .contentType: break
        default: Issue.record("isn't the same")
        }
    }
}
