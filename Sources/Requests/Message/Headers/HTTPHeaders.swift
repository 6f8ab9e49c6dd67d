// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The header fields of a message: ordered, repeatable, and looked up without regard to case (RFC 9110, 5.3).
///
/// ```swift
/// var headers: HTTPHeaders = [.accept(.json), .authorization(.bearer("abc"))]
/// headers[.userAgent] = "Recipes/2.1"
/// headers.add("a=1", for: .setCookie)
/// headers.add("b=2", for: .setCookie)
/// headers[values: .setCookie]      // ["a=1", "b=2"]
/// ```
///
/// - Complexity: A look-up is O(n) in the number of fields. Messages have few fields, for which a linear scan is faster
///   than hashing.
public struct HTTPHeaders: Sendable, Hashable {
    private var fields: [HTTPField]

    /// Creates headers from fields, in their order; empty by default.
    public init(_ fields: [HTTPField] = []) {
        self.fields = fields
    }

    /// Creates headers from a dictionary, sorted by name so that the order is deterministic.
    @_disfavoredOverload
    public init(_ dictionary: [String: String]) {
        self.init(dictionary.sorted { $0.key < $1.key }.map { HTTPField(HTTPField.Name($0.key), $0.value) })
    }

    /// Creates headers from a dictionary literal, in its order, with names as strings.
    ///
    /// A name may be repeated. The names are validated when the request is built.
    public init(_ fields: KeyValuePairs<String, String>) {
        self.init(fields.map { HTTPField(HTTPField.Name($0.key), $0.value) })
    }

    /// Accesses the value of the field with this name; `nil` if there is none.
    ///
    /// Setting a value replaces all fields with this name; setting `nil` removes them. Repeated fields are read as a
    /// list, joined with `, ` (RFC 9110, 5.2), or with `; ` for `Cookie` (RFC 6265, 5.4). `Set-Cookie` and fields with
    /// a single value, such as `Content-Type`, can't be joined. For these, this subscript returns the first value, and
    /// ``subscript(values:)`` returns all.
    public subscript(name: HTTPField.Name) -> String? {
        get {
            guard let first = fields.firstIndex(where: { $0.name == name }) else { return nil }
            // Avoid allocating an array, because almost every field occurs only once.
            guard fields[(first + 1)...].contains(where: { $0.name == name }), !name.isSingleton else {
                return fields[first].value
            }
            return self[values: name].joined(separator: name == .cookie ? "; " : ", ")
        }
        set {
            if let newValue { set(newValue, for: name) } else { remove(name) }
        }
    }

    /// Returns all fields with this name, in their order.
    public subscript(fields name: HTTPField.Name) -> [HTTPField] {
        fields.filter { $0.name == name }
    }

    /// Accesses the value of a field by its name as a string, which is validated when the request is built.
    @_disfavoredOverload
    public subscript(name: String) -> String? {
        get { self[HTTPField.Name(name)] }
        set { self[HTTPField.Name(name)] = newValue }
    }

    /// Returns the values of all fields with this name, in their order.
    public subscript(values name: HTTPField.Name) -> [String] {
        fields.lazy.filter { $0.name == name }.map(\.value)
    }

    /// Returns whether there is a field with this name.
    public func contains(_ name: HTTPField.Name) -> Bool {
        fields.contains { $0.name == name }
    }

    /// Appends a field, even if there is already one with the same name.
    public mutating func add(_ value: String, for name: HTTPField.Name) {
        add(HTTPField(name, value))
    }

    /// Appends a field, even if there is already one with the same name.
    public mutating func add(_ field: HTTPField) {
        fields.append(field)
    }

    /// Replaces all fields that have this name with a single field, at the position of the first.
    public mutating func set(_ value: String, for name: HTTPField.Name) {
        set(HTTPField(name, value))
    }

    /// Replaces all fields that have the same name with this field, at the position of the first.
    ///
    /// If one of the replaced fields is marked as secret, the new field is secret too; see
    /// ``HTTPField/Name/isSensitive``.
    public mutating func set(_ field: HTTPField) {
        guard let first = fields.firstIndex(where: { $0.name == field.name }) else { return fields.append(field) }
        let isMarked = fields[first...].contains { $0.name.isMarkedSecret && $0.name == field.name }
        fields[first] = field
        // A secret field stays secret when its value is replaced.
        if isMarked { fields[first].name = field.name.markedSecret }
        fields[(first + 1)...].removeAll { $0.name == field.name }
    }

    /// Removes all fields with this name, and returns them.
    @discardableResult
    public mutating func remove(_ name: HTTPField.Name) -> [HTTPField] {
        guard contains(name) else { return [] }
        let removed = self[fields: name]
        fields.removeAll { $0.name == name }
        return removed
    }

    /// Removes all fields that fulfil the condition.
    ///
    /// - Throws: Any error that the condition throws.
    public mutating func removeAll(where condition: (HTTPField) throws -> Bool) rethrows {
        try fields.removeAll(where: condition)
    }

    /// Modifies each field in place.
    mutating func update(_ change: (inout HTTPField) -> Void) {
        for index in fields.indices { change(&fields[index]) }
    }

