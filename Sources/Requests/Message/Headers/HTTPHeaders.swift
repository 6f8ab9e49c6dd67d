// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The header fields of a message: ordered, repeatable, looked up without regard to case (RFC 9110, 5.3).
///
/// ```swift
/// var headers: HTTPHeaders = [.accept(.json), .authorization(.bearer("abc"))]
/// headers[.userAgent] = "Recipes/2.1"
/// headers.add("a=1", for: .setCookie)
/// headers.add("b=2", for: .setCookie)
/// headers[values: .setCookie]      // ["a=1", "b=2"]
/// ```
///
/// - Complexity: A look-up is O(n) in the number of fields, which is small: a linear scan is faster than hashing there.
public struct HTTPHeaders: Sendable, Hashable {
    private var fields: [HTTPField]

    /// Makes headers of fields, in their order; none by default.
    public init(_ fields: [HTTPField] = []) {
        self.fields = fields
    }

    /// Makes headers of a dictionary, in the alphabetical order of the names, so that the order is always the same.
    @_disfavoredOverload
    public init(_ dictionary: [String: String]) {
        self.init(dictionary.sorted { $0.key < $1.key }.map { HTTPField(HTTPField.Name($0.key), $0.value) })
    }

    /// Makes headers of a literal, in its order, with names that are known at run time.
    ///
    /// A name may be repeated. The names are checked when the request is built.
    public init(_ fields: KeyValuePairs<String, String>) {
        self.init(fields.map { HTTPField(HTTPField.Name($0.key), $0.value) })
    }

    /// The value of a field, or `nil` if the headers don't have it; setting it replaces every field of the name, `nil`
    /// removes them.
    ///
    /// A repeated field is read as one list, joined with `, ` (RFC 9110, 5.2); `Cookie` is joined with `; ` (RFC 6265,
    /// 5.4). `Set-Cookie` and fields with a single value, such as `Content-Type`, can't be joined: this is their first
    /// value, and ``subscript(values:)`` has all.
    public subscript(name: HTTPField.Name) -> String? {
        get {
            guard let first = fields.firstIndex(where: { $0.name == name }) else { return nil }
            // Almost every field occurs once: nothing is allocated for it.
            guard fields[(first + 1)...].contains(where: { $0.name == name }), !name.isSingleton else {
                return fields[first].value
            }
            return self[values: name].joined(separator: name == .cookie ? "; " : ", ")
        }
        set {
            if let newValue { set(newValue, for: name) } else { remove(name) }
        }
    }

    /// All fields of the name, in their order.
    public subscript(fields name: HTTPField.Name) -> [HTTPField] {
        fields.filter { $0.name == name }
    }

    /// The value of a field by a name that is known at run time, and checked when the request is built.
    @_disfavoredOverload
    public subscript(name: String) -> String? {
        get { self[HTTPField.Name(name)] }
        set { self[HTTPField.Name(name)] = newValue }
    }

    /// The values of all fields of the name, in their order.
    public subscript(values name: HTTPField.Name) -> [String] {
        fields.lazy.filter { $0.name == name }.map(\.value)
    }

    /// Whether there is a field of the name.
    public func contains(_ name: HTTPField.Name) -> Bool {
        fields.contains { $0.name == name }
    }

    /// Adds a field behind the others, also if there is one of the same name.
    public mutating func add(_ value: String, for name: HTTPField.Name) {
        add(HTTPField(name, value))
    }

    /// Adds a field behind the others, also if there is one of the same name.
    public mutating func add(_ field: HTTPField) {
        fields.append(field)
    }

    /// Replaces every field of the name by one, which takes the place of the first.
    public mutating func set(_ value: String, for name: HTTPField.Name) {
        set(HTTPField(name, value))
    }

    /// Replaces every field of the same name by this one, which takes the place of the first.
    ///
    /// If a field of that name is marked as a secret, ``HTTPField/Name/isSensitive``, the new value is one as well.
    public mutating func set(_ field: HTTPField) {
        guard let first = fields.firstIndex(where: { $0.name == field.name }) else { return fields.append(field) }
        let isMarked = fields[first...].contains { $0.name.isMarkedSecret && $0.name == field.name }
        fields[first] = field
        // A secret stays one when its value is replaced.
        if isMarked { fields[first].name = field.name.markedSecret }
        fields[(first + 1)...].removeAll { $0.name == field.name }
    }

    /// Removes every field of the name, and returns the removed fields.
    @discardableResult
    public mutating func remove(_ name: HTTPField.Name) -> [HTTPField] {
        guard contains(name) else { return [] }
        let removed = self[fields: name]
        fields.removeAll { $0.name == name }
        return removed
    }

