// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A Swift file, as far as a rule about the shape of the code needs to understand it.
struct SourceFile {
    /// The path, relative to the root of the repository.
    let path: String
    /// The lines, as they are.
    let lines: [Substring]
    /// The code, without comments and without what stands in string literals.
    let tokens: [Token]
    /// The types and extensions, in their order.
    let declarations: [Declaration]

    init(path: String, text: String) {
        self.path = path
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last == "" { lines.removeLast() }
        self.lines = lines
        tokens = Token.tokens(of: SwiftCode.stripping(text))
        declarations = Declaration.declarations(in: tokens)
    }

    /// The name of the file, without its extension.
    var name: String {
        String(path.split(separator: "/").last?.split(separator: ".swift").first ?? "")
    }

    /// The folder that the file is in directly below another, or nil where it is elsewhere.
    func folder(below parent: String) -> String? {
        guard path.hasPrefix(parent + "/") else { return nil }
        let components = path.dropFirst(parent.count + 1).split(separator: "/")
        return components.count > 1 ? String(components[0]) : nil
    }

    /// Where the tokens stand one after the other, as indices of the first.
    func occurrences(of sequence: String...) -> [Int] {
        tokens.indices.filter { start in
            start + sequence.count <= tokens.count
                && sequence.indices.allSatisfy { tokens[start + $0].text == sequence[$0] }
        }
    }

    /// A finding, in the form in which compilers give theirs.
    func finding(atLine line: Int, _ message: String) -> String {
        "\(path):\(line): \(message)"
    }
}
