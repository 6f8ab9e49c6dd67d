// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The declaration of a type, or an extension of one.
struct Declaration {
    enum Kind: String {
        case `struct`, `class`, `enum`, actor, `protocol`, `typealias`, `associatedtype`, `extension`
    }

    /// The place of a declaration.
    enum Scope: Equatable {
        case topLevel
        /// In a type or an extension of this name.
        case nested(in: String, isExtension: Bool)
        /// In the body of a function, visible only there.
        case local
    }

    let kind: Kind
    /// The name; that of an extension has dots if the extended type is nested.
    let name: String
    let scope: Scope
    let isPublic: Bool
    /// The tokens between the name and the body: generic parameters, inheritance and conditions.
    let header: [Token]
    let line: Int
    /// The index of the keyword among the tokens of the file.
    let position: Int

    /// The name after those of the enclosing types.
    var qualifiedName: String {
        guard case .nested(let outer, _) = scope else { return name }
        return outer + "." + name
    }

    /// Returns the declarations in code, in their order.
    static func declarations(in tokens: [Token]) -> [Declaration] {
        var declarations: [Declaration] = []
        // The declaration of each open brace, or `nil` for any other body.
        var braces: [Declaration?] = []
        var opening: Declaration?

        for index in tokens.indices {
            switch tokens[index].text {
            case "{":
                braces.append(opening)
                opening = nil
            case "}":
                _ = braces.popLast()
            default:
                guard let declaration = declaration(at: index, of: tokens, in: scope(inside: braces)) else { continue }
                declarations.append(declaration)
                if declaration.hasBody { opening = declaration }
            }
        }
        return declarations
    }

    private var hasBody: Bool { kind != .typealias && kind != .associatedtype }

    private static func scope(inside braces: [Declaration?]) -> Scope {
        guard let innermost = braces.last else { return .topLevel }
        guard let innermost, innermost.scope != .local else { return .local }
        return .nested(in: innermost.qualifiedName, isExtension: innermost.kind == .extension)
    }

    private static let modifiers: Set = [
        "public", "package", "open", "internal", "fileprivate", "private", "final", "indirect", "nonisolated",
    ]

    private static func declaration(at index: Int, of tokens: [Token], in scope: Scope) -> Declaration? {
        guard
            let kind = Kind(rawValue: tokens[index].text),
            index == 0 || tokens[index - 1].text != ".",
            let first = tokens.dropFirst(index + 1).first, first.isWord,
            !membersOfClasses.contains(first.text)
        else { return nil }

        var name = first.text
        var end = index + 2
        while end + 1 < tokens.count, tokens[end].text == ".", tokens[end + 1].isWord {
            name += "." + tokens[end + 1].text
            end += 2
        }
        // `actor` is an ordinary word, unless it begins a declaration.
        if kind == .actor, end < tokens.count, !["{", ":", "<", "where"].contains(tokens[end].text) { return nil }

        let ownModifiers = tokens[..<index].reversed().prefix { modifiers.contains($0.text) }.map(\.text)
        return Declaration(
            kind: kind,
            name: name,
            scope: scope,
            isPublic: ownModifiers.contains("public") || ownModifiers.contains("open"),
            header: Array(tokens[end...].prefix { $0.text != "{" && $0.text != "}" }),
            line: tokens[index].line,
            position: index
        )
    }

    /// The tokens that can follow `class` as a modifier, when it declares no class.
    private static let membersOfClasses: Set = [
        "func", "var", "let", "subscript", "override", "final", "public", "package", "open", "internal", "private",
    ]
}
