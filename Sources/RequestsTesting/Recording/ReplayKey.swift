// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The key of requests that a replay treats as equal, and answers in turn.
struct ReplayKey: Hashable, Sendable {
    let method: HTTPMethod
    /// The address without secrets, parameters and ignored parts.
    let address: String
    /// The decoded parameters, sorted by name; those of one name in their order.
    let query: Query
    let content: ReplayedContent?
    /// The known beginning of the content; `nil` if all of it is known.
    let beginning: ContentBeginning?

    init(_ exchange: RecordedExchange, matchingBodies: Bool, ignoring ignored: StubCondition.AddressParts) {
        let request = exchange.request
        method = request.method
        var pieces = AddressPieces(request.url.withoutSecrets)
        // Parameters of different names may come in any order.
        let items = Query(percentEncoded: pieces.query ?? "").enumerated().sorted {
            ($0.element.name, $0.offset) < ($1.element.name, $1.offset)
        }
        query = ignored.contains(.query) ? Query() : Query(items.map(\.element))
        pieces.query = nil
        if ignored.contains(.scheme) { pieces.scheme = "" }
        if ignored.contains(.host) { pieces.host = "" }
        if ignored.contains(.port) { pieces.port = nil }
        if ignored.contains(.path) { pieces.path = "" }
        address = pieces.text
        let missing = exchange.requestBodySize - Int64(request.body.count)
        beginning =
            matchingBodies && missing > 0
            ? ContentBeginning(request.body, headers: request.headers, missing: missing) : nil
        content = matchingBodies ? ReplayedContent(request.body, type: request.headers[.contentType]) : nil
    }
}

extension StubCondition {
    /// The address is the recorded one; secret parameters may have any value.
    static func recorded(_ url: URL, ignoring ignored: AddressParts) -> StubCondition {
        let url = url.withoutSecrets
        let expected = AddressPieces(url)
        return StubCondition("URL \(StubbedRequest(url: url).address)") { request in
            AddressPieces(request.url.withoutSecrets).difference(from: expected, ignoring: ignored)
        }
    }

    /// The content is the recorded one, as far as it is known.
    static func recordedBody(_ key: ReplayKey) -> StubCondition {
        StubCondition("recorded body") { request in
            if let beginning = key.beginning {
                let isSame = beginning.isBeginning(of: request.body, headers: request.headers)
                return isSame ? nil : "the content differs from the recorded one"
            }
            let content = ReplayedContent(request.body, type: request.headers[.contentType])
            guard let expected = key.content, content != expected else { return nil }
            if case .json(let value) = content, case .json(let recorded) = expected {
                return value.mismatch(with: recorded, isWhole: true).map { "the JSON \($0)" }
            }
            return "the content differs from the recorded one"
        }
    }
}

extension URL {
    fileprivate var withoutSecrets: URL {
        URL(string: Redaction.address(absoluteString)) ?? self
    }
}

/// Content in a normalized form: equal if the meaning is equal, without secrets.
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
            // Each form has another boundary.
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
