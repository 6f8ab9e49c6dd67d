// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension StubCondition {
    /// The content is these bytes; empty data matches no content.
    public static func body(_ body: Data) -> StubCondition {
        ofBody("body of \(body.count) bytes") { $0.body == body ? nil : $0.contentDifference(from: body) }
    }

    /// The content is this text, in UTF-8.
    public static func body(_ text: String) -> StubCondition {
        .body(Data(text.utf8))
    }

    /// The content, as text, matches the regular expression.
    public static func body(matching pattern: String) -> StubCondition {
        let pattern = StubPattern(pattern)
        return ofBody("body matching \(pattern)") { pattern.mismatch(of: [$0.text], what: "the content") }
    }

    /// The content is this JSON, with its members in any order.
    ///
    /// ```swift
    /// stubber.stub(.post, "/orders", .jsonBody(["eggs": 3, "cook": .value(name)])).respond(with: .noContent)
    /// ```
    public static func jsonBody(_ literal: JSONValue.Literal) -> StubCondition {
        ofJSON("JSON body", literal, isExact: true)
    }

    /// The content is the JSON of the value, with its members in any order.
    public static func jsonBody(encoding value: some Encodable, encoder: JSONEncoder = JSONEncoder()) -> StubCondition {
        ofJSON("JSON body of \(type(of: value))", value, encoder, isExact: true)
    }

    /// The content is JSON with these members at every level; others are allowed.
    ///
    /// Arrays must have the same number of elements; each element is compared the same way.
    public static func jsonBody(containing literal: JSONValue.Literal) -> StubCondition {
        ofJSON("JSON body containing members", literal, isExact: false)
    }

    /// The content is a form with exactly these items; items of different names may be in any order.
    public static func formBody(_ form: Query) -> StubCondition {
        ofBody("form \(form)") { $0.form.mismatch(with: form, isExact: true, what: "form field") }
    }

    /// The content is a form with these items; others are allowed.
    public static func formBody(containing form: Query) -> StubCondition {
        ofBody("form containing \(form)") { $0.form.mismatch(with: form, isExact: false, what: "form field") }
    }

    private static func ofJSON(
        _ description: String,
        _ expected: some Encodable,
        _ encoder: JSONEncoder = JSONEncoder(),
        isExact: Bool
    ) -> StubCondition {
        let expected = Result { try JSONDecoder().decode(JSONValue.self, from: encoder.encode(expected)) }
        return ofBody(description) { request in
            guard let expected = try? expected.get() else { return "the expected value can't be encoded as JSON" }
            guard let actual = try? JSONDecoder().decode(JSONValue.self, from: request.body) else {
                return "the content isn't JSON"
            }
            let differences = actual.differences(from: expected, isExact: isExact)
            return differences.isEmpty ? nil : "the JSON differs: \(differences.joined(separator: ", "))"
        }
    }

    /// Makes a condition on the content, which isn't met if the content is hidden.
    private static func ofBody(
        _ description: String,
        _ mismatch: @escaping @Sendable (ReceivedRequest) -> String?
    ) -> StubCondition {
        StubCondition(description) { request in
            request.isBodyHidden
                ? .unknown("the content of an upload task isn't shown on this platform")
                : MatchResult(mismatch: mismatch(request))
        }
    }
}

extension ReceivedRequest {
    /// The difference of the content from the expected one in words, from shortly before its first byte; content that
    /// may have a secret isn't shown.
    fileprivate func contentDifference(from expected: Data) -> String {
        let isShown = [body, expected].allSatisfy {
            Redaction.content($0, of: headers) == $0 && String(data: $0, encoding: .utf8) != nil
        }
        guard isShown else {
            return body.count == expected.count
                ? "the content differs" : "the content has \(body.count) bytes, not \(expected.count)"
        }
        let same = zip(body, expected).prefix { $0 == $1 }.count
        func excerpt(_ content: Data) -> String {
            let start = same > 16 ? same - 8 : 0
            let text = String(decoding: content.dropFirst(start), as: UTF8.self).shortened()
            return "\(start > 0 ? "…" : "")\"\(text)\""
        }
        return "the content is \(excerpt(body)), not \(excerpt(expected))"
    }
}
