// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

extension MockServer {
    /// Answers the requests for a path: with one response, or with several in turn.
    ///
    /// ```swift
    /// server.route(.get, "/recipes/1", .json(#"{"name":"Pancakes"}"#))
    /// server.route(.get, "/menu", .status(.serviceUnavailable), .text("pancakes"))  // 503 first, then always 200
    /// ```
    ///
    /// - Parameters:
    ///   - method: The method; a route for `GET` answers `HEAD` too, unless that has its own.
    ///   - path: The path, percent-encoded as it is sent; with a query where just that query is meant. With braces it is
    ///     a URI template of level 1 to 3 (RFC 6570), which comes after the paths without; the first that fits counts.
    ///   - response: The first answer. A later route for the same method and path takes the place of this one.
    ///   - more: The answers to further requests, one each. The last of all goes to every request after it.
    public func route(_ method: HTTPMethod, _ path: String, _ response: MockResponse, _ more: MockResponse...) {
        route(method, path, [response] + more)
    }

    /// Answers the requests for a path with responses in turn, the last of which stays; none is the same as 404.
    func route(_ method: HTTPMethod, _ path: String, _ responses: [MockResponse]) {
        let responses = responses.isEmpty ? [ServerCore.State.notFound] : responses
        core.state.withLock { state in
            state.routes.set(.scripted(responses), for: method, path)
            if responses.contains(where: \.isEarly) { state.mayAnswerEarly = true }
        }
    }

    /// Lets a handler answer every request for the path.
    ///
    /// ```swift
    /// server.route(.get, "/recipes/{id}{?page}") { request in .text("recipe \(request["id"] ?? "")") }
    /// ```
    ///
    /// - Parameters:
    ///   - method: The method; a route for `GET` answers `HEAD` too, unless that has its own.
    ///   - path: The path, percent-encoded as it is sent; with a query where just that query is meant. With braces it is
    ///     a URI template of level 1 to 3 (RFC 6570), whose variables are then in ``RecordedRequest/variables``; such a
    ///     route comes after the paths without, and the first that fits counts.
    ///   - handler: Makes the answer, on the thread of the connection.
    public func route(_ method: HTTPMethod, _ path: String, _ handler: @escaping Handler) {
        core.state.withLock { $0.routes.set(.made(handler), for: method, path) }
    }

    /// Lines up answers for the next requests, whatever they ask for; the queue comes before the routes.
    public func enqueue(_ responses: MockResponse...) {
        core.state.withLock { state in
            state.queue += responses
            if responses.contains(where: \.isEarly) { state.mayAnswerEarly = true }
        }
    }
}

extension ServerCore.State {
    /// What answers a request, taken from the queue or the script of a route where there is one.
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

    static let notFound = MockResponse.status(.notFound)
}
