// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// What a request is expected to be; what is nil may be anything.
///
/// ```swift
/// let expected = ExpectedRequest(.post, path: "/users", headers: [.accept(.json)], body: .json(["name": "Ada"]))
/// try stubber.requests.expect(expected)
/// exchange.differences(from: expected)        // [body.name: expected "Ada", was "Bob"]
/// ```
public struct ExpectedRequest: Sendable {
    /// What content is expected to be.
    public enum Content: Sendable {
        /// This JSON, in whatever order its members are written.
        case json(JSONValue)
        /// JSON that has these members, and maybe others, at every level.
        case jsonContaining(JSONValue)
        /// A form with just these items, those of one name in their order.
        case form(Query)
        /// This text, in UTF-8.
        case text(String)
        /// These bytes; with none, there is no content.
        case data(Data)
    }

    /// The method.
    public var method: HTTPMethod?
    /// The address, whose query counts too; credentials and fragment don't.
    public var url: URL?
    /// The path, percent-encoded or as it is meant.
    public var path: String?
    /// All parameters of the address, those of one name in their order.
    public var query: Query?
    /// Fields that must be there, each name with just these values; there may be others.
    public var headers: HTTPHeaders
    /// Fields that must not be there.
    public var absentHeaders: [HTTPField.Name]
    /// The content.
    public var body: Content?

    /// Makes an expectation, by default one that every request meets.
    public init(
        _ method: HTTPMethod? = nil,
        url: URL? = nil,
        path: String? = nil,
        query: Query? = nil,
        headers: HTTPHeaders = [],
        absentHeaders: [HTTPField.Name] = [],
        body: Content? = nil
    ) {
        (self.method, self.url, self.path, self.query) = (method, url, path, query)
        (self.headers, self.absentHeaders, self.body) = (headers, absentHeaders, body)
    }

    func differences(of request: StubbedRequest) -> [RequestDifference] {
        var differences = RequestDifferences()
        if let method { differences.compare("method", method.rawValue, request.method.rawValue) }
        if let url { differences.compare(AddressPieces(url), AddressPieces(request.url)) }
        if let path, !request.path.isPath(path) { differences.compare("path", path, request.path) }
        if let query { differences.compare("query", query, request.query) }
        differences.compare(headers, request.headers)
        for name in absentHeaders where request.headers.contains(name) {
            differences.add("header \(name)", expected: nil, actual: request.headers[name] ?? "")
        }
        if let body { differences.compare(body, request) }
        return differences.all
    }
}

extension ExpectedRequest: CustomStringConvertible {
    /// The method and the address, without secrets.
    public var description: String {
        let words = [
            method?.rawValue, url.map { StubbedRequest(url: $0).address } ?? path,
            query.map { "query \($0)" },
        ]
        let text = words.compactMap { $0 }.joined(separator: " ")
        return text.isEmpty ? "any request" : text
    }
}

/// The error of an assertion: which request was expected, and what differs in the one that comes nearest.
///
/// ```text
/// no request is as expected: POST /users
/// the nearest of 2: POST https://api.example.com/users
/// - header Accept: expected application/json, was */*
/// - body.name: expected "Ada", was "Bob"
/// ```
///
/// Values of credentials, cookies and what else is a secret by its name aren't shown.
public struct ExpectationFailure: Error, Sendable, CustomStringConvertible {
    /// What was expected.
    public let expected: ExpectedRequest
    /// The request that comes nearest; nil where there was none at all.
    public let nearest: StubbedRequest?
    /// What differs in it.
    public let differences: [RequestDifference]
    /// How many requests there were.
    public let count: Int

    init(expected: ExpectedRequest, nearest: StubbedRequest?, differences: [RequestDifference], count: Int) {
        (self.expected, self.nearest, self.differences, self.count) = (expected, nearest, differences, count)
    }

    /// The request that was expected, and a line for each difference.
    public var description: String {
        guard let nearest else { return "no request is as expected: \(expected)\nthere was none" }
        let title =
            count == 1
            ? "the request isn't as expected: \(expected)\nit is: \(nearest)"
            : "no request is as expected: \(expected)\nthe nearest of \(count): \(nearest)"
        return ([title] + differences.map { "- \($0)" }).joined(separator: "\n")
    }
}

/// A place where a request isn't as expected.
public struct RequestDifference: Sendable, Hashable, CustomStringConvertible {
    /// The place: `method`, `path`, `query page`, `header Accept`, `body.user.name`, `body[12]`.
    public let place: String
    /// What was expected there, shortened and without secrets; nil for nothing.
    public let expected: String?
    /// What was there, shortened and without secrets; nil for nothing.
    public let actual: String?

    /// The difference in a line, such as `header Accept: expected text/html, was */*`.
    public var description: String {
        switch (expected, actual) {
        case (let expected?, nil): "\(place): expected \(expected), is missing"
        case (nil, let actual?): "\(place): unexpected, was \(actual)"
        case (let expected?, let actual?) where expected == actual: "\(place): expected \(expected), was another value"
        case (let expected, let actual): "\(place): expected \(expected ?? "nothing"), was \(actual ?? "nothing")"
        }
    }
}
