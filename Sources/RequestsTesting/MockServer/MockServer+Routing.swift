// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

extension MockServer {
    /// Answers every request for the path with a fixed response.
    ///
    /// - Parameters:
    ///   - method: The method; a route for `GET` answers `HEAD` too, unless that has its own.
    ///   - path: The path, percent-encoded as it is sent; with a query where just that query is meant.
    ///   - response: The answer. A later route for the same method and path takes the place of this one.
    public func route(_ method: HTTPMethod, _ path: String, _ response: MockResponse) {
        core.state.withLock { state in
            state.routes[Route(method: method, target: path)] = .fixed(response)
            if response.isEarly { state.mayAnswerEarly = true }
        }
    }

    /// Lets a handler answer every request for the path.
    ///
    /// - Parameters:
    ///   - method: The method; a route for `GET` answers `HEAD` too, unless that has its own.
    ///   - path: The path, percent-encoded as it is sent; with a query where just that query is meant.
    ///   - handler: Makes the answer, on the thread of the connection.
    public func route(_ method: HTTPMethod, _ path: String, _ handler: @escaping Handler) {
        core.state.withLock { $0.routes[Route(method: method, target: path)] = .made(handler) }
    }

    /// Lines up answers for the next requests, whatever they ask for; the queue comes before the routes.
    public func enqueue(_ responses: MockResponse...) {
        core.state.withLock { state in
            state.queue += responses
            if responses.contains(where: \.isEarly) { state.mayAnswerEarly = true }
        }
    }
}

/// What a route is found by.
struct Route: Hashable, Sendable {
    var method: HTTPMethod
    var target: String
}

/// Where an answer comes from.
enum Answer: Sendable {
    case fixed(MockResponse)
    case made(MockServer.Handler)
}

extension ServerCore.State {
    /// The answer to a request, taken from the queue where there is one.
    mutating func takeAnswer(to request: RecordedRequest) -> Answer {
        let answer = answer(to: request)
        if !queue.isEmpty { queue.removeFirst() }
        return answer
    }

    /// The answer that a request would get now.
    func answer(to request: RecordedRequest) -> Answer {
        if let next = queue.first { return .fixed(next) }
        if !routes.isEmpty {
            for method in request.method == .head ? [.head, .get] : [request.method] {
                if let answer = routes[Route(method: method, target: request.target)] { return answer }
                if let answer = routes[Route(method: method, target: request.path)] { return answer }
            }
        }
        return handler.map(Answer.made) ?? .fixed(Self.notFound)
    }

    private static let notFound = MockResponse.status(.notFound)
}
