// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension JSONValue {
    /// A difference of a value from the expected one, at a place such as `.user.name` or `[0]`.
    struct Difference {
        let path: String
        let expected: String?
        let actual: String?
    }

    /// Returns the differences from the expected value, up to a limit; values with a secret name aren't shown.
    ///
    /// - Complexity: O(n log n).
    func differences(from expected: JSONValue, isWhole: Bool, limit: Int) -> [Difference] {
        var differences: [Difference] = []
        collect(expected, isWhole, "", isSecret: false, limit, &differences)
        return differences
    }

    private func collect(
        _ expected: JSONValue,
        _ isWhole: Bool,
        _ path: String,
        isSecret: Bool,
        _ limit: Int,
        _ differences: inout [Difference]
    ) {
        guard differences.count < limit else { return }
        func add(_ path: String, _ expected: JSONValue?, _ actual: JSONValue?, _ isSecret: Bool) {
            let texts = [expected, actual].map { $0.map { isSecret ? "<redacted>" : $0.excerpt } }
            differences.append(Difference(path: path, expected: texts[0], actual: texts[1]))
        }
        switch (self, expected) {
        case (.object(let members), .object(let wanted)):
            for name in Set(members.keys).union(wanted.keys).sorted() {
                let path = "\(path).\(name)"
                let isSecret = isSecret || Redaction.namesSecret(name)
                if let member = members[name], let value = wanted[name] {
                    member.collect(value, isWhole, path, isSecret: isSecret, limit, &differences)
                } else if isWhole || wanted[name] != nil {
                    add(path, wanted[name], members[name], isSecret)
                }
            }
        case (.array(let elements), .array(let wanted)):
            for index in 0..<max(elements.count, wanted.count) {
                let path = "\(path)[\(index)]"
                if elements.indices.contains(index), wanted.indices.contains(index) {
                    elements[index].collect(wanted[index], isWhole, path, isSecret: isSecret, limit, &differences)
                } else {
                    add(path, expected[index], self[index], isSecret)
                }
            }
        default:
            guard !isSame(as: expected) else { return }
            // A string that is the whole content may be a form in quotes, with secrets that no member's name reveals.
            let isSecret = isSecret || path.isEmpty && [self, expected].contains { $0.mayHoldSecret }
            add(path, expected, self, isSecret)
        }
    }

    private var mayHoldSecret: Bool {
        guard case .string(let text) = self else { return false }
        return Redaction.shown(Data(text.utf8), type: nil) == nil
    }

    /// The value in a few words: a scalar itself, or the kind and the count of a collection.
    private var excerpt: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let text): "\"\(text.shortened(to: 100))\""
        case .array(let elements): "an array of \(elements.count)"
        case .object(let members): "an object of \(members.count)"
        }
    }
}
