// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension StubCondition {
    /// Matches requests for a recorded URL; secret parameters may have any value.
    static func recorded(_ url: URL, ignoring ignored: Set<AddressPart>) -> StubCondition {
        let url = url.withoutSecrets
        let expected = AddressComponents(url)
        return StubCondition("URL \(ReceivedRequest(url: url).redactedAddress)") { request in
            AddressComponents(request.url.withoutSecrets).difference(from: expected, ignoring: ignored)
        }
    }

    /// Matches requests with recorded content.
    static func recorded(_ expected: RecordedContent) -> StubCondition {
        StubCondition("recorded body") { request in
            let content = RecordedContent(request)
            guard content != expected else { return nil }
            guard case .json(let value) = content, case .json(let recorded) = expected else {
                return "the content differs from the recorded content"
            }
            return "the JSON differs: \(value.differences(from: recorded, isExact: true).joined(separator: ", "))"
        }
    }
}

extension URL {
    /// The URL as an archive stores it, with redacted secrets.
    var withoutSecrets: URL {
        URL(string: Redaction.address(absoluteString)) ?? self
    }
}

/// Content in a normalized form without secrets, so that content with the same meaning is equal.
enum RecordedContent: Hashable, Sendable {
    case json(JSONValue)
    case bytes(Data)

    init(_ request: ReceivedRequest) {
        let content = Redaction.content(request.body, type: request.headers[.contentType]) ?? Data()
        let type = request.headers[.contentType].flatMap { try? MediaType(parsing: $0) }
        let isJSON = type.map { $0.essence == "application/json" || $0.suffix == "json" } ?? false
        if isJSON, let value = try? JSONDecoder().decode(JSONValue.self, from: content) {
            self = .json(value)
        } else if let boundary = type?[parameter: "boundary"], !boundary.isEmpty {
            // The boundary of a multipart form differs each time.
            self = .bytes(content.replacing(Data(boundary.utf8), with: Data("boundary".utf8)))
        } else {
            self = .bytes(content)
        }
    }
}
