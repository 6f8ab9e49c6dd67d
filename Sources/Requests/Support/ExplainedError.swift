// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An error whose explanation contains no secrets, and can therefore be quoted by the error of a request.
///
/// For any other error, only its type and code are quoted, because its description may contain secrets.
package protocol ExplainedError: Error {
    /// The reason for the error, in one line.
    var explanation: String { get }
}

/// An error of the library whose description contains no secrets, and is also used as the localized description.
package protocol DescribedError: ExplainedError, LocalizedError, CustomStringConvertible {}

extension ExplainedError where Self: CustomStringConvertible {
    package var explanation: String { description }
}

extension DescribedError {
    /// The description of the error, as a message for users.
    public var errorDescription: String? { description }
}

// MARK: - Mirror

/// A value that `dump` and debuggers show only as its description, because its properties may be secrets.
package protocol DescribedMirror: CustomStringConvertible, CustomReflectable {}

extension DescribedMirror {
    /// A mirror that contains only the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

// MARK: - Coding

extension DecodingError: ExplainedError {
    // Foundation's own descriptions aren't used, because they quote the content.
    package var explanation: String {
        switch self {
        case .typeMismatch(let type, let context): "expected \(type)\(context.codingPath.location)\(context.found)"
        case .valueNotFound(let type, let context): "expected \(type)\(context.codingPath.location), found null"
        case .keyNotFound(let key, let context):
            "the key “\(key.stringValue.shortened())” is missing\(context.codingPath.location)"
        case .dataCorrupted(let context) where context.codingPath.isEmpty: "the content is malformed"
        case .dataCorrupted(let context): "the value\(context.codingPath.location) is invalid"
        @unknown default: "DecodingError"
        }
    }
}

extension DecodingError.Context {
    /// The type of the value that was found, such as `, found a string`; empty if the decoder doesn't report it.
    fileprivate var found: String {
        // Extract only these type names from Foundation's description, because the rest may quote the content.
        let kinds = [
            "a string": "a string", "number": "a number", "bool": "a Boolean value", "null": "null",
            "an array": "an array", "a dictionary": "an object",
        ]
        let kind = kinds.first { debugDescription.hasSuffix(" but found \($0.key) instead.") }?.value
        return kind.map { ", found \($0)" } ?? ""
    }
}

extension EncodingError: ExplainedError {
    package var explanation: String {
        switch self {
        case .invalidValue(_, let context) where context.underlyingError is any ExplainedError:
            "\((context.underlyingError as? any ExplainedError)?.explanation ?? "")\(context.codingPath.location)"
        case .invalidValue(let value, let context):
            "the value of type \(type(of: value))\(context.codingPath.location) can't be encoded"
        @unknown default: "EncodingError"
        }
    }
}

extension [any CodingKey] {
    /// The location in a document, such as ` at “items[0].id”`; empty for the entire document.
    fileprivate var location: String {
        var path = ""
        for key in self {
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += (path.isEmpty ? "" : ".") + key.stringValue.shortened()
            }
        }
        return path.isEmpty ? "" : " at “\(path.shortened(to: 200))”"
    }
}
