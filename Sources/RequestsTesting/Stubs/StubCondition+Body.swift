// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension StubCondition {
    /// Matches requests whose content is exactly these bytes; empty data matches a request without content.
    public static func body(_ body: Data) -> StubCondition {
        ofBody("body of \(body.count.counting("byte"))") { $0.body == body ? nil : $0.contentDifference(from: body) }
    }

    /// Matches requests whose content is this text in UTF-8.
    public static func body(_ text: String) -> StubCondition {
        .body(Data(text.utf8))
    }

    /// Matches requests whose content, as text, matches the regular expression.
    public static func body(matching pattern: String) -> StubCondition {
        let pattern = StubPattern(pattern)
        return ofBody("body matching \(pattern)") { pattern.mismatch(of: [$0.text], what: "the content") }
    }

    /// Matches requests whose content is this JSON, with object members in any order.
    ///
    /// ```swift
    /// stubber.stub(.post, "/orders", .jsonBody(["eggs": 3, "cook": .value(name)])).respond(with: .noContent)
    /// ```
    public static func jsonBody(_ literal: JSONValue.Literal) -> StubCondition {
        ofJSON("JSON body", literal, isExact: true)
    }

    /// Matches requests whose content is the JSON encoding of the value, with object members in any order.
    public static func jsonBody(encoding value: some Encodable, encoder: JSONEncoder = JSONEncoder()) -> StubCondition {
        ofJSON("JSON body of \(type(of: value))", value, encoder, isExact: true)
    }

    /// Matches requests whose content is JSON that has these members at every level, and possibly others.
    ///
    /// Arrays must have the same number of elements, which are compared in the same way.
    public static func jsonBody(containing literal: JSONValue.Literal) -> StubCondition {
        ofJSON("JSON body containing members", literal, isExact: false)
    }

    /// Matches requests whose content is a form with exactly these items; items with different names may be in any
    /// order.
    public static func formBody(_ form: Query) -> StubCondition {
        ofBody("form \(form)") { $0.form.mismatch(with: form, isExact: true, what: "form field") }
    }

    /// Matches requests whose content is a form with these items, and possibly others.
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

    /// Creates a condition on the content, whose result is unknown if the content is hidden.
    private static func ofBody(
        _ description: String,
        _ mismatch: @escaping @Sendable (ReceivedRequest) -> String?
    ) -> StubCondition {
        StubCondition(description) { request in
            request.isBodyHidden
                ? .unknown("the content of an upload task isn't available on this platform")
                : MatchResult(mismatch: mismatch(request))
        }
    }
}

extension ReceivedRequest {
    /// Describes how the content differs from the expected content, starting shortly before the first difference.
    ///
    /// Content that may contain a secret isn't shown.
    fileprivate func contentDifference(from expected: Data) -> String {
        let isShown = [body, expected].allSatisfy {
            Redaction.content($0, of: headers) == $0 && String(data: $0, encoding: .utf8) != nil
        }
        guard isShown else {
            return body.count == expected.count
                ? "the content differs" : "the content has \(body.count.counting("byte")), not \(expected.count)"
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
