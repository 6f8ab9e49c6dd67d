// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension StubCondition {
    /// The content is these bytes; with none, there is no content.
    public static func body(_ body: Data) -> StubCondition {
        ofBody("body of \(body.count) bytes") { request in
            guard request.body != body else { return nil }
            return request.body.count == body.count
                ? "the content differs"
                : "the content has \(request.body.count) bytes, not \(body.count)"
        }
    }

    /// The content is this text, in UTF-8.
    public static func body(_ text: String) -> StubCondition {
        .body(Data(text.utf8))
    }

    /// The content, as text, has a match of the regular expression.
    public static func body(matching pattern: String) -> StubCondition {
        let pattern = StubPattern(pattern)
        return ofBody("body matching \(pattern)") { pattern.mismatch(of: [$0.text], what: "the content") }
    }

    /// The content is this JSON, in whatever order its members are written.
    public static func jsonBody(_ value: JSONValue) -> StubCondition {
        ofJSON("JSON body", .success(value), isWhole: true)
    }

    /// The content is the JSON of the value, in whatever order its members are written.
    public static func jsonBody(encoding value: some Encodable, encoder: JSONEncoder = JSONEncoder()) -> StubCondition {
        ofJSON("JSON body of \(type(of: value))", Result { try JSONValue(encoding: value, encoder) }, isWhole: true)
    }

    /// The content is JSON that has these members, and maybe others, at every level.
    ///
    /// Arrays have as many elements as here, and each element has what is here of it.
    public static func jsonBody(containing value: JSONValue) -> StubCondition {
        ofJSON("JSON body containing members", .success(value), isWhole: false)
    }

    /// The content is JSON that has the members of the value, and maybe others, at every level.
    public static func jsonBody(
        containingEncoded value: some Encodable,
        encoder: JSONEncoder = JSONEncoder()
    ) -> StubCondition {
        let expected = Result { try JSONValue(encoding: value, encoder) }
        return ofJSON("JSON body containing \(type(of: value))", expected, isWhole: false)
    }

    /// The content is a form with just these items, in any order.
    public static func formBody(_ form: Query) -> StubCondition {
        ofBody("form \(form)") { $0.form.mismatch(with: form, isWhole: true, what: "form field") }
    }

    /// The content is a form with these items, and maybe others.
    public static func formBody(containing form: Query) -> StubCondition {
        ofBody("form containing \(form)") { $0.form.mismatch(with: form, isWhole: false, what: "form field") }
    }

    private static func ofJSON(
        _ description: String,
        _ expected: Result<JSONValue, any Error>,
        isWhole: Bool
    ) -> StubCondition {
        ofBody(description) { request in
            guard let expected = try? expected.get() else { return "the expected value can't be encoded as JSON" }
            guard let actual = try? JSONDecoder().decode(JSONValue.self, from: request.body) else {
                return "the content isn't JSON"
            }
            return actual.mismatch(with: expected, isWhole: isWhole).map { "the JSON \($0)" }
        }
    }

    /// A condition of the content, which is not met where nobody is shown it.
    private static func ofBody(
        _ description: String,
        _ mismatch: @escaping @Sendable (StubbedRequest) -> String?
    ) -> StubCondition {
        StubCondition(description) { request in
            request.isBodyHidden
                ? .unknown("the content of an upload task isn't shown on this platform")
                : Verdict(mismatch: mismatch(request))
        }
    }
}
