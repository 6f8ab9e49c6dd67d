// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A record of a request; tests assert on all kinds of records with the same methods.
///
/// An ``HTTPStubber``, a ``MockServer`` and an ``ExchangeRecorder`` keep them:
///
/// ```swift
/// try stubber.requests.expect(.post, path: "/users", json: ["name": "Ada"])
/// try server.requests[0].expect(.get, path: "/users", query: ["page": "2"])
/// try recorder.exchanges.expect(ExpectedRequest(.delete, url: url))
/// ```
public protocol RequestRecord: Sendable {
    /// The request.
    var request: StubbedRequest { get }
}

extension StubbedRequest: RequestRecord {
    /// The request itself.
    public var request: StubbedRequest { self }
}

extension RecordedExchange: RequestRecord {}

extension RecordedRequest: RequestRecord {
    /// The request, with the address from its target and its `Host`.
    public var request: StubbedRequest {
        let address = target.hasPrefix("/") ? "http://\(headers[.host] ?? "localhost")\(target)" : target
        let url = URL(string: address) ?? URL(fileURLWithPath: target)
        return StubbedRequest(url: url, method: method, headers: headers, body: body)
    }
}

extension RequestRecord {
    /// Returns the differences of the request from its expectation; empty if it is as expected.
    ///
    /// - Complexity: O(n) in the size of the request.
    public func differences(from expected: ExpectedRequest) -> [RequestDifference] {
        expected.differences(of: request)
    }

    /// Checks that the request is as expected.
    ///
    /// - Throws: ``ExpectationFailure``, with all differences.
    public func expect(_ expected: ExpectedRequest) throws(ExpectationFailure) {
        let differences = differences(from: expected)
        guard differences.isEmpty else {
            throw ExpectationFailure(expected: expected, nearest: request, differences: differences, count: 1)
        }
    }

    /// Checks that the request is as expected; omitted arguments match anything.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path, as ``ExpectedRequest/path``.
    ///   - query: All parameters of the address.
    ///   - headers: Fields that must be present; others are allowed.
    ///   - json: The content.
    /// - Throws: ``ExpectationFailure``, with all differences.
    public func expect(
        _ method: HTTPMethod,
        path: String? = nil,
        query: Query? = nil,
        headers: HTTPHeaders = [],
        json: JSONValue? = nil
    ) throws(ExpectationFailure) {
        try expect(ExpectedRequest(method, path: path, query: query, headers: headers, body: json.map { .json($0) }))
    }
}

extension Sequence where Element: RequestRecord {
    /// Checks that at least one of the requests is as expected.
    ///
    /// - Returns: The first that is.
    /// - Throws: ``ExpectationFailure``, with the differences of the nearest one.
    @discardableResult
    public func expect(_ expected: ExpectedRequest) throws(ExpectationFailure) -> Element {
        var nearest: (request: StubbedRequest, differences: [RequestDifference])?
        var count = 0
        for element in self {
            let differences = element.differences(from: expected)
            if differences.isEmpty { return element }
            count += 1
            if nearest.map({ differences.isNearer(than: $0.differences) }) ?? true {
                nearest = (element.request, differences)
            }
        }
        throw ExpectationFailure(
            expected: expected,
            nearest: nearest?.request,
            differences: nearest?.differences ?? [],
            count: count
        )
    }

    /// Checks that at least one of the requests is as expected; omitted arguments match anything.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path, as ``ExpectedRequest/path``.
    ///   - query: All parameters of the address.
    ///   - headers: Fields that must be present; others are allowed.
    ///   - json: The content.
    /// - Returns: The first that is.
    /// - Throws: ``ExpectationFailure``, with the differences of the nearest one.
    @discardableResult
    public func expect(
        _ method: HTTPMethod,
        path: String? = nil,
        query: Query? = nil,
        headers: HTTPHeaders = [],
        json: JSONValue? = nil
    ) throws(ExpectationFailure) -> Element {
        try expect(ExpectedRequest(method, path: path, query: query, headers: headers, body: json.map { .json($0) }))
    }
}

extension [RequestDifference] {
    /// All differences of the content count as one, so that a request without content isn't nearer just because of
    /// that.
    fileprivate func isNearer(than other: [RequestDifference]) -> Bool {
        (pieceCount, count) < (other.pieceCount, other.count)
    }

    private var pieceCount: Int {
        let isOfContent = map { $0.place.hasPrefix("body") || $0.place.hasPrefix("form") }
        return isOfContent.count { !$0 } + (isOfContent.contains(true) ? 1 : 0)
    }
}
