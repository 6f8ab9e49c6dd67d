// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// One thing that a request must fulfil, for a stub to answer it.
///
/// A stub has any number of them, and all must hold:
///
/// ```swift
/// stubber.stub(.method(.post), .path("/login"), .jsonBody(containing: ["user": "ada"]))
/// ```
///
/// A condition that can never hold, such as an invalid regular expression, doesn't trap: it matches nothing, and says why
/// in the error of the requests that aren't answered.
public struct StubCondition: Sendable, CustomStringConvertible {
    /// What came of the look at a request.
    enum Verdict: Sendable {
        case match([String: URITemplate.Value])
        case mismatch(String)
        /// Nobody can say, and so neither that it holds nor that it doesn't.
        case unknown(String)

        init(mismatch reason: String?) {
            self = reason.map(Verdict.mismatch) ?? .match([:])
        }
    }

    /// What the condition asks for, such as `method POST`.
    public let description: String
    let judge: @Sendable (StubbedRequest) -> Verdict

    init(_ description: String, judge: @escaping @Sendable (StubbedRequest) -> Verdict) {
        self.description = description.shortened(to: 120)
        self.judge = judge
    }

    init(_ description: String, mismatch: @escaping @Sendable (StubbedRequest) -> String?) {
        self.init(description) { Verdict(mismatch: mismatch($0)) }
    }

    /// Why the request doesn't fulfil the condition; nil where it does.
    public func mismatch(for request: StubbedRequest) -> String? {
        switch judge(request) {
        case .match: nil
        case .mismatch(let reason), .unknown(let reason): reason
        }
    }

    /// A condition of your own that says why a request doesn't fulfil it: for a rule that several tests share.
    ///
    /// ```swift
    /// extension StubCondition {
    ///     static let numbered = custom("a number") { $0.headers.contains("X-Number") ? nil : "no number" }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - description: What it asks for.
    ///   - mismatch: Why the request doesn't fulfil it, in a few words without secrets, or `nil` if it does. It is called
    ///     from several threads at once, for every request, and returns quickly.
    /// - Returns: The condition.
    public static func custom(
        _ description: String,
        mismatch: @escaping @Sendable (_ request: StubbedRequest) -> String?
    ) -> StubCondition {
        StubCondition(description, mismatch: mismatch)
    }

    /// A condition that a closure decides.
    ///
    /// - Parameters:
    ///   - description: What it asks for, for the error of requests that aren't answered.
    ///   - isMet: Whether the request fulfils it.
    /// - Returns: The condition.
    public static func `where`(
        _ description: String = "a condition",
        _ isMet: @escaping @Sendable (StubbedRequest) -> Bool
    ) -> StubCondition {
        StubCondition(description) { isMet($0) ? nil : "\(description) isn't met" }
    }

    /// Any request at all.
    public static let any = StubCondition("any request") { _ in nil as String? }

    /// The method is this one, or one of these.
    public static func method(_ methods: HTTPMethod...) -> StubCondition {
        StubCondition("method \(methods.map(\.rawValue).joined(separator: " or "))") { request in
            methods.contains(request.method)
                ? nil : "the method is \(request.method.rawValue.shortened(to: 16))"
        }
    }

    /// The condition doesn't hold; nor does this one where nobody can say, since the content is hidden.
    public static func not(_ condition: StubCondition) -> StubCondition {
        StubCondition("not \(condition)") { request in
            switch condition.judge(request) {
            case .match: .mismatch("it is: \(condition)")
            case .mismatch: .match([:])
            case .unknown(let reason): .unknown(reason)
            }
        }
    }

    /// At least one of the conditions holds.
    public static func anyOf(_ conditions: StubCondition...) -> StubCondition {
        StubCondition(conditions.map(\.description).joined(separator: " or ")) { request in
            var reasons: [String] = []
            var isKnown = true
            for condition in conditions {
                switch condition.judge(request) {
                case .match(let variables): return .match(variables)
                case .mismatch(let reason): reasons.append(reason)
                case .unknown(let reason):
                    reasons.append(reason)
                    isKnown = false
                }
            }
            let reason = reasons.joined(separator: ", ")
            return isKnown ? .mismatch(reason) : .unknown(reason)
        }
    }
}

extension [StubCondition] {
    /// What all of them ask for, in words.
    var summary: String { isEmpty ? "any request" : map(\.description).joined(separator: ", ") }

    /// The values of all templates where every condition holds, or else every reason why not.
    func judge(_ request: StubbedRequest) -> (variables: [String: URITemplate.Value], mismatches: [String]) {
        var variables: [String: URITemplate.Value] = [:]
        var mismatches: [String] = []
        for condition in self {
            switch condition.judge(request) {
            case .match(let values): variables.merge(values) { $1 }
            case .mismatch(let reason), .unknown(let reason): mismatches.append(reason)
            }
        }
        return (variables, mismatches)
    }
}

// MARK: - Headers

extension StubCondition {
    /// There is a field of the name.
    public static func header(_ name: HTTPField.Name) -> StubCondition {
        StubCondition("header \(name)") { request in
            request.headers.contains(name) ? nil : missing(name)
        }
    }

    /// One of the fields of the name has the value.
    ///
    /// What other value it has isn't shown, since it may be a secret.
    public static func header(_ name: HTTPField.Name, _ value: String) -> StubCondition {
        StubCondition("header \(name) with a value") { request in
            let values = request.headers[values: name]
            guard !values.isEmpty else { return missing(name) }
            return values.contains(value) ? nil : "the header \(name.rawValue.shortened()) has another value"
        }
    }

    /// The value of one of the fields of the name has a match of the regular expression.
    public static func header(_ name: HTTPField.Name, matching pattern: String) -> StubCondition {
        let pattern = StubPattern(pattern)
        return StubCondition("header \(name) matching \(pattern)") { request in
            let values = request.headers[values: name]
            guard !values.isEmpty else { return missing(name) }
            return pattern.mismatch(of: values, what: "the header \(name.rawValue.shortened())")
        }
    }

    /// The name of one of the fields has a match of the regular expression.
    public static func headerName(matching pattern: String) -> StubCondition {
        let pattern = StubPattern(pattern)
        return StubCondition("header name matching \(pattern)") { request in
            pattern.mismatch(of: request.headers.map(\.name.rawValue), what: "every header name")
        }
    }

    private static func missing(_ name: HTTPField.Name) -> String {
        "the header \(name.rawValue.shortened()) is missing"
    }
}
