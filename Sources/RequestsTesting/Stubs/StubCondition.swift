// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A condition that a request must meet for a stub to respond.
///
/// A stub has any number of conditions, and all of them must hold:
///
/// ```swift
/// stubber.stub(.method(.post), .path("/login"), .jsonBody(containing: ["user": "ada"]))
/// ```
///
/// A condition that can never hold, such as an invalid regular expression, doesn't trap. It matches nothing, and the
/// error of the rejected requests includes the reason.
public struct StubCondition: Sendable, CustomStringConvertible {
    /// The result of evaluating a condition.
    enum MatchResult: Sendable {
        case match([String: URITemplate.Value])
        case mismatch(String)
        /// The condition can't be evaluated, so neither it nor its negation holds.
        case unknown(String)

        init(mismatch reason: String?) {
            self = reason.map(MatchResult.mismatch) ?? .match([:])
        }
    }

    /// A description of the condition, such as `method POST`.
    public let description: String
    let evaluate: @Sendable (ReceivedRequest) -> MatchResult

    init(_ description: String, evaluate: @escaping @Sendable (ReceivedRequest) -> MatchResult) {
        self.description = description.shortened(to: 120)
        self.evaluate = evaluate
    }

    init(_ description: String, mismatch: @escaping @Sendable (ReceivedRequest) -> String?) {
        self.init(description) { MatchResult(mismatch: mismatch($0)) }
    }

    /// Returns the reason why the request doesn't meet the condition; `nil` if it does.
    public func mismatch(for request: ReceivedRequest) -> String? {
        switch evaluate(request) {
        case .match: nil
        case .mismatch(let reason), .unknown(let reason): reason
        }
    }

    /// Matches requests for which a closure returns `true`.
    ///
    /// - Parameters:
    ///   - description: A description of the condition, for the error of rejected requests.
    ///   - isMet: Returns whether the request meets the condition.
    /// - Returns: The condition.
    public static func `where`(
        _ description: String = "a condition",
        _ isMet: @escaping @Sendable (ReceivedRequest) -> Bool
    ) -> StubCondition {
        StubCondition(description) { isMet($0) ? nil : "\(description) isn't met" }
    }

    /// Matches any request.
    public static let any = StubCondition("any request") { _ in nil as String? }

    /// Matches requests with one of these methods.
    public static func method(_ methods: HTTPMethod...) -> StubCondition {
        StubCondition("method \(methods.map(\.rawValue).joined(separator: " or "))") { request in
            methods.contains(request.method)
                ? nil : "the method is \(request.method.rawValue.shortened(to: 16))"
        }
    }

    /// Matches requests that don't meet the condition; matches nothing if the condition can't be evaluated because the
    /// content is hidden.
    public static func not(_ condition: StubCondition) -> StubCondition {
        StubCondition("not \(condition)") { request in
            switch condition.evaluate(request) {
            case .match: .mismatch("the request meets the negated condition: \(condition)")
            case .mismatch: .match([:])
            case .unknown(let reason): .unknown(reason)
            }
        }
    }
}

extension [StubCondition] {
    /// A description of all conditions.
    var summary: String { isEmpty ? "any request" : map(\.description).joined(separator: ", ") }

    /// Returns the variables of all templates if every condition holds, or the reasons why conditions don't hold.
    func evaluate(_ request: ReceivedRequest) -> (variables: [String: URITemplate.Value], mismatches: [String]) {
        var variables: [String: URITemplate.Value] = [:]
        var mismatches: [String] = []
        for condition in self {
            switch condition.evaluate(request) {
            case .match(let values): variables.merge(values) { $1 }
            case .mismatch(let reason), .unknown(let reason): mismatches.append(reason)
            }
        }
        return (variables, mismatches)
    }
}

// MARK: - Headers

extension StubCondition {
    /// Matches requests that have a header field with this name.
    public static func header(_ name: HTTPField.Name) -> StubCondition {
        StubCondition("header \(name)") { request in
            request.headers.contains(name) ? nil : missingHeader(name)
        }
    }

    /// Matches requests that have a header field with this name and value.
    public static func header(_ name: HTTPField.Name, _ value: String) -> StubCondition {
        StubCondition("header \(name) with a specific value") { request in
            let values = request.headers[values: name]
            guard !values.isEmpty else { return missingHeader(name) }
            guard !values.contains(value) else { return nil }
            let shown = request.headers[fields: name].map { Redaction.value(of: $0).shortened() }
            let expectedValue = Redaction.value(of: HTTPField(name, value)).shortened()
            let title = "the header \(name.rawValue.shortened())"
            guard !shown.contains(expectedValue) else { return "\(title) has a different value" }
            return "\(title) is \(shown.joined(separator: " and ")), not \(expectedValue)"
        }
    }

    /// Matches requests that have a header field with this name, and a value that matches the regular expression.
    public static func header(_ name: HTTPField.Name, matching pattern: String) -> StubCondition {
        let pattern = StubPattern(pattern)
        return StubCondition("header \(name) matching \(pattern)") { request in
            let values = request.headers[values: name]
            guard !values.isEmpty else { return missingHeader(name) }
            return pattern.mismatch(of: values, what: "the header \(name.rawValue.shortened())")
        }
    }

    /// Matches requests that have a header field whose name matches the regular expression.
    public static func headerName(matching pattern: String) -> StubCondition {
        let pattern = StubPattern(pattern)
        return StubCondition("header name matching \(pattern)") { request in
            pattern.mismatch(of: request.headers.map(\.name.rawValue), what: "the list of header names")
        }
    }

    private static func missingHeader(_ name: HTTPField.Name) -> String {
        "the header \(name.rawValue.shortened()) is missing"
    }
}
