// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPBody {
    /// A value as JSON.
    ///
    /// ```swift
    /// request.body = .json(Recipe(name: "Pancakes"))      // {"name":"Pancakes"}
    /// ```
    ///
    /// What the encoder throws becomes the error of the request, whose code is then `encoding`.
    ///
    /// - Parameters:
    ///   - value: What to encode.
    ///   - encoder: What encodes it; by default that of the environment, or else one that sorts the keys, so
    ///     that equal values give equal bytes.
    /// - Returns: The body.
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> HTTPBody {
        HTTPBody(
            headers: jsonHeaders,
            source: value,
            encodingJSON: { inherited in
                try (encoder ?? inherited ?? sortingEncoder).encode(value)
            }
        )
    }

    /// JSON as it is written here, of literals of any mixture.
    ///
    /// ```swift
    /// request.body = .json(["name": "Pancakes", "eggs": 2, "tags": ["sweet", nil]])
    /// ```
    public static func json(_ value: JSONValue) -> HTTPBody {
        HTTPBody(headers: jsonHeaders, source: value, encodingJSON: { _ in try sortingEncoder.encode(value) })
    }

    /// What `JSONSerialization` takes, as JSON.
    ///
    /// It is encoded at once, since a value of any type can't be handed from one thread to another. ``json(_:)`` takes
    /// literals of any mixture and needs no `try`.
    ///
    /// - Parameters:
    ///   - object: An array or a dictionary; with the option `fragmentsAllowed` any value that JSON has.
    ///   - options: How it is written; with sorted keys by default.
    /// - Returns: The body.
    /// - Throws: ``InvalidRequest`` where the object isn't one that can be JSON, or is nested deeper than 512 levels.
    public static func jsonObject(
        _ object: Any,
        options: JSONSerialization.WritingOptions = [.sortedKeys]
    ) throws -> HTTPBody {
        // What `JSONSerialization` doesn't take ends the process on some platforms, as does what is nested too deeply.
        guard isShallow(object) else { throw InvalidRequest(.body, "is nested too deeply for JSON") }
        let isFragment = options.contains(.fragmentsAllowed)
        guard JSONSerialization.isValidJSONObject(isFragment ? [object] : object) else {
            throw InvalidRequest(.body, "can't be written as JSON", excerpt: "\(type(of: object))")
        }
        return HTTPBody(
            .data(try JSONSerialization.data(withJSONObject: object, options: options)),
            headers: jsonHeaders
        )
    }

    private static let jsonHeaders: HTTPHeaders = [.contentType: MediaType.json.rawValue]

    private static let sortingEncoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()

    private static func isShallow(_ object: Any) -> Bool {
        var level = [object]
        for _ in 0...512 {
            level = level.flatMap { value -> [Any] in
                if let array = value as? [Any] { return array }
                return (value as? [String: Any]).map { Array($0.values) } ?? []
            }
            if level.isEmpty { return true }
        }
        return false
    }
}
