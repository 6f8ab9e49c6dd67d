// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension JSONValue {
    /// Returns descriptions of up to ten differences from the expected value; values with secret names aren't shown.
    ///
    /// If `isExact` is true, unexpected members are differences too. Arrays must always have the same elements.
    ///
    /// - Complexity: O(n log n).
    func differences(from expected: JSONValue, isExact: Bool) -> [String] {
        var differences: [String] = []
        collect(expected, isExact, "", isSensitive: false, &differences)
        return differences
    }

    private func collect(
        _ expected: JSONValue,
        _ isExact: Bool,
        _ path: String,
        isSensitive: Bool,
        _ differences: inout [String]
    ) {
        guard differences.count < 10 else { return }
        let subject = path.isEmpty ? "it" : path.shortened(to: 128)
        switch (self, expected) {
        case (.object(let members), .object(let expectedMembers)):
            for name in Set(members.keys).union(expectedMembers.keys).sorted() {
                let inner = path.isEmpty ? name : "\(path).\(name)"
                switch (members[name], expectedMembers[name]) {
                case (let member?, let value?):
                    let isSensitive = isSensitive || Redaction.isSecretName(name)
                    member.collect(value, isExact, inner, isSensitive: isSensitive, &differences)
                case (nil, _?): differences.append("\(inner.shortened(to: 128)) is missing")
                case (_?, nil) where isExact: differences.append("\(inner.shortened(to: 128)) isn't expected")
                default: break
                }
            }
        case (.array(let elements), .array(let expectedElements)) where elements.count == expectedElements.count:
            for (index, (element, value)) in zip(elements, expectedElements).enumerated() {
                element.collect(value, isExact, "\(path)[\(index)]", isSensitive: isSensitive, &differences)
            }
        case (.array(let elements), .array(let expectedElements)):
            differences.append("\(subject) has \(elements.count) elements, not \(expectedElements.count)")
        default:
            guard !isSame(as: expected) else { return }
            // A string may be a form, with secrets that the name of the member doesn't reveal.
            let hides = isSensitive || [self, expected].contains { $0.mayContainSecret(isRoot: path.isEmpty) }
            differences.append(
                hides ? "\(subject) has a different value" : "\(subject) is \(excerpt), not \(expected.excerpt)"
            )
        }
    }

    /// Returns whether two values are equal, comparing numbers by value, because the literal `1.0` is decoded as `1`.
    private func isSame(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.integer(let integer), .double(let double)), (.double(let double), .integer(let integer)):
            Double(integer) == double
        default: self == other
        }
    }

    private func mayContainSecret(isRoot: Bool) -> Bool {
        guard case .string(let text) = self else { return false }
        return isRoot ? Redaction.content(Data(text.utf8), type: nil) != Data(text.utf8) : Redaction.text(text) != text
    }

    /// A short form of the value: a scalar itself, or only the kind of a collection.
    private var excerpt: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let text): "\"\(text.shortened())\""
        case .array: "an array"
        case .object: "an object"
        }
    }
}
