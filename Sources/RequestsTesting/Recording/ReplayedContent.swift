// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Content in the form in which two that mean the same are equal, and secrets make no difference.
enum ReplayedContent: Hashable, Sendable {
    case json(JSONValue)
    case bytes(Data)

    init(_ content: Data, type: String?) {
        let content = Redaction.content(content, type: type)
        let type = type.flatMap { try? MediaType(parsing: $0) }
        let isJSON = type.map { $0.essence == "application/json" || $0.suffix == "json" } ?? false
        if isJSON, let value = try? JSONDecoder().decode(JSONValue.self, from: content) {
            self = .json(value)
        } else if let boundary = type?[parameter: "boundary"], !boundary.isEmpty {
            // Of a form it is another one each time.
            self = .bytes(content.replacing(Data(boundary.utf8), by: Data("boundary".utf8)))
        } else {
            self = .bytes(content)
        }
    }
}

extension Data {
    fileprivate func replacing(_ piece: Data, by other: Data) -> Data {
        var result = Data()
        var rest = self[...]
        while let range = rest.range(of: piece) {
            result += rest[..<range.lowerBound] + other
            rest = rest[range.upperBound...]
        }
        return result + rest
    }
}
