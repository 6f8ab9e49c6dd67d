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
        let responses = [response] + more
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
    ///     URI template of level 1 to 3 (RFC 6570), whose variables are then in ``ReceivedRequest/variables``.
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
    mutating func takeAnswer(to request: inout ReceivedRequest) -> Answer {
        if !queue.isEmpty { return .scripted([queue.removeFirst()]) }
        guard let match = match(request) else { return fallback }
        routes.advance(match)
        request.variables = match.variables
        return match.answer
    }

    /// Whether the request is answered without its content.
    func answersEarly(_ request: ReceivedRequest) -> Bool {
        if let next = queue.first { return next.isEarly }
        guard case .scripted(let responses)? = match(request)?.answer else { return false }
        return responses.first?.isEarly == true
    }

    private func match(_ request: ReceivedRequest) -> RouteTable.Match? {
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
        fileprivate var index: Int
    }

    private struct Route: Sendable {
        let method: HTTPMethod
        let target: String
        /// The template; `nil` for a plain target.
        let template: Result<URITemplate, URITemplate.TemplateError>?
        var answer: Answer
    }

    private var routes: [Route] = []

    /// Adds a route, or replaces the one with the same method and target.
    mutating func set(_ answer: Answer, for method: HTTPMethod, _ target: String) {
        if let index = routes.firstIndex(where: { $0.method == method && $0.target == target }) {
            routes[index].answer = answer
            return
        }
        var template: Result<URITemplate, URITemplate.TemplateError>?
        if target.contains("{") {
            template = Result { () throws(URITemplate.TemplateError) in try URITemplate(target) }
        }
        routes.append(Route(method: method, target: target, template: template, answer: answer))
    }

    /// Returns the route for a request: the exact target first, then its path, then the templates in their order.
    ///
    /// - Complexity: O(n) in the number of routes.
    func match(_ method: HTTPMethod, target: String, path: String) -> Match? {
        for method in method == .head ? [.head, .get] : [method] {
            let own = routes.indices.filter { routes[$0].method == method }
            for target in [target, path] {
                guard let index = own.first(where: { routes[$0].target == target }) else { continue }
                return Match(answer: routes[index].answer, index: index)
            }
            for index in own {
                if let match = matchTemplate(at: index, target: target, path: path) { return match }
            }
        }
        return nil
    }

    private func matchTemplate(at index: Int, target: String, path: String) -> Match? {
        let route = routes[index]
        // A template without a query is for any query.
        let target = route.target.contains("?") || route.target.contains("{&") ? target : path
        switch route.template {
        case nil: return nil
        case .success(let template)?:
            return template.extract(from: target).map { Match(answer: route.answer, variables: $0, index: index) }
        case .failure(let fault)?:
            // A 404 would hide the malformed template.
            guard target.hasPrefix(route.target.prefix { $0 != "{" }) else { return nil }
            let text = "the template of the route \(route.target.shortened()) is malformed: \(fault)"
            return Match(answer: .scripted([.text(text, status: .internalServerError)]), index: index)
        }
    }

    /// Moves a route to its next answer, if it has more.
    mutating func advance(_ match: Match) {
        guard case .scripted(let responses) = routes[match.index].answer, responses.count > 1 else { return }
        routes[match.index].answer = .scripted(Array(responses.dropFirst()))
    }
}
