// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The expectations of a request; properties that are `nil` match anything.
///
/// ```swift
/// let expected = ExpectedRequest(.post, path: "/users", headers: [.accept(.json)], body: .json(["name": "Ada"]))
/// try stubber.requests.expect(expected)
/// exchange.differences(from: expected)        // [body.name: expected "Ada", was "Bob"]
/// ```
public struct ExpectedRequest: Sendable {
    /// The expectation of a request's content.
    public enum Content: Sendable {
        /// This JSON, with its members in any order.
        case json(JSONValue)
        /// JSON that has these members, and maybe others, at every level.
        case jsonContaining(JSONValue)
        /// A form with exactly these items; items of the same name in their order.
        case form(Query)
        /// This text, in UTF-8.
        case text(String)
        /// These bytes; empty data expects no content.
        case data(Data)
    }

    /// The method.
    public var method: HTTPMethod?
    /// The address, including its query, without its credentials and fragment.
    public var url: URL?
    /// The path, percent-encoded or decoded.
    public var path: String?
    /// All parameters of the address; parameters of the same name in their order.
    public var query: Query?
    /// Fields that must be present, each name with exactly these values; others are allowed.
    public var headers: HTTPHeaders
    /// Fields that must be absent.
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

/// The error of an assertion: the expected request, and the differences of the nearest one.
///
/// ```text
/// no request is as expected: POST /users
/// the nearest of 2: POST https://api.example.com/users
/// - header Accept: expected application/json, was */*
/// - body.name: expected "Ada", was "Bob"
/// ```
///
/// Credentials, cookies and other values whose names mark them as secret aren't shown.
public struct ExpectationFailure: Error, Sendable, CustomStringConvertible {
    /// The expected request.
    public let expected: ExpectedRequest
    /// The request with the fewest differences; `nil` if there were no requests.
    public let nearest: StubbedRequest?
    /// Its differences.
    public let differences: [RequestDifference]
    /// The number of requests.
    public let count: Int

    init(expected: ExpectedRequest, nearest: StubbedRequest?, differences: [RequestDifference], count: Int) {
        (self.expected, self.nearest, self.differences, self.count) = (expected, nearest, differences, count)
    }

    /// The expected request, and a line for each difference.
    public var description: String {
        guard let nearest else { return "no request is as expected: \(expected)\nthere was none" }
        let title =
            count == 1
            ? "the request isn't as expected: \(expected)\nit is: \(nearest)"
            : "no request is as expected: \(expected)\nthe nearest of \(count): \(nearest)"
        return ([title] + differences.map { "- \($0)" }).joined(separator: "\n")
    }
}

/// A difference between a request and its expectation.
public struct RequestDifference: Sendable, Hashable, CustomStringConvertible {
    /// The place: `method`, `path`, `query page`, `header Accept`, `body.user.name`, `body[12]`.
    public let place: String
    /// The expected value, shortened and without secrets; `nil` if none was expected.
    public let expected: String?
    /// The actual value, shortened and without secrets; `nil` if there was none.
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
