// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension JSONValue {
    /// The JSON that an encoder makes of a value.
    init(encoding value: some Encodable, _ encoder: JSONEncoder) throws {
        self = try JSONDecoder().decode(JSONValue.self, from: encoder.encode(value))
    }

    /// The first place where the value isn't as expected, in words; nil where there is none.
    ///
    /// Values aren't shown, since they may be secrets; their names and kinds are. Members that aren't expected are a
    /// mismatch too where the expected value is the whole.
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

    /// JSON has one kind of number: a literal `1.0` is what is read as `1`.
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
