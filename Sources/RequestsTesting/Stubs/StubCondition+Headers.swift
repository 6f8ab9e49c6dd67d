// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

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
