// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension HTTPHeaders {
    /// The names of the fields, each once, in the order of their first fields.
    ///
    /// - Complexity: O(n) in the number of fields.
    public var names: [HTTPField.Name] {
        var seen: Set<HTTPField.Name> = []
        return map(\.name).filter { seen.insert($0).inserted }
    }

    /// The fields by their names, as Foundation wants them; several of one name are joined as a look-up joins them.
    ///
    /// - Complexity: O(n) in the number of fields.
    public var dictionary: [String: String] {
        var values: [HTTPField.Name: String] = [:]
        for field in self {
            if values[field.name] == nil {
                values[field.name] = field.value
            } else if !field.name.isSingleton {
                values[field.name, default: ""] += (field.name == .cookie ? "; " : ", ") + field.value
            }
        }
        return Dictionary(values.map { ($0.key.rawValue, $0.value) }) { first, _ in first }
    }

    /// Whether other headers have the same fields, in whatever order the names stand.
    ///
    /// The order of the values of one name counts, because it has a meaning (RFC 9110, 5.3). Equality with `==` is
    /// stricter: the order of all fields counts there.
    ///
    /// - Complexity: O(n) in the number of fields.
    public func hasSameFields(as other: HTTPHeaders) -> Bool {
        count == other.count && Dictionary(grouping: self, by: \.name) == Dictionary(grouping: other, by: \.name)
    }
}
