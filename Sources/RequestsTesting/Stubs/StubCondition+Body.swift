// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension StubCondition {
    /// The content is these bytes; empty data matches no content.
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

    /// The content, as text, matches the regular expression.
    public static func body(matching pattern: String) -> StubCondition {
        let pattern = StubPattern(pattern)
        return ofBody("body matching \(pattern)") { pattern.mismatch(of: [$0.text], what: "the content") }
    }

    /// The content is this JSON, with its members in any order.
    public static func jsonBody(_ value: JSONValue) -> StubCondition {
        ofJSON("JSON body", .success(value), isWhole: true)
    }

    /// The content is this JSON object, whose values may be of any `Encodable` types.
    ///
    /// If several members have the same name, the last one counts. A nested literal is a `Dictionary`, whose keys must
    /// be unique, unless it is cast with `as JSONValue.Fields`.
    public static func jsonBody(
        encoding fields: JSONValue.Fields,
        encoder: JSONEncoder = JSONEncoder()
    ) -> StubCondition {
        ofJSON("JSON body", Result { try JSONValue(encoding: fields, encoder) }, isWhole: true)
    }

    /// The content is the JSON of the value, with its members in any order.
    @_disfavoredOverload
    public static func jsonBody(encoding value: some Encodable, encoder: JSONEncoder = JSONEncoder()) -> StubCondition {
        ofJSON("JSON body of \(type(of: value))", Result { try JSONValue(encoding: value, encoder) }, isWhole: true)
    }

    /// The content is JSON with these members at every level; others are allowed.
    ///
    /// Arrays must have the same number of elements; each element is compared the same way.
    public static func jsonBody(containing value: JSONValue) -> StubCondition {
        ofJSON("JSON body containing members", .success(value), isWhole: false)
    }

    /// The content is JSON with these members, whose values may be of any `Encodable` types; others are allowed.
    ///
    /// If several members have the same name, the last one counts. A nested literal is a `Dictionary`, whose keys must
    /// be unique, unless it is cast with `as JSONValue.Fields`.
    public static func jsonBody(
        containingEncoded fields: JSONValue.Fields,
        encoder: JSONEncoder = JSONEncoder()
    ) -> StubCondition {
        ofJSON("JSON body containing members", Result { try JSONValue(encoding: fields, encoder) }, isWhole: false)
    }

    /// The content is JSON with the members of the value at every level; others are allowed.
    @_disfavoredOverload
    public static func jsonBody(
        containingEncoded value: some Encodable,
        encoder: JSONEncoder = JSONEncoder()
    ) -> StubCondition {
        let expected = Result { try JSONValue(encoding: value, encoder) }
        return ofJSON("JSON body containing \(type(of: value))", expected, isWhole: false)
    }

    /// The content is a form with exactly these items; items of different names may be in any order.
    public static func formBody(_ form: Query) -> StubCondition {
        ofBody("form \(form)") { $0.form.mismatch(with: form, isWhole: true, what: "form field") }
    }

    /// The content is a form with these items; others are allowed.
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

    /// Makes a condition on the content, which isn't met if the content is hidden.
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

// MARK: - Mismatch

extension JSONValue {
    /// Encodes a value as JSON.
    init(encoding value: some Encodable, _ encoder: JSONEncoder) throws {
        self = try JSONDecoder().decode(JSONValue.self, from: encoder.encode(value))
    }

    /// Returns the first mismatch in words; `nil` if the value is as expected.
    ///
    /// Values aren't shown, since they may be secrets, but their names and kinds are. If the expected value is the
    /// whole, unexpected members are a mismatch too.
    func mismatch(with expected: JSONValue, isWhole: Bool, at path: String = "") -> String? {
        let place = path.isEmpty ? "" : " at \(path.shortened(to: 128))"
        switch (self, expected) {
        case (.object(let members), .object(let wanted)):
            if isWhole, let stray = members.keys.filter({ wanted[$0] == nil }).min() {
                return "has a member \(stray.shortened()) that isn't expected\(place)"
            }
            for (name, value) in wanted.sorted(by: { $0.key < $1.key }) {
                guard let member = members[name] else { return "has no member \(name.shortened())\(place)" }
                let inner = path.isEmpty ? name : "\(path).\(name)"
                if let reason = member.mismatch(with: value, isWhole: isWhole, at: inner) { return reason }
            }
            return nil
        case (.array(let elements), .array(let wanted)):
            guard elements.count == wanted.count else {
                return "has \(elements.count) elements, not \(wanted.count)\(place)"
            }
            for (index, (element, value)) in zip(elements, wanted).enumerated() {
                let reason = element.mismatch(with: value, isWhole: isWhole, at: "\(path)[\(index)]")
                if let reason { return reason }
            }
            return nil
        case _ where kind != expected.kind: return "is \(kind), not \(expected.kind)\(place)"
        default: return isSame(as: expected) ? nil : "has another value\(place)"
        }
    }

    /// Whether two values are equal, with numbers compared by value: a literal `1.0` is read as `1`.
    func isSame(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.integer(let integer), .double(let double)), (.double(let double), .integer(let integer)):
            Double(integer) == double
        default: self == other
        }
    }

    private var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a Boolean"
        case .integer, .double: "a number"
        case .string: "a text"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
