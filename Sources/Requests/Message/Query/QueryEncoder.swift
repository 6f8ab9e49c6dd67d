// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Writes values as a query, or as the fields of a form.
///
/// HTTP doesn't say how lists, nested values, dates or nothing are written there, so servers differ; every choice is a
/// property:
///
/// ```swift
/// struct Search: Encodable { var text: String; var tags: [String]; var page: Page }
///
/// var encoder = QueryEncoder()
/// encoder.arrays = .noBrackets
/// try encoder.encode(search).percentEncoded  // text=a%20b&tags=x&tags=y&page%5Bnumber%5D=2
/// ```
///
/// The order is always the same: that of the declaration, and the alphabetical one in dictionaries and sets. Nothing is
/// escaped here; that happens once, when the query is printed.
public struct QueryEncoder: Sendable {
    /// How the members of a list are named; `tags[]` by default.
    public var arrays = Arrays.brackets
    /// How a bool is written; `true` or `false` by default.
    public var bools = Bools.literal
    /// How a date is written; by default as ISO 8601, in UTC, to the second.
    public var dates = Dates.iso8601
    /// How data is written; as Base64 by default.
    public var data = DataValues.base64
    /// How names are spelled; by default as they are.
    public var keys = Keys.useDefaultKeys
    /// How the name of a nested value is put together; `page[number]` by default.
    public var keyPaths = KeyPaths.brackets
    /// What becomes of nil; by default it is left out.
    public var nils = Nils.dropKey
    /// What becomes of infinity and of what isn't a number; by default an error.
    public var nonFiniteNumbers = NonFiniteNumbers.refuse
    /// How spaces are printed; as `%20` by default.
    public var spaces = Query.Spaces.percent

    /// How deep values may be nested: more than any query, and little enough for the stack of any thread.
    static let maximalDepth = 128

    /// Makes an encoder with the choices that most servers understand.
    public init() {}

    /// What PHP, Rails and those who learnt from them expect of a form: `+` for a space, `1` and `0`, `tags[]`, `a[b]`.
    public static let phpStyle: QueryEncoder = {
        var encoder = QueryEncoder()
        encoder.bools = .numeric
        encoder.spaces = .plus
        return encoder
    }()

    /// Writes a value whose properties, or keys, are the names of the query.
    ///
    /// - Throws: ``InvalidRequest`` for a value that has no names at its top level, such as a number or a list; for
    ///   one that is nested more than 128 deep; for a number or a date that can't be written. And what the value
    ///   itself throws. An empty value isn't an error, nor is an empty list, which writes nothing.
    /// - Complexity: O(n) in the size of the query.
    public func encode(_ value: some Encodable) throws -> Query {
        try query { try $0.write(value, to: $1, at: []) }
    }

    /// Writes a dictionary of anything: texts, numbers, bools, dates, data, lists and dictionaries of them, whatever is
    /// `Encodable`, nil and `NSNull`.
    ///
    /// The values are written at once; the dictionary isn't kept. An `NSArray` or `NSDictionary` that contains itself
    /// must not be in it: off Apple platforms Foundation follows such a circle without end before anybody can count.
    ///
    /// - Throws: ``InvalidRequest`` for a value of another kind, and in the cases of the other method.
    /// - Complexity: O(n log n) in the size of the query.
    public func encode(_ dictionary: [String: Any?]) throws -> Query {
        try query { try $0.writeUntyped(dictionary, to: $1, at: []) }
    }

    private func query(_ write: (Session, Node) throws -> Void) throws -> Query {
        let session = Session(options: self)
        let root = Node(depth: 0)
        try write(session, root)
        if let failure = session.failure { throw failure }
        guard case .object(let names) = root.content else {
            throw InvalidRequest(.query, "has no names at its top level")
        }
        var items: [Query.Item] = []
        for name in names {
            guard let child = root.children[name] else { continue }
            append(child, named: keys.spell(name), to: &items)
        }
        return Query(items, spaces: spaces)
    }

    private func append(_ node: Node, named name: String, to items: inout [Query.Item]) {
        switch node.content {
        case .nothing: break
        case .null: if let item = nils.item(named: name) { items.append(item) }
        case .text(let text): items.append(Query.Item(name, value: text))
        case .list(let members):
            for (index, member) in members.enumerated() {
                append(member, named: arrays.name(ofMember: index, in: name), to: &items)
            }
        case .object(let names):
            for key in names {
                guard let child = node.children[key] else { continue }
                append(child, named: keyPaths.name(of: keys.spell(key), in: name), to: &items)
            }
        }
    }
}
