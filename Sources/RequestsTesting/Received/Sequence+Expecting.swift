// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

extension Sequence<ReceivedRequest> {
    /// Checks that at least one of the requests meets all of the conditions.
    ///
    /// ```swift
    /// try stubber.requests.expect(.path("/users"), .header(.accept, "application/json"))
    /// ```
    ///
    /// - Parameters:
    ///   - conditions: The conditions, which are the same as for stubs.
    ///   - file: The file of the call, for the error message.
    ///   - line: The line of the call, for the error message.
    /// - Returns: The first matching request, with the values of the template's variables.
    /// - Throws: ``UnmetExpectations``, with the source location of this call, and the reasons why the nearest request
    ///   doesn't match.
    @discardableResult
    public func expect(
        _ conditions: StubCondition...,
        file: StaticString = #fileID,
        line: UInt = #line
    ) throws(UnmetExpectations) -> ReceivedRequest {
        try expect(conditions, at: CallSite(file, line))
    }

    /// Checks that at least one of the requests has the given method and URL, and meets all of the conditions.
    ///
    /// ```swift
    /// try server.requests.expect(.post, "/users/{id}", .jsonBody(["name": "Ada"]))
    /// ```
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - template: The template of the URL, or of the part after its origin, such as `/users/{id}`.
    ///   - conditions: Further conditions.
    ///   - file: The file of the call, for the error message.
    ///   - line: The line of the call, for the error message.
    /// - Returns: The first matching request, with the values of the template's variables.
    /// - Throws: ``UnmetExpectations``, with the source location of this call, and the reasons why the nearest request
    ///   doesn't match.
    @discardableResult
    public func expect(
        _ method: HTTPMethod,
        _ template: URITemplate,
        _ conditions: StubCondition...,
        file: StaticString = #fileID,
        line: UInt = #line
    ) throws(UnmetExpectations) -> ReceivedRequest {
        try expect([.method(method), .template(template)] + conditions, at: CallSite(file, line))
    }

    private func expect(
        _ conditions: [StubCondition],
        at callSite: CallSite
    ) throws(UnmetExpectations) -> ReceivedRequest {
        var nearest: (request: ReceivedRequest, mismatches: [String])?
        var count = 0
        for request in self {
            let (variables, mismatches) = conditions.evaluate(request)
            if mismatches.isEmpty {
                var result = request
                result.variables = variables
                return result
            }
            count += 1
            if mismatches.count < nearest?.mismatches.count ?? .max { nearest = (request, mismatches) }
        }
        var lines = ["\(callSite): no request matches: \(conditions.summary)"]
        if let nearest {
            lines.append("the closest of \(count.counting("request")): \(nearest.request)")
            lines += nearest.mismatches.map { "- \($0)" }
        } else {
            lines.append("there were no requests")
        }
        throw UnmetExpectations(complaints: [lines.joined(separator: "\n")])
    }
}

/// A source location in a test, which failure messages mention.
package struct CallSite: Sendable, Hashable, CustomStringConvertible {
    package let description: String

    package init(_ file: StaticString, _ line: UInt) {
        description = "\(file):\(line)"
    }
}