    /// Removes every field that fulfils the condition.
    ///
    /// - Throws: Any error that the condition throws.
    public mutating func removeAll(where condition: (HTTPField) throws -> Bool) rethrows {
        try fields.removeAll(where: condition)
    }

    /// Changes each field in its place.
    mutating func update(_ change: (inout HTTPField) -> Void) {
        for index in fields.indices { change(&fields[index]) }
    }

    /// Marks the values of some fields as secrets.
    mutating func markSecrets(_ names: Set<HTTPField.Name>) {
        guard !names.isEmpty else { return }
        update { if names.contains($0.name) { $0.name = $0.name.markedSecret } }
    }

    /// The names that are marked as secrets.
    var markedSecrets: Set<HTTPField.Name> {
        // Most headers have none: then no set is needed.
        guard fields.contains(where: \.name.isMarkedSecret) else { return [] }
        return Set(fields.lazy.map(\.name).filter(\.isMarkedSecret))
    }

    /// The fields whose values are secrets; if one of them is marked, all of its name.
    var secrets: [HTTPField] {
        let marked = markedSecrets
        return fields.filter { $0.name.isSensitive || marked.contains($0.name) }
    }

    /// Merges the fields of other headers: each of their names replaces all fields of that name here.
    ///
    /// A name that was marked as a secret stays one with its new value.
    public mutating func merge(_ other: HTTPHeaders) {
        merge(other, from: .unattributed)
    }

    /// Merges fields, and attributes those that aren't attributed yet.
    mutating func merge(_ other: HTTPHeaders, from source: HTTPField.Provenance.Source) {
        guard !other.isEmpty else { return }
        guard !isEmpty else {
            self = other
            return attribute(to: source)
        }
        let marked = markedSecrets
        // A few names are compared faster than they are hashed.
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

    /// Orders the fields by their names; those of one name stay in their order.
    public mutating func sort() {
        // The standard library's sort is stable.
        fields.sort { $0.name < $1.name }
    }
}

extension HTTPHeaders: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { fields.startIndex }
    /// The position behind the last field.
    public var endIndex: Int { fields.endIndex }
    /// The field at a position.
    public subscript(position: Int) -> HTTPField { fields[position] }
}

extension HTTPHeaders: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Makes headers of fields, in their order.
    public init(arrayLiteral elements: HTTPField...) {
        self.init(elements)
    }

    /// Makes headers of names and values, in their order; a name may stand there several times.
    public init(dictionaryLiteral elements: (HTTPField.Name, String)...) {
        self.init(elements.map { HTTPField($0, $1) })
    }
}

extension HTTPHeaders: CustomStringConvertible {
    /// The fields, one a line; secret values are left out.
    public var description: String {
        fields.map(\.description).joined(separator: "\n")
    }
}

// MARK: - Content

extension HTTPHeaders {
    /// Whether the content has a coding such as compression, so that its byte count differs from that of the file.
    package var isEncoded: Bool {
        self[values: .contentEncoding].contains {
            !$0.trimmedOfBlanks.isEmpty && !$0.equalsIgnoringASCIICase("identity")
        }
    }

    /// The length of the content, if the field is one number.
    var exactLength: Int64? {
        self[.contentLength].map(\.trimmedOfBlanks).flatMap { $0.isNumber ? Int64($0) : nil }
    }
}

// MARK: - Reading

extension HTTPHeaders {
    /// The names of the fields, each once, in the order of their first fields.
    ///
    /// - Complexity: O(n) in the number of fields.
    public var names: [HTTPField.Name] {
        var seen: Set<HTTPField.Name> = []
        return map(\.name).filter { seen.insert($0).inserted }
    }

    /// The fields by their names, as Foundation has them: one for each name, in the spelling of the first.
    ///
    /// Repeated fields are joined as a look-up joins them, and those of `Set-Cookie` by commas:
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

    /// Whether other headers have the same fields, in any order of the names.
    ///
    /// The order of the values of one name counts, because it has a meaning (RFC 9110, 5.3). `==` is stricter: it
    /// compares the order of all fields.
    ///
    /// - Complexity: O(n) in the number of fields.
    public func hasSameFields(as other: HTTPHeaders) -> Bool {
        count == other.count && Dictionary(grouping: self, by: \.name) == Dictionary(grouping: other, by: \.name)
    }
}

// MARK: - Secrets

extension HTTPHeaders {
    /// Marks the fields as secrets that were added to the given headers.
    mutating func markSecrets(addedTo headers: HTTPHeaders) {
        let known = Set(headers)
        markSecrets(Set(lazy.filter { !known.contains($0) }.map(\.name)))
    }
}
