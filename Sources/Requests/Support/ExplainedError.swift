// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An error that says why, without a secret, so that the error of a request can repeat it.
///
/// Of an error of another kind only the type and the code are repeated: what it says may be a secret.
package protocol ExplainedError: Error {
    /// Why, in a line.
    var explanation: String { get }
}

/// An error of the library, whose description contains no secret, and is also its text for users.
package protocol DescribedError: ExplainedError, LocalizedError, CustomStringConvertible {}

extension ExplainedError where Self: CustomStringConvertible {
    package var explanation: String { description }
}

extension DescribedError {
    /// The error, as a text for users.
    public var errorDescription: String? { description }
}

// MARK: - Mirror

/// A value that `dump` and debuggers show only as its description, since its parts may be secrets.
package protocol DescribedMirror: CustomStringConvertible, CustomReflectable {}

extension DescribedMirror {
    /// A mirror of the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

// MARK: - Coding

extension DecodingError: ExplainedError {
    // Foundation's own texts quote the content.
    package var explanation: String {
        switch self {
        case .typeMismatch(let type, let context): "expected \(type)\(context.codingPath.location)\(context.found)"
        case .valueNotFound(let type, let context): "expected \(type)\(context.codingPath.location), found null"
        case .keyNotFound(let key, let context):
            "the key “\(key.stringValue.shortened())” is missing\(context.codingPath.location)"
        case .dataCorrupted(let context) where context.codingPath.isEmpty: "the content can't be read"
        case .dataCorrupted(let context): "the value\(context.codingPath.location) can't be read"
        @unknown default: "DecodingError"
        }
    }
}

extension DecodingError.Context {
    /// The kind of the value that is there, such as `, found a string`; empty if the decoder doesn't say it.
    fileprivate var found: String {
        // Foundation's text ends in one of these kinds; what else decoders write may quote the content.
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
            "the value of type \(type(of: value))\(context.codingPath.location) can't be written"
        @unknown default: "EncodingError"
        }
    }
}

extension [any CodingKey] {
    /// The place in a document, such as ` at “items[0].id”`; empty for the whole document.
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
