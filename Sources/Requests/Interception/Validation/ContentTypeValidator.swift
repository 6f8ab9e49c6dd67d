// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Fails responses whose content is of another type than the request asked for.
///
/// By default that is what its `Accept` field says, wildcards included; without the field, and for responses without
/// content, everything is accepted (RFC 9110, 12.5.1). A response with content that doesn't say its type fails where
/// only certain types are accepted.
public struct ContentTypeValidator: ResponseValidator {
    private let accepted: [MediaType]?

    /// Makes a validator; nil types are those of the request's `Accept` field.
    public init(_ accepted: [MediaType]? = nil) {
        self.accepted = accepted
    }

    /// Fails content of another type, with the code `unacceptableContentType`.
    ///
    /// Responses with a status that the request doesn't accept are left to others: a page that explains an error is
    /// HTML as often as not.
    public func validate(_ response: HTTPResponse<Data>, context: ValidationContext) -> Verdict {
        guard !response.body.isEmpty, let failure = failure(of: response.head, in: context) else { return .accept }
        return .fail(failure)
    }

    /// Refuses content of another type before it goes to a file or to a stream, unless there is none.
    ///
    /// - Throws: ``RequestError`` of code `unacceptableContentType`.
    public func validate(head: HTTPResponseHead, context: ValidationContext) throws {
        guard head.announcesContent(to: context.request), let failure = failure(of: head, in: context) else { return }
        throw failure
    }

    private func failure(of head: HTTPResponseHead, in context: ValidationContext) -> RequestError? {
        guard context.accepts(head.status) else { return nil }
        let accepted = accepted ?? Self.accepted(by: context.request)
        guard !accepted.isEmpty, !accepted.contains(where: { $0.essence == "*/*" }) else { return nil }
        guard let text = head[.contentType] else { return failure("the content doesn't say its type") }
        guard let type = try? MediaType(parsing: text) else {
            return failure("the type of the content can't be read: \(text.shortened())")
        }
        return accepted.contains { $0.matches(type) } ? nil : failure("the content is \(type.essence.shortened())")
    }

    private func failure(_ reason: String) -> RequestError {
        RequestError(.unacceptableContentType, phase: .validating, reason: reason)
    }

    private static func accepted(by request: HTTPRequest) -> [MediaType] {
        let list = request.headers[values: .accept].flatMap { $0.split(separator: ",") }
        return list.compactMap { try? MediaType(parsing: String($0).trimmedOfBlanks) }
    }
}

extension HTTPResponseHead {
    /// Whether content may follow (RFC 9110, 6.4.1): not after 204, 205 and 304, nor if the request was HEAD.
    fileprivate func announcesContent(to request: HTTPRequest) -> Bool {
        let isWithout = status == .noContent || status == .resetContent || status == .notModified
        return !isWithout && request.method != .head && self[.contentLength] != "0"
    }
}

extension ResponseValidator where Self == ContentTypeValidator {
    /// Fails content of another type than the request's `Accept` field asks for.
    public static var contentType: ContentTypeValidator { ContentTypeValidator() }

    /// Fails content of other types than these.
    public static func contentType(_ accepted: MediaType...) -> ContentTypeValidator {
        ContentTypeValidator(accepted)
    }
}
