// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestError: CustomStringConvertible, LocalizedError {
    /// A few words of a bounded set, such as `unacceptableStatus`; fit to be the label of a metric.
    public var shortDescription: String { code.name }

    /// The error in a line: what went wrong, in which phase, for which request, and why.
    ///
    /// ```
    /// unacceptableStatus (404 Not Found) while validating for GET https://example.com/todos/1
    /// decoding (200 OK) for GET https://example.com/todos/1: expected Int at “id” of Todo; content type text/html
    /// ```
    ///
    /// Of what went wrong in the content it says the place and the expected type, of a limit its value, of an error that
    /// isn't the library's the type and the code. It has no secret in it: addresses come without credentials and query,
    /// header fields and content not at all.
    public var description: String { description(depth: 0) }

    /// The error in a line, for people.
    public var errorDescription: String? { description }

    private func description(depth: Int) -> String {
        var text = code.name
        if let status = response?.status { text += " (\(status))" }
        if phase.rawValue != code.name { text += " while \(phase.rawValue)" }
        if let request { text += " for \(request)" }
        let reasons = [reason, cause(depth: depth), contentType].compactMap(\.self)
        return reasons.isEmpty ? text : "\(text): \(reasons.joined(separator: "; "))"
    }

    /// The type of the content that couldn't be decoded.
    private var contentType: String? {
        guard code == .decoding, let response else { return nil }
        return response[.contentType].map { "content type \($0.shortened())" } ?? "no content type"
    }

    private func cause(depth: Int) -> String? {
        switch underlying {
        case nil: nil
        case let error as RequestError:
            // A chain of causes has an end in every log.
            depth < 3 ? "caused by \(error.description(depth: depth + 1))" : "caused by \(error.code.name)"
        case let error as OversizedElement where reason == error.description: nil
        case let error as any ExplainedError: error.explanation
        case let error?: Self.name(of: error)
        }
    }

    /// The type and the code of an error that isn't the library's: what it says may be a secret.
    private static func name(of error: any Error) -> String {
        if error is CancellationError { return "CancellationError" }
        let foundation = error as NSError
        let name = type(of: error) is NSError.Type ? foundation.domain : "\(type(of: error))"
        return "\(name.shortened()) \(foundation.code)"
    }
}

/// An error that says why, without a secret.
private protocol ExplainedError: Error {
    var explanation: String { get }
}

extension ExplainedError where Self: CustomStringConvertible {
    var explanation: String { description }
}

extension InvalidRequest: ExplainedError {}
extension InvalidURITemplate: ExplainedError {}
extension DownloadError: ExplainedError {}
extension OversizedElement: ExplainedError {}
extension BodyStream.AlreadyRead: ExplainedError {}

extension DecodingError: ExplainedError {
    // Foundation's own texts quote the content.
    fileprivate var explanation: String {
        switch self {
        case .typeMismatch(let type, let context): "expected \(type)\(context.codingPath.place)"
        case .valueNotFound(let type, let context): "expected \(type)\(context.codingPath.place), found null"
        case .keyNotFound(let key, let context):
            "the key “\(key.stringValue.shortened())” is missing\(context.codingPath.place)"
        case .dataCorrupted(let context) where context.codingPath.isEmpty: "the content can't be read"
        case .dataCorrupted(let context): "the value\(context.codingPath.place) can't be read"
        @unknown default: "DecodingError"
        }
    }
}

extension EncodingError: ExplainedError {
    fileprivate var explanation: String {
        switch self {
        case .invalidValue(let value, let context):
            "the value of type \(type(of: value))\(context.codingPath.place) can't be written"
        @unknown default: "EncodingError"
        }
    }
}

extension [any CodingKey] {
    /// Where in a document something is, such as ` at “items[0].id”`; nothing for the whole of it.
    fileprivate var place: String {
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
