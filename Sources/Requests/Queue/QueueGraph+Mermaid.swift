// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension QueueGraph {
    /// The graph as a flowchart in the language of [Mermaid](https://mermaid.js.org), which Markdown often understands.
    ///
    /// ```text
    /// flowchart LR
    ///     n0["LoginRequest<br/>ada<br/>executing"]:::executing
    ///     n1["ProfileRequest<br/>waiting"]:::waiting
    ///     n0 --> n1
    ///     classDef waiting …
    /// ```
    ///
    /// Identifiers stand in it as the requests give them, and those of ready-made requests hold no secret. Every state
    /// has a colour and is said in words. Texts are cut to 64 characters, and nothing in them is code to
    /// Mermaid, to Markdown or to a browser. Edges to nodes that there aren't are left out.
    ///
    /// - Complexity: O(n) in the number of nodes and edges.
    public var mermaid: String {
        var lines = ["flowchart LR"]
        for (index, node) in nodes.enumerated() {
            lines.append("    n\(index)[\"\(node.label)\"]:::\(node.state.rawValue)")
        }
        for edge in edges where nodes.indices.contains(edge.from) && nodes.indices.contains(edge.to) {
            lines.append("    n\(edge.from) --> n\(edge.to)")
        }
        let states = Set(nodes.map(\.state))
        for state in State.allCases where states.contains(state) {
            // Without a semicolon: at the end of a line of colours, Mermaid takes one away.
            lines.append("    classDef \(state.rawValue) \(state.style),color:#000")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension QueueGraph.Node {
    fileprivate var label: String {
        [type, name, identifier.map(Redaction.address), tag, state.rawValue].compactMap { $0?.escapedForMermaid }
            .joined(separator: "<br/>")
    }
}

extension QueueGraph.State {
    fileprivate var style: String {
        switch self {
        case .waiting: "fill:#eeeeee,stroke:#888888"
        case .ready: "fill:#fff3cd,stroke:#b58900"
        case .executing: "fill:#cfe2ff,stroke:#0d6efd"
        case .finished: "fill:#d1e7dd,stroke:#198754"
        case .failed: "fill:#f8d7da,stroke:#dc3545"
        case .cancelled: "fill:#ffffff,stroke:#888888,stroke-dasharray:4"
        }
    }
}

extension String {
    /// The beginning of the text, in quotes of Mermaid's.
    ///
    /// All but letters, digits and spaces become character codes. Which of them mean something depends on the place
    /// (directives, comments, Markdown, HTML, icons) and on the version that draws the picture.
    fileprivate var escapedForMermaid: String {
        shortened().unicodeScalars.map { scalar in
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
                .letterNumber, .otherNumber:
                String(scalar)
            case .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate, .control:
                "#65533;"  // Invisible, but able to turn the text around it: a replacement character.
            default:
                scalar == " " ? " " : "#\(scalar.value);"
            }
        }
        .joined()
    }
}
