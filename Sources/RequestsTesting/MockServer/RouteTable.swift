// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// Where an answer comes from.
enum Answer: Sendable {
    /// One after another; the last one stays.
    case scripted([MockResponse])
    case made(MockServer.Handler)
}

/// The routes of a server: which answer is due for a target, and with which variables.
struct RouteTable: Sendable {
    struct Match: Sendable {
        var answer: Answer
        var variables: [String: URITemplate.Value] = [:]
        fileprivate var key: Key
    }

    /// What a route is found by.
    fileprivate struct Key: Hashable, Sendable {
        var method: HTTPMethod
        var target: String
    }

    private struct Pattern: Sendable {
        var method: HTTPMethod
        var text: String
        var template: Result<URITemplate, InvalidURITemplate>
        /// Whether just one query is meant, and not any.
        var hasQuery: Bool
    }

    private var answers: [Key: Answer] = [:]
    /// In the order in which they were added.
    private var patterns: [Pattern] = []

    /// Adds a route, in the place of the one with the same method and target.
    mutating func set(_ answer: Answer, for method: HTTPMethod, _ target: String) {
        let isNew = answers.updateValue(answer, forKey: Key(method: method, target: target)) == nil
        guard isNew, target.contains("{") else { return }
        let template = Result { () throws(InvalidURITemplate) in try URITemplate(target) }
        let hasQuery = target.contains("?") || target.contains("{&")
        patterns.append(Pattern(method: method, text: target, template: template, hasQuery: hasQuery))
    }

    /// The route for a request: the very target, then its path, then the templates in their order.
    ///
    /// - Complexity: O(1) without templates, else O(n) in their number.
    func match(_ method: HTTPMethod, target: String, path: String) -> Match? {
        guard !answers.isEmpty else { return nil }
        for method in method == .head ? [.head, .get] : [method] {
            for target in [target, path] {
                let key = Key(method: method, target: target)
                if let answer = answers[key] { return Match(answer: answer, key: key) }
            }
            for pattern in patterns where pattern.method == method {
                if let match = match(pattern, target: pattern.hasQuery ? target : path) { return match }
            }
        }
        return nil
    }

    private func match(_ pattern: Pattern, target: String) -> Match? {
        let key = Key(method: pattern.method, target: pattern.text)
        switch pattern.template {
        case .success(let template):
            guard let variables = template.extract(from: target), let answer = answers[key] else { return nil }
            return Match(answer: answer, variables: variables, key: key)
        case .failure(let fault):
            // Nobody would look for it behind a 404.
            guard target.hasPrefix(pattern.text.prefix { $0 != "{" }) else { return nil }
            let text = "the template of the route \(pattern.text.shortened()) is malformed: \(fault)"
            return Match(answer: .scripted([.text(text, status: .internalServerError)]), key: key)
        }
    }

    /// Goes on to the next answer of a route, where there is one.
    mutating func advance(_ match: Match) {
        guard case .scripted(let responses)? = answers[match.key], responses.count > 1 else { return }
        answers[match.key] = .scripted(Array(responses.dropFirst()))
    }
}
