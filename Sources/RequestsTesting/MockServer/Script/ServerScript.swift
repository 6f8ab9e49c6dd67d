// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A server's routes and responses, read from a JSON file.
///
/// ```json
/// {
///   "routes": [
///     {"path": "/recipes/{id}", "answers": [{"status": 503}, {"json": {"name": "Pancakes"}}]},
///     {"method": "POST", "path": "/photos", "answers": [{"status": 413, "early": true}]}
///   ],
///   "otherwise": {"status": 404, "text": "no such page"},
///   "connections": {"requests": 10, "idle": 5}
/// }
/// ```
///
/// It is read strictly: an unknown name is an error, since a misspelt fault would test nothing.
package struct ServerScript: Sendable {
    /// The error of an invalid script: the entry and its fault.
    package struct Fault: Error, Sendable, Hashable, CustomStringConvertible {
        /// The entry, such as `routes[1].answers[0].status`; empty for the whole file.
        package var entry: String
        /// The fault of the entry.
        package var reason: String

        package var description: String { entry.isEmpty ? reason : "\(entry): \(reason)" }
    }

    struct Route: Sendable {
        var method: HTTPMethod
        var path: String
        var answers: [StubResponse]
    }

    /// The server's limits and timeouts.
    package var configuration: MockServer.Configuration
    private var routes: [Route]
    private var otherwise: StubResponse?

    /// Reads a script.
    ///
    /// - Parameters:
    ///   - data: JSON.
    ///   - folder: The folder of the files that responses mention, unless their path is absolute.
    /// - Throws: ``Fault``, for the first entry that is wrong.
    package init(_ data: Data, folder: URL) throws(Fault) {
        let value: JSONValue
        do {
            value = try JSONDecoder().decode(JSONValue.self, from: data)
        } catch {
            throw Fault(entry: "", reason: "the script isn't JSON: \(Self.explanation(of: error).shortened(to: 200))")
        }
        var script = try ScriptEntry(value, at: "").members()
        configuration = try Self.configuration(script.take("connections"))
        routes = []
        for entry in try script.take("routes")?.elements() ?? [] {
            routes.append(try Self.route(entry, folder: folder))
        }
        otherwise = nil
        if let entry = script.take("otherwise") { otherwise = try StubResponse(entry, folder: folder) }
        try script.finish()
    }

    /// Starts a server that follows the script.
    ///
    /// - Throws: ``MockServerError`` if the system provides no socket, or the port is taken.
    package func start(_ configuration: MockServer.Configuration) throws -> MockServer {
        let otherwise = otherwise ?? .status(.notFound)
        let server = try MockServer(configuration: configuration) { _ in otherwise }
        for route in routes { server.route(route.method, route.path, route.answers) }
        return server
    }

    private static func route(_ entry: ScriptEntry, folder: URL) throws(Fault) -> Route {
        var route = try entry.members()
        let method = try route.take("method")?.text() ?? "GET"
        guard method.isToken else { throw Fault(entry: entry.path + ".method", reason: "isn't a method") }
        guard let pathEntry = route.take("path") else { throw entry.fault("has no path") }
        let path = try pathEntry.text()
        guard path.hasPrefix("/") else { throw pathEntry.fault("doesn't begin with a slash") }
        if path.contains("{") {
            do {
                _ = try URITemplate(path)
            } catch {
                throw pathEntry.fault("isn't a URI template: \(error)")
            }
        }
        guard let answersEntry = route.take("answers") else { throw entry.fault("has no answers") }
        var answers: [StubResponse] = []
        for answer in try answersEntry.elements() { answers.append(try StubResponse(answer, folder: folder)) }
        guard !answers.isEmpty else { throw answersEntry.fault("is empty") }
        try route.finish()
        return Route(method: HTTPMethod(method), path: path, answers: answers)
    }

    private static func configuration(_ entry: ScriptEntry?) throws(Fault) -> MockServer.Configuration {
        var configuration = MockServer.Configuration()
        guard var limits = try entry?.members() else { return configuration }
        if let limit = limits.take("most") { configuration.maximumConnections = try limit.integer(1...1_000_000) }
        if let limit = limits.take("requests") {
            configuration.maximumRequestsPerConnection = try limit.integer(1...(.max))
        }
        if let time = limits.take("idle") { configuration.idleTimeout = try time.duration() }
        if let limit = limits.take("head") { configuration.maximumHeadSize = try limit.integer(1...(1 << 30)) }
        if let limit = limits.take("body") { configuration.maximumBodySize = try limit.integer(0...(.max)) }
        try limits.finish()
        return configuration
    }

    private static func explanation(of error: any Error) -> String {
        guard case DecodingError.dataCorrupted(let context) = error else { return "\(error)" }
        return context.underlyingError.map { "\($0)" } ?? context.debugDescription
    }
}
