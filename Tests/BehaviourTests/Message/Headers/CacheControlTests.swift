// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct CacheControlTests {
    @Test(
        arguments: [
            ([.maxAge(.seconds(60)), .noTransform], "max-age=60, no-transform"),
            ([.maxStale(), .maxStale(.seconds(5)), .minFresh(.seconds(7))], "max-stale, max-stale=5, min-fresh=7"),
            ([.noCache, .noStore, .onlyIfCached], "no-cache, no-store, only-if-cached"),
            ([.init("private", "Set-Cookie, Age"), .init("no-cache", "X")], #"private="Set-Cookie, Age", no-cache=X"#),
            ([.init("Immutable"), .mustRevalidate], "immutable, must-revalidate"),
            ([.maxAge(.milliseconds(1999)), .staleIfError(.seconds(1))], "max-age=1, stale-if-error=1"),
            ([.maxAge(.seconds(-5)), .maxAge(.seconds(Int64.max))], "max-age=0, max-age=2147483648"),
            ([.init("community", "UCI"), .init("x", "a b")], #"community=UCI, x="a b""#),
            ([], ""),
        ] as [(CacheControl, String)]
    )
    func directivesRoundTrip(control: CacheControl, text: String) throws {
        #expect(control.rawValue == text)
        #expect(CacheControl(parsing: text) == control)
        #expect(try control.validated() == control)
    }

    @Test(
        arguments: [
            ("MAX-AGE=\"60\" ,, No-Store", "max-age=60, no-store"), (" , ,", ""), ("=5, max-age=1", "max-age=1"),
            ("a b, no-cache", "a, no-cache"), ("x=\"a, b\", y", "x=\"a, b\", y"), ("max-age = 5", "max-age=5"),
            ("private; no-store", "private, no-store"), ("max-age=60; no-store", "max-age=60, no-store"),
            ("no-store foo", "no-store"), ("no-cache=\"open, no-store", "no-cache=\"\", no-store"),
        ] as [(String, String)]
    )
    func malformedInputIsParsedLeniently(text: String, printed: String) {
        #expect(CacheControl(parsing: text).rawValue == printed)
    }

    @Test(
        arguments: [
            ("max-age=60", .seconds(60)), ("max-age=0", .zero), ("Max-Age=\"5\"", .seconds(5)), ("max-age=-1", nil),
            ("max-age=1.5", nil), ("max-age=", nil), ("max-age", nil), ("max-age=1, max-age=2", .seconds(1)), ("", nil),
            ("max-age=99999999999999999999999", .seconds(2_147_483_648)), ("max-age=٣", nil),
        ] as [(String, Duration?)]
    )
    func parsesDurationsInSeconds(text: String, duration: Duration?) {
        #expect(CacheControl(parsing: text).maxAge == duration)
    }

    @Test func directiveNamesAreCaseInsensitive() {
        let control = CacheControl(parsing: "No-Store, stale-while-revalidate=2, stale-if-error=3")

        #expect(control.contains("no-store") && !control.contains("no-cache"))
        #expect(control.staleWhileRevalidate == .seconds(2) && control.staleIfError == .seconds(3))
        let first = control.directives.first
        #expect(first == .noStore && first?.hashValue == CacheControl.Directive.noStore.hashValue)
    }

    @Test(arguments: [
        CacheControl.Directive("a b"), .init(""), .init("a\r\nX-Evil: 1"), .init("a", "\r\nX-Evil: 1"),
        .init("a", "\0"),
        .init("no-cache", "a\n"), .init("a,b"),
    ])
    func invalidDirectivesAreRejected(_ directive: CacheControl.Directive) {
        #expect(throws: InvalidValue.self) { try CacheControl([.noStore, directive]).validated() }
    }
}
