// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

extension MockServer {
    /// Responds to requests for a path, with one response or with a sequence of responses.
    ///
    /// ```swift
    /// server.route(.get, "/recipes/1", .json(#"{"name":"Pancakes"}"#))
    /// server.route(.get, "/menu", .status(.serviceUnavailable), .text("pancakes"))  // 503 first, then always 200
    /// ```
    ///
    /// - Parameters:
    ///   - method: The method; a route for `GET` also responds to `HEAD`, unless `HEAD` has a separate route.
    ///   - path: The path, percent-encoded as it is sent. A path with a query matches only that query. A path with
    ///     braces is a URI template of level 1 to 3 (RFC 6570). Templates are tried after plain paths, and the first
    ///     match is used.
    ///   - response: The first response. A later route for the same method and path replaces this route.
    ///   - more: The responses to the second and further requests. The last response repeats.
    public func route(_ method: HTTPMethod, _ path: String, _ response: StubResponse, _ more: StubResponse...) {
        _ = core.state.withLock { $0.add(Route(method, path, .scripted([response] + more))) }
    }

    /// Responds to every request for a path with a handler.
    ///
    /// ```swift
    /// server.route(.get, "/recipes/{id}{?page}") { request in .text("recipe \(request["id"] ?? "")") }
    /// ```
    ///
    /// - Parameters:
    ///   - method: The method; a route for `GET` also responds to `HEAD`, unless `HEAD` has a separate route.
    ///   - path: The path, percent-encoded as it is sent. A path with a query matches only that query. A path with
    ///     braces is a URI template of level 1 to 3 (RFC 6570), whose variables are in ``ReceivedRequest/variables``.
    ///     Templates are tried after plain paths, and the first match is used.
    ///   - handler: Creates the response, on the thread of the connection.
    public func route(_ method: HTTPMethod, _ path: String, _ handler: @escaping Handler) {
        _ = core.state.withLock { $0.add(Route(method, path, .handler(handler))) }
    }

    /// Adds responses for the next requests, regardless of method and path; the queue has priority over the routes.
    public func enqueue(_ responses: StubResponse...) {
        core.state.withLock { state in
            state.queue += responses
            if responses.contains(where: \.isEarly) { state.hasEarlyResponse = true }
        }
    }
}

/// A sequence of responses, or a handler that creates them.
enum ResponseSource: Sendable {
    /// The responses to the next requests, in order; the last response repeats.
    case scripted([StubResponse])
    case handler(MockServer.Handler)

    /// Whether the next response is sent without waiting for the content of the request.
    var isEarly: Bool {
        guard case .scripted(let responses) = self else { return false }
        return responses.first?.isEarly == true
    }
}

/// A route with the responses to requests for a target.
struct Route: Sendable {
    let method: HTTPMethod
    let target: String
    /// The condition for a URI template; `nil` for a plain target.
    let template: StubCondition?
    var source: ResponseSource

    init(_ method: HTTPMethod, _ target: String, _ source: ResponseSource) {
        (self.method, self.target) = (method, target)
        guard target.contains("{") else {
            (template, self.source) = (nil, source)
            return
        }
        do {
            (template, self.source) = (.template(try URITemplate(target)), source)
        } catch {
            // A 404 would hide that the template is malformed.
            let text = "the template of the route \(target.shortened()) is malformed: \(error)"
            let beginning = target.prefix { $0 != "{" }
            template = .where { $0.path.hasPrefix(beginning) }
            self.source = .scripted([.text(text, status: .internalServerError)])
        }
    }
}

extension ServerCore.State {
    /// Adds a route, or replaces the route with the same method and target.
    ///
    /// - Returns: The replaced route, which the caller must deallocate outside the lock; `nil` if there was none.
    mutating func add(_ route: Route) -> Route? {
        if case .scripted(let responses) = route.source, responses.contains(where: \.isEarly) {
            hasEarlyResponse = true
        }
        if let index = routes.firstIndex(where: { $0.method == route.method && $0.target == route.target }) {
            defer { routes[index] = route }
            return routes[index]
        }
        routes.append(route)
        return nil
    }

    /// Returns the response source for a request, and consumes a response from the queue, or from a route that has more
    /// than one response.
    ///
    /// The request receives the variables of the route's template.
    mutating func takeResponseSource(for request: inout ReceivedRequest) -> ResponseSource {
        if !queue.isEmpty { return .scripted([queue.removeFirst()]) }
        guard let (index, variables) = match(request) else {
            return handler.map(ResponseSource.handler) ?? .scripted([.status(.notFound)])
        }
        request.variables = variables
        let source = routes[index].source
        if case .scripted(let responses) = source, responses.count > 1 {
            routes[index].source = .scripted(Array(responses.dropFirst()))
        }
        return source
    }

    /// Returns whether the response is sent without waiting for the content of the request.
    func respondsEarly(to request: ReceivedRequest) -> Bool {
        if let next = queue.first { return next.isEarly }
        return match(request).map { routes[$0.index].source.isEarly } ?? false
    }

    /// Finds the route for a request, trying first the exact target, then the path without query, then the templates.
    ///
    /// - Complexity: O(n) in the number of routes.
    private func match(_ request: ReceivedRequest) -> (index: Int, variables: [String: URITemplate.Value])? {
        for method in request.method == .head ? [.head, .get] : [request.method] {
            let candidates = routes.indices.filter { routes[$0].method == method }
            for target in [request.target, request.path] {
                if let index = candidates.first(where: { routes[$0].target == target }) { return (index, [:]) }
            }
            for index in candidates {
                if case .match(let variables)? = routes[index].template?.evaluate(request) { return (index, variables) }
            }
        }
        return nil
    }
}
