// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A Swift file, parsed as far as a rule about its code needs.
struct SourceFile {
    /// The path, relative to the root of the repository.
    let path: String
    /// The lines, unchanged.
    let lines: [Substring]
    /// The code, without comments and the contents of string literals.
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

    /// Returns the folder directly below another that contains the file, or `nil` if the file is elsewhere.
    func folder(below parent: String) -> String? {
        guard path.hasPrefix(parent + "/") else { return nil }
        let components = path.dropFirst(parent.count + 1).split(separator: "/")
        return components.count > 1 ? String(components[0]) : nil
    }

    /// Returns the indices of the first token wherever the tokens follow each other.
    func occurrences(of sequence: String...) -> [Int] {
        tokens.indices.filter { start in
            start + sequence.count <= tokens.count
                && sequence.indices.allSatisfy { tokens[start + $0].text == sequence[$0] }
        }
    }

    /// Returns a finding in the format of compilers.
    func finding(atLine line: Int, _ message: String) -> String {
        "\(path):\(line): \(message)"
    }
}
