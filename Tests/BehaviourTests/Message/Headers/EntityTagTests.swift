// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct EntityTagTests {
    @Test(
        arguments: [
            // RFC 9110, 8.8.3.
            ("\"xyzzy\"", EntityTag("xyzzy")), ("W/\"xyzzy\"", EntityTag("xyzzy", isWeak: true)),
            ("\"\"", EntityTag("")),
            (" \"a,b\\\" ", EntityTag("a,b\\")), ("xyzzy", EntityTag("xyzzy")),
            ("w/\"ä\"", EntityTag("ä", isWeak: true)),
            ("*", nil), ("", nil), ("\"", nil), ("\"a\"b\"", nil), ("\"a b\"", nil), ("\"a\n\"", nil), ("W/", nil),
        ] as [(String, EntityTag?)]
    )
    func tagsAreRead(text: String, tag: EntityTag?) {
        #expect(EntityTag(parsing: text) == tag)
        #expect(tag.map { EntityTag(parsing: $0.rawValue) == $0 } != false)
    }

    @Test(
        arguments: [
            // RFC 9110, 8.8.3.2: strong and weak.
            (EntityTag("1", isWeak: true), EntityTag("1", isWeak: true), false, true),
            (EntityTag("1", isWeak: true), EntityTag("2", isWeak: true), false, false),
            (EntityTag("1", isWeak: true), EntityTag("1"), false, true), (EntityTag("1"), EntityTag("1"), true, true),
        ] as [(EntityTag, EntityTag, Bool, Bool)]
    )
    func tagsAreComparedInTwoWays(one: EntityTag, other: EntityTag, isStrong: Bool, isWeak: Bool) {
        #expect(one.matchesStrongly(other) == isStrong && one.isWeaklyEqual(to: other) == isWeak)
    }

    @Test func listsAreRead() {
        let text = "\"xyzzy\", W/\"r2d2,xxxx\",, nonsense!\"\" ,\"c3piozzzz\""

        #expect(EntityTag.list(parsing: text).map(\.rawValue) == ["\"xyzzy\"", "W/\"r2d2,xxxx\"", "\"c3piozzzz\""])
        #expect(EntityTag.list(parsing: "*").isEmpty)
    }

    @Test(arguments: ["a\"b", "a b", "a\r\nX-Evil: 1", "\0"]) func badTagsAreRefused(_ value: String) {
        #expect(throws: InvalidRequest.self) { try EntityTag(value).validated() }
    }
}
