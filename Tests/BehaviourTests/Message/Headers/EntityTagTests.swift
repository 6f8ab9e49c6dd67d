// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct EntityTagTests {
    @Test(
        arguments: [
            // RFC 9110, 8.8.3.
            ("\"xyzzy\"", HTTPField.EntityTag("xyzzy")), ("W/\"xyzzy\"", HTTPField.EntityTag("xyzzy", isWeak: true)),
            ("\"\"", HTTPField.EntityTag("")),
            (" \"a,b\\\" ", HTTPField.EntityTag("a,b\\")), ("xyzzy", HTTPField.EntityTag("xyzzy")),
            ("w/\"ä\"", HTTPField.EntityTag("ä", isWeak: true)),
            ("*", nil), ("", nil), ("\"", nil), ("\"a\"b\"", nil), ("\"a b\"", nil), ("\"a\n\"", nil), ("W/", nil),
        ] as [(String, HTTPField.EntityTag?)]
    )
    func parsesEntityTags(text: String, tag: HTTPField.EntityTag?) {
        #expect(HTTPField.EntityTag(parsing: text) == tag)
        #expect(tag.map { HTTPField.EntityTag(parsing: $0.rawValue) == $0 } != false)
    }

    @Test(
        arguments: [
            // RFC 9110, 8.8.3.2: strong and weak.
            (HTTPField.EntityTag("1", isWeak: true), HTTPField.EntityTag("1", isWeak: true), false, true),
            (HTTPField.EntityTag("1", isWeak: true), HTTPField.EntityTag("2", isWeak: true), false, false),
            (HTTPField.EntityTag("1", isWeak: true), HTTPField.EntityTag("1"), false, true),
            (HTTPField.EntityTag("1"), HTTPField.EntityTag("1"), true, true),
        ] as [(HTTPField.EntityTag, HTTPField.EntityTag, Bool, Bool)]
    )
    func comparesTagsStronglyAndWeakly(
        one: HTTPField.EntityTag,
        other: HTTPField.EntityTag,
        isStrong: Bool,
        isWeak: Bool
    ) {
        #expect(one.matchesStrongly(other) == isStrong && one.isWeaklyEqual(to: other) == isWeak)
    }

    @Test func parsesEntityTagLists() {
        let text = "\"xyzzy\", W/\"r2d2,xxxx\",, nonsense!\"\" ,\"c3piozzzz\""

        #expect(
            HTTPField.EntityTag.list(parsing: text).map(\.rawValue) == [
                "\"xyzzy\"", "W/\"r2d2,xxxx\"", "\"c3piozzzz\"",
            ]
        )
        #expect(HTTPField.EntityTag.list(parsing: "*").isEmpty)
    }

    @Test(arguments: ["a\"b", "a b", "a\r\nX-Evil: 1", "\0"]) func invalidTagsAreRejected(_ value: String) {
        #expect(throws: InvalidValue.self) { try HTTPField.EntityTag(value).validated() }
    }
}
