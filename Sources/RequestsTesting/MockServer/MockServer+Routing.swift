// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

extension MockServer {
    /// Responds to the requests for a path: with one response, or with several in turn.
    ///
    /// ```swift
    /// server.route(.get, "/recipes/1", .json(#"{"name":"Pancakes"}"#))
    /// server.route(.get, "/menu", .status(.serviceUnavailable), .text("pancakes"))  // 503 first, then always 200
    /// ```
    ///
    /// - Parameters:
    ///   - method: The method; a route for `GET` answers `HEAD` too, unless that has its own.
    ///   - path: The path, percent-encoded as it is sent. With a query, it matches only that query. With braces it is a
    ///     URI template of level 1 to 3 (RFC 6570). Templates are tried after the plain paths, and the first that fits
    ///     counts.
    ///   - response: The first response. A later route for the same method and path replaces this one.
    ///   - more: The responses to further requests, one each. The last of all answers every request after it.
    public func route(_ method: HTTPMethod, _ path: String, _ response: StubResponse, _ more: StubResponse...) {
        route(method, path, [response] + more)
    }

    /// Responds to the requests for a path with responses in turn, the last of which repeats; without any, with 404.
    func route(_ method: HTTPMethod, _ path: String, _ responses: [StubResponse]) {
        let responses = responses.isEmpty ? [ServerCore.State.notFound] : responses
        core.state.withLock { state in
            state.routes.set(.scripted(responses), for: method, path)
            if responses.contains(where: \.isEarly) { state.mayAnswerEarly = true }
        }
    }

    /// Responds to every request for the path with a handler.
    ///
    /// ```swift
    /// server.route(.get, "/recipes/{id}{?page}") { request in .text("recipe \(request["id"] ?? "")") }
    /// ```
    ///
    /// - Parameters:
    ///   - method: The method; a route for `GET` answers `HEAD` too, unless that has its own.
    ///   - path: The path, percent-encoded as it is sent. With a query, it matches only that query. With braces it is a
    ///     URI template of level 1 to 3 (RFC 6570), whose variables are then in ``RecordedRequest/variables``.
    ///     Templates are tried after the plain paths, and the first that fits counts.
    ///   - handler: Makes the response, on the thread of the connection.
    public func route(_ method: HTTPMethod, _ path: String, _ handler: @escaping Handler) {
        core.state.withLock { $0.routes.set(.made(handler), for: method, path) }
    }

    /// Adds responses for the next requests, for any method and path; the queue comes before the routes.
    public func enqueue(_ responses: StubResponse...) {
        core.state.withLock { state in
            state.queue += responses
            if responses.contains(where: \.isEarly) { state.mayAnswerEarly = true }
        }
    }
}

extension ServerCore.State {
    /// Returns the answer to a request, and removes it from the queue or the script of a route if it has more.
    ///
    /// The request gets the variables of the route's template.
    mutating func takeAnswer(to request: inout RecordedRequest) -> Answer {
        if !queue.isEmpty { return .scripted([queue.removeFirst()]) }
        guard let match = match(request) else { return fallback }
        routes.advance(match)
        request.variables = match.variables
        return match.answer
    }

    /// Whether the request is answered without its content.
    func answersEarly(_ request: RecordedRequest) -> Bool {
        if let next = queue.first { return next.isEarly }
        guard case .scripted(let responses)? = match(request)?.answer else { return false }
        return responses.first?.isEarly == true
    }

    private func match(_ request: RecordedRequest) -> RouteTable.Match? {
        routes.match(request.method, target: request.target, path: request.path)
    }

    private var fallback: Answer { handler.map(Answer.made) ?? .scripted([Self.notFound]) }

    static let notFound = StubResponse.status(.notFound)
}

/// The source of a response.
enum Answer: Sendable {
    /// Responses in turn; the last one repeats.
    case scripted([StubResponse])
    case made(MockServer.Handler)
}

/// The routes of a server: finds the answer for a target, and the values of its variables.
struct RouteTable: Sendable {
    struct Match: Sendable {
        var answer: Answer
        var variables: [String: URITemplate.Value] = [:]
        fileprivate var key: Key
    }

    /// The key of a route.
    fileprivate struct Key: Hashable, Sendable {
        var method: HTTPMethod
        var target: String
    }

    private struct Pattern: Sendable {
        var method: HTTPMethod
        var text: String
        var template: Result<URITemplate, URITemplate.TemplateError>
        /// Whether the pattern matches one query only, rather than any.
        var hasQuery: Bool
    }

    private var answers: [Key: Answer] = [:]
    /// The templates in the order in which they were added.
    private var patterns: [Pattern] = []

    /// Adds a route, or replaces the one with the same method and target.
    mutating func set(_ answer: Answer, for method: HTTPMethod, _ target: String) {
        let isNew = answers.updateValue(answer, forKey: Key(method: method, target: target)) == nil
        guard isNew, target.contains("{") else { return }
        let template = Result { () throws(URITemplate.TemplateError) in try URITemplate(target) }
        let hasQuery = target.contains("?") || target.contains("{&")
        patterns.append(Pattern(method: method, text: target, template: template, hasQuery: hasQuery))
    }

    /// Returns the route for a request: the exact target first, then its path, then the templates in their order.
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
            // A 404 would hide the malformed template.
            guard target.hasPrefix(pattern.text.prefix { $0 != "{" }) else { return nil }
            let text = "the template of the route \(pattern.text.shortened()) is malformed: \(fault)"
            return Match(answer: .scripted([.text(text, status: .internalServerError)]), key: key)
        }
    }

    /// Moves a route to its next answer, if it has more.
    mutating func advance(_ match: Match) {
        guard case .scripted(let responses)? = answers[match.key], responses.count > 1 else { return }
        answers[match.key] = .scripted(Array(responses.dropFirst()))
    }
}
