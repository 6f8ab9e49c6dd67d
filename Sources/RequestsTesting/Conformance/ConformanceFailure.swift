// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Which rule a transport broke, and what was seen; its description is made to be read in a test's report.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// What a declared fault may stand for, and what it mustn't hide.
    enum Kind: Sendable {
        /// The transport broke the rule.
        case fault
        /// The check was passed, against a declaration.
        case passed
        /// There was no transport, or no server.
        case untried
    }

    /// The name of the check.
    public let name: String
    /// The rule, as the documentation of `HTTPTransport` has it.
    public let rule: String
    /// The type of the transport.
    public let transport: String
    /// What was expected and what happened instead, a sentence each.
    public let problems: [String]
    /// The requests of the check, each with its events: `GET /text: head 200, data, end`.
    public let transcript: [String]
    let kind: Kind

    /// How many sentences and requests the description has at most: a check may send a thousand.
    private static let most = 12

    init(
        _ kind: Kind = .fault,
        of transport: String,
        check: TransportConformance.Check,
        problems: [String],
        transcript: [String] = []
    ) {
        name = check.name
        rule = check.rule
        self.transport = transport
        self.problems = problems
        self.transcript = transcript
        self.kind = kind
    }

    /// The failure, as some lines.
    public var description: String {
        var lines = ["\(transport) fails: \(name)", "  Rule: \(rule)"]
        lines += Self.some(of: problems, "  - ")
        if !transcript.isEmpty { lines += ["  What happened:"] + Self.some(of: transcript, "    ") }
        return lines.joined(separator: "\n")
    }

    private static func some(of texts: [String], _ prefix: String) -> [String] {
        let rest = texts.count - most
        return texts.prefix(most).map { prefix + $0 } + (rest > 0 ? ["\(prefix)… and \(rest) more"] : [])
    }
}
