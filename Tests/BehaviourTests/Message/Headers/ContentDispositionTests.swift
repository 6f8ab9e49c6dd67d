// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct ContentDispositionTests {
    @Test(
        arguments: [
            // RFC 6266, 5.
            ("Attachment; filename=example.html", "attachment", "example.html"),
            ("INLINE; FILENAME= \"an example.html\"", "inline", "an example.html"),
            ("attachment; filename*= UTF-8''%e2%82%ac%20rates", "attachment", "€ rates"),
            ("attachment; filename=\"EURO rates\"; filename*=utf-8''%e2%82%ac%20rates", "attachment", "€ rates"),
            // RFC 8187, 3.2.3.
            ("attachment; filename*=UTF-8'en'%c2%a3%20rates", "attachment", "£ rates"),
            ("attachment; filename*=iso-8859-1'en'%A3%20rates", "attachment", "£ rates"),
            // The order doesn't matter, and the other parameter replaces an unreadable name.
            ("attachment; filename*=UTF-8''a; filename=b", "attachment", "a"),
            ("attachment; filename*=UTF-8''%; filename=b", "attachment", "b"),
            ("attachment; filename=b; filename*=UTF-8''%e2%82", "attachment", "b"),
            ("attachment; filename=b; filename*=KOI8-R''%e2", "attachment", "b"),
            ("attachment; filename=b; filename*=nothing", "attachment", "b"),
            ("attachment; filename*=UTF-8''%zz", "attachment", nil),
            // Fields of real servers.
            ("attachment", "attachment", nil), ("inline;", "inline", nil),
            ("attachment;filename=a b.txt;x=y", "attachment", "a b.txt"),
            ("attachment; filename=\"a\\\"b\\\\c\"", "attachment", "a\"b\\c"),
            ("attachment; filename=\"open", "attachment", "open"),
            ("attachment; filename=\"a;b=c\"; x", "attachment", "a;b=c"),
            ("attachment; filename=a; filename=b", "attachment", "a"),
            ("filename=\"a.txt\"", "attachment", "a.txt"), ("; filename=a", "attachment", "a"),
            ("attachment; filename=naïve.txt", "attachment", "naïve.txt"),
            ("attachment; filename=\"foo%20bar\"", "attachment", "foo bar"),
            ("attachment; filename=\"%E6%8A%A5.pdf\"", "attachment", "报.pdf"),
            ("attachment; filename=%e6%8a%a5.pdf", "attachment", "报.pdf"),
            ("attachment; filename=\"=?UTF-8?B?5oqlLnBkZg==?=\"", "attachment", "报.pdf"),
            ("attachment; filename=\"Report =?UTF-8?B?5oqlLnBkZg==?=\"", "attachment", "Report 报.pdf"),
            ("attachment; filename=\"=?utf-8*en?Q?a_b?= =?utf8?q?=C3=A9?= c.txt\"", "attachment", "a bé c.txt"),
            ("attachment; filename=\"=?windows-1252?Q?caf=E9?=\t=?Shift_JIS?B?jvA=?=\"", "attachment", "café酒"),
            ("attachment; filename=\"=?utf-8?q?a=zz?=\"", "attachment", "=?utf-8?q?a=zz?="),
            ("attachment; filename=\"=?x-none?Q?a?=\"", "attachment", "=?x-none?Q?a?="),
            ("attachment; filename=\"=?utf-8?q?=E6=8A=A5_1.pdf?=\"", "attachment", "报 1.pdf"),
            ("attachment; filename=\"=?iso-8859-1?Q?caf=E9?= =?us-ascii?Q?.txt?=\"", "attachment", "café.txt"),
            // Percent-encoding is decoded once, and only if it is valid.
            ("attachment; filename=\"a%2541\"", "attachment", "a%41"),
            ("attachment; filename=\"=?utf-8?q?100%25?=\"", "attachment", "100%25"),
            ("attachment; filename=\"100%.txt\"", "attachment", "100%.txt"),
            ("attachment; filename=\"%FF.txt\"", "attachment", "%FF.txt"),
            ("attachment; filename=\"=?koi8-r?B?4g==?=\"", "attachment", "=?koi8-r?B?4g==?="),
            ("attachment; filename=\"=?utf-8?X?a?=\"", "attachment", "=?utf-8?X?a?="),
            ("attachment; filename=\"..%2F..%2Fetc%00\"", "attachment", "../../etc\0"),
            ("attachment; filename='a'", "attachment", "'a'"), ("attachment; filename=\"\"", "attachment", ""),
            // Malicious names are kept unchanged, as data.
            ("attachment; filename=\"../../etc/passwd\"", "attachment", "../../etc/passwd"),
            ("attachment; filename*=UTF-8''..%2F%00%0d%0ax", "attachment", "../\0\r\nx"),
        ] as [(String, String, String?)]
    )
    func parsesContentDisposition(text: String, type: String, fileName: String?) throws {
        let disposition = try #require(HTTPField.ContentDisposition(parsing: text))

        #expect(disposition.type == type && disposition.fileName == fileName)
    }

    @Test(arguments: ["", " ", ";", ";;;", "\"attachment\"", "=x", "a b c"])
    func malformedFieldIsInvalid(_ text: String) {
        #expect(HTTPField.ContentDisposition(parsing: text) == nil)
    }

    @Test(
        arguments: [
            (.attachment(), "attachment"), (.init("inline", fileName: "a.txt"), "inline; filename=\"a.txt\""),
            (.attachment(fileName: "a b;c.txt"), "attachment; filename=\"a b;c.txt\""),
            (.attachment(fileName: "€.txt"), "attachment; filename=\"_.txt\"; filename*=UTF-8''%E2%82%AC.txt"),
            (
                .attachment(fileName: "a\"b\\c%41"),
                "attachment; filename=\"a_b_c_41\"; filename*=UTF-8''a%22b%5Cc%2541"
            ),
            (
                HTTPField.ContentDisposition("form-data", parameters: [.init("name", "a \"b\"")], fileName: "x"),
                "form-data; name=\"a \\\"b\\\"\"; filename=\"x\""
            ),
        ] as [(HTTPField.ContentDisposition, String)]
    )
    func dispositionsRoundTrip(disposition: HTTPField.ContentDisposition, text: String) throws {
        #expect(disposition.rawValue == text)
        #expect(HTTPField.ContentDisposition(parsing: text) == disposition)
        #expect(try disposition.validated() == disposition)
    }

    @Test(
        arguments: [
            .attachment(fileName: "a\r\nX-Evil: 1"), .attachment(fileName: "\0"), HTTPField.ContentDisposition("a b"),
            HTTPField.ContentDisposition("form-data\r\n"),
            HTTPField.ContentDisposition("a", parameters: [.init("a b", "c")]),
            HTTPField.ContentDisposition("a", parameters: [.init("a", "\n")]), HTTPField.ContentDisposition(""),
        ] as [HTTPField.ContentDisposition]
    )
    func invalidComponentsAreRejected(_ disposition: HTTPField.ContentDisposition) {
        #expect(throws: InvalidValue.self) { try disposition.validated() }
    }
}