    /// Marks the fields with these names as secret.
    mutating func markSecrets(_ names: Set<HTTPField.Name>) {
        guard !names.isEmpty else { return }
        update { if names.contains($0.name) { $0.name = $0.name.markedSecret } }
    }

    /// The names that are marked as secret.
    var markedSecrets: Set<HTTPField.Name> {
        // Most headers have no marked names, so avoid creating a set.
        guard fields.contains(where: \.name.isMarkedSecret) else { return [] }
        return Set(fields.lazy.map(\.name).filter(\.isMarkedSecret))
    }

    /// The fields with secret values.
    ///
    /// If one field is marked as secret, all fields with the same name are included.
    var secrets: [HTTPField] {
        let marked = markedSecrets
        return fields.filter { $0.name.isSensitive || marked.contains($0.name) }
    }

    /// Merges other headers into these; the other fields replace all existing fields with the same names.
    ///
    /// A name that is marked as secret stays secret with its new value.
    public mutating func merge(_ other: HTTPHeaders) {
        merge(other, from: .unattributed)
    }

    /// Merges other headers into these, and attributes fields without a source to `source`.
    mutating func merge(_ other: HTTPHeaders, from source: HTTPField.Provenance.Source) {
        guard !other.isEmpty else { return }
        guard !isEmpty else {
            self = other
            return attribute(to: source)
        }
        let marked = markedSecrets
        // Comparing a few names is faster than hashing them.
        if other.count <= 8 {
            fields.removeAll { other.contains($0.name) }
        } else {
            let names = Set(other.fields.map(\.name))
            fields.removeAll { names.contains($0.name) }
        }
        let count = fields.count
        fields += other.fields
        for index in count..<fields.count where fields[index].provenance.source == .unattributed {
            fields[index].provenance.source = source
        }
        markSecrets(marked)
    }

    /// Sorts the fields by name; fields with the same name keep their order.
    public mutating func sort() {
        // The standard library's sort is stable.
        fields.sort { $0.name < $1.name }
    }
}

extension HTTPHeaders: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { fields.startIndex }
    /// The position after the last field.
    public var endIndex: Int { fields.endIndex }
    /// The field at a position.
    public subscript(position: Int) -> HTTPField { fields[position] }
}

extension HTTPHeaders: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Creates headers from fields, in their order.
    public init(arrayLiteral elements: HTTPField...) {
        self.init(elements)
    }

    /// Creates headers from names and values, in their order; a name may be repeated.
    public init(dictionaryLiteral elements: (HTTPField.Name, String)...) {
        self.init(elements.map { HTTPField($0, $1) })
    }
}

extension HTTPHeaders: CustomStringConvertible {
    /// The fields, one per line, without secret values.
    public var description: String {
        fields.map(\.description).joined(separator: "\n")
    }
}

// MARK: - Content

extension HTTPHeaders {
    /// Whether the content has a coding such as compression, in which case its length differs from that of the decoded
    /// content.
    package var isEncoded: Bool {
        self[values: .contentEncoding].contains {
            !$0.trimmedOfBlanks.isEmpty && !$0.equalsIgnoringASCIICase("identity")
        }
    }

    /// The value of `Content-Length`, if it is a single valid number.
    var exactLength: Int64? {
        self[.contentLength].map(\.trimmedOfBlanks).flatMap { $0.isNumber ? Int64($0) : nil }
    }
}

// MARK: - Reading

extension HTTPHeaders {
    /// The distinct names of the fields, in the order of their first occurrence.
    ///
    /// - Complexity: O(n) in the number of fields.
    public var names: [HTTPField.Name] {
        var seen: Set<HTTPField.Name> = []
        return map(\.name).filter { seen.insert($0).inserted }
    }

    /// The fields as a dictionary, as in Foundation, with one entry per name in the spelling of its first occurrence.
    ///
    /// Repeated fields are joined as in a look-up by name, except that `Set-Cookie` fields are joined with commas.
    /// `HTTPCookie.cookies(withResponseHeaderFields:for:)` separates them again.
    ///
    /// - Complexity: O(n) in the number of fields.
    public var dictionary: [String: String] {
        var values = [HTTPField.Name: String](minimumCapacity: count)
        for field in self {
            if values[field.name] == nil {
                values[field.name] = field.value
            } else if !field.name.isSingleton || field.name == .setCookie {
                values[field.name, default: ""] += (field.name == .cookie ? "; " : ", ") + field.value
            }
        }
        return Dictionary(values.map { ($0.key.rawValue, $0.value) }) { first, _ in first }
    }

    /// Returns whether other headers have the same fields, regardless of the order of the names.
    ///
    /// The order of values with the same name matters, because it has a meaning (RFC 9110, 5.3). The operator `==` also
    /// compares the order of all fields.
    ///
    /// - Complexity: O(n) in the number of fields.
    public func hasSameFields(as other: HTTPHeaders) -> Bool {
        count == other.count && Dictionary(grouping: self, by: \.name) == Dictionary(grouping: other, by: \.name)
    }
}

// MARK: - Secrets

extension HTTPHeaders {
    /// Marks as secret the fields that the given headers don't contain.
    mutating func markSecrets(addedTo headers: HTTPHeaders) {
        let known = Set(headers)
        markSecrets(Set(lazy.filter { !known.contains($0) }.map(\.name)))
    }
}
