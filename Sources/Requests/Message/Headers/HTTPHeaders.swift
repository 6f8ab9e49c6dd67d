// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The header fields of a message: ordered, repeatable, found without regard to case (RFC 9110, 5.3).
///
/// ```swift
/// var headers: HTTPHeaders = [.accept: "application/json"]
/// headers[.userAgent] = "Recipes/2.1"
/// headers.add("a=1", for: .setCookie)
/// headers.add("b=2", for: .setCookie)
/// headers[values: .setCookie]      // ["a=1", "b=2"]
/// ```
///
/// - Complexity: A look-up is O(n) in the number of fields, which is small: a linear scan beats hashing there.
public struct HTTPHeaders: Sendable, Hashable {
    private var fields: [HTTPField]

    /// Makes headers of fields, in their order; none by default.
    public init(_ fields: [HTTPField] = []) {
        self.fields = fields
    }

    /// Makes headers of a dictionary, in the alphabetical order of the names, so that the order is always the same.
    public init(_ dictionary: [String: String]) {
        self.init(dictionary.sorted { $0.key < $1.key }.map { HTTPField(HTTPField.Name($0.key), $0.value) })
    }

    /// The value of a field, or nil where there is none; setting it replaces every field of the name, nil removes them.
    ///
    /// A field that stands there several times is read as one list, joined with `, ` (RFC 9110, 5.2); `Cookie` is joined
    /// with `; ` (RFC 6265, 5.4). `Set-Cookie` can't be joined: its first value is given, ``subscript(values:)`` has all.
    public subscript(name: HTTPField.Name) -> String? {
        get {
            let values = self[values: name]
            guard values.count > 1, name != .setCookie else { return values.first }
            return values.joined(separator: name == .cookie ? "; " : ", ")
        }
        set {
            guard let newValue else { return remove(name) }
            set(newValue, for: name)
        }
    }

    /// The values of all fields of the name, in their order.
    public subscript(values name: HTTPField.Name) -> [String] {
        fields.lazy.filter { $0.name == name }.map(\.value)
    }

    /// Whether there is a field of the name.
    public func contains(_ name: HTTPField.Name) -> Bool {
        fields.contains { $0.name == name }
    }

    /// Adds a field behind those that are there, also where one of the same name is.
    public mutating func add(_ value: String, for name: HTTPField.Name) {
        fields.append(HTTPField(name, value))
    }

    /// Replaces every field of the name by one, which takes the place of the first.
    public mutating func set(_ value: String, for name: HTTPField.Name) {
        guard let first = fields.firstIndex(where: { $0.name == name }) else { return add(value, for: name) }
        fields[first] = HTTPField(name, value)
        fields[(first + 1)...].removeAll { $0.name == name }
    }

    /// Removes every field of the name.
    public mutating func remove(_ name: HTTPField.Name) {
        fields.removeAll { $0.name == name }
    }

    /// Removes every field that fulfils the condition.
    ///
    /// - Throws: What the condition throws.
    public mutating func removeAll(where condition: (HTTPField) throws -> Bool) rethrows {
        try fields.removeAll(where: condition)
    }

    /// Marks the values of some fields as secrets.
    mutating func markSecrets(_ names: Set<HTTPField.Name>) {
        guard !names.isEmpty else { return }
        for index in fields.indices where names.contains(fields[index].name) {
            fields[index].name = HTTPField.Name(fields[index].name.rawValue, isSecret: true)
        }
    }

    /// Takes over the fields of other headers: each of their names replaces all fields of that name here.
    public mutating func merge(_ other: HTTPHeaders) {
        guard !other.isEmpty else { return }
        guard !isEmpty else { return self = other }
        fields.removeAll { other.contains($0.name) }
        fields += other.fields
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

extension HTTPHeaders {
    /// Takes over the header fields of a Foundation response.
    package init(_ response: HTTPURLResponse) {
        self.init(
            response.allHeaderFields.compactMap { key, value in
                guard let name = key as? String else { return nil }
                return HTTPField(HTTPField.Name(name), value as? String ?? "\(value)")
            }
        )
    }
}
