// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct BuilderTests {
    struct TraceID: HTTPField.Convertible {
        var field: HTTPField { HTTPField("X-Trace-ID", "7") }
    }

    struct Page: Query.ItemConvertible {
        let number: Int
        var queryItem: Query.Item { Query.Item("page", value: number) }
    }

    struct Snake: Encodable, Sendable {
        let someKey: Int
    }

    enum Mode: CaseIterable { case first, second, third }

    private func note(_ text: String) {}

    @Test func headersBuilderAcceptsAllFieldTypes() {
        let headers = Get<User>("u").headers {
            Accept(.json, .xml)
            Authorization("Bearer t")
            ContentType("text/csv")
            UserAgent("Recipes/1")
            XApiKey("k")
            Header("X-A", value: "1")
            HTTPField.acceptLanguage("en")
            TraceID()
            HTTPHeaders([HTTPField("X-B", "2")])
        }.http.headers

        #expect(headers[.authorization] == "Bearer t" && headers[.contentType] == "text/csv")
        #expect(headers[.userAgent] == "Recipes/1" && headers["X-API-Key"] == "k")
        #expect(headers["X-A"] == "1" && headers[.acceptLanguage] == "en")
        #expect(headers["X-Trace-ID"] == "7" && headers["X-B"] == "2")
        #expect(headers[.accept]?.hasPrefix("application/json") == true)
    }

    @Test func headersBuilderCanStartWithImplicitMember() {
        let headers = Get<User>("u").headers {
            .accept(.json)
        }.http.headers

        #expect(headers[.accept] == "application/json")
    }

    @Test(arguments: [nil, "t"], Mode.allCases)
    func headersBuilderSupportsControlFlow(_ token: String?, _ mode: Mode) {
        let headers = Get<User>("u").headers {
            note("statements that give nothing are let be")
            if let token { Authorization("Bearer \(token)") }
            if mode == .first { Header("X-If", value: "1") } else { Header("X-Else", value: "1") }
            switch mode {
            case .first: Header("X-Mode", value: "1")
            case .second: Header("X-Mode", value: "2")
            case .third: Header("X-Mode", value: "3")
            }
            for index in 0..<3 { Header("X-For", value: "\(index)") }
        }.http.headers

        #expect(headers[.authorization] == token.map { "Bearer \($0)" })
        #expect(headers.contains("X-If") == (mode == .first) && headers.contains("X-Else") == (mode != .first))
        #expect(headers["X-Mode"] == (mode == .first ? "1" : mode == .second ? "2" : "3"))
        #expect(headers[values: "X-For"] == ["0", "1", "2"])
    }

    @Test func laterHeaderReplacesEarlierWithSameName() {
        let request = Get<User>("u")
            .headers { Header("x-a", value: "1") }
            .headers { Header("X-A", value: "2") }

        #expect(request.http.headers[values: "x-a"] == ["2"])
    }

    @Test func queryBuilderSupportsControlFlow() {
        let (page, flag): (Int?, Bool) = (2, false)
        let query = Get<User>("u").query {
            note("statements that give nothing are let be")
            for field in ["id", "name"] { Item("fields", value: field) }
            if let page { Page(number: page) }
            if flag { Item("flag", value: nil) } else { Item("noflag", value: nil) }
            Query([Query.Item("q", value: "a&b")])
        }.http.query

        #expect(query.percentEncoded == "fields=id&fields=name&page=2&noflag&q=a%26b")
    }

    @Test func bodyBuilderEncodesSingleValue() async throws {
        let user = User()

        let sent = try await TestQueue.sent(
            Post<User>("u").body {
                note("statements that give nothing are let be")
                user
            }
        )

        #expect(try sent.body.data() == Data(#"{"id":1,"name":"Ada"}"#.utf8))
        #expect(sent.headers[.contentType] == "application/json")
    }

    @Test func bodyBuilderUsesCustomEncoder() async throws {
        let sent = try await TestQueue.sent(
            Post<Void>("u").body(encoder: {
                let encoder = JSONEncoder()
                encoder.keyEncodingStrategy = .convertToSnakeCase
                return encoder
            }) { Snake(someKey: 1) }
        )

        #expect(try sent.body.data() == Data(#"{"some_key":1}"#.utf8))
    }

    @Test func nilOptionalProducesNoBody() async throws {
        let missingUser: User? = nil

        let sent = try await TestQueue.sent(Post<Void>("u").body { missingUser })

        #expect(sent.body.isEmpty && sent.headers[.contentType] == nil)
    }

    @Test func nilLiteralProducesNoBody() async throws {
        let sent = try await TestQueue.sent(Post<Void>("u").body { nil })
        let null = try await TestQueue.sent(Post<Void>("u").body(.json(nil)))

        #expect(sent.body.isEmpty && sent.headers[.contentType] == nil)
        #expect(try null.body.data() == Data("null".utf8))
    }

    @Test(arguments: [true, false])
    func bodyBuilderSupportsIfElse(_ isRaw: Bool) async throws {
        let sent = try await TestQueue.sent(
            Post<Void>("u").body {
                if isRaw { Data("raw".utf8) } else { User() }
            }
        )

        #expect(sent.headers[.contentType] == (isRaw ? "application/octet-stream" : "application/json"))
    }

    @Test func unencodableBodyFailsRequest() async {
        let error = await #expect(throws: RequestError.self) {
            try await TestQueue.sent(Post<Void>("u").body { [Double.infinity] })
        }

        #expect(error?.underlying is EncodingError)
    }
}
