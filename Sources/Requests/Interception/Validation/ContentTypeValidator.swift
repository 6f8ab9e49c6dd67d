// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A validator that rejects content of a type that the request doesn't accept.
struct ContentTypeValidator: ResponseValidator {
    private let accepted: [MediaType]?

    /// Creates a validator for these types; `nil` means the types of the request's `Accept` field.
    init(_ accepted: [MediaType]? = nil) {
        self.accepted = accepted
    }

    func validate(_ response: HTTPResponse<Data>, context: ValidationContext) -> ValidationResult {
        guard !response.body.isEmpty, let failure = failure(of: response.head, in: context) else { return .accept }
        return .fail(failure)
    }

    func validate(head: HTTPResponseHead, context: ValidationContext) throws {
        guard head.mayHaveContent(to: context.request), let failure = failure(of: head, in: context) else { return }
        throw failure
    }

    private func failure(of head: HTTPResponseHead, in context: ValidationContext) -> RequestError? {
        guard context.accepts(head.status) else { return nil }
        guard let accepted = accepted ?? Self.accepted(by: context.request) else { return nil }
        return Self.mismatch(of: head, accepting: accepted)
    }

    /// Returns the error for content that has none of the accepted types; `nil` if the type is accepted.
    static func mismatch(of head: HTTPResponseHead, accepting accepted: [MediaType]) -> RequestError? {
        let acceptsAny = accepted.contains(where: \.acceptsEverything)
        if acceptsAny, accepted.allSatisfy(\.isAcceptable) { return nil }
        guard let text = head[.contentType] else {
            return acceptsAny ? nil : failure("the response has no Content-Type")
        }
        guard let type = try? MediaType(parsing: text) else {
            return failure("the Content-Type is malformed: \(text.shortened())")
        }
        let best = accepted.filter { $0.covers(type) }.max { $0.specificity(for: type) < $1.specificity(for: type) }
        guard best?.isAcceptable != true else { return nil }
        let list = accepted.filter(\.isAcceptable).map { $0.essence.shortened() }.joined(separator: ", ")
        let acceptedTypes = list.isEmpty ? "nothing" : "only \(list)"
        return failure("the content type is \(type.essence.shortened()), but the request accepts \(acceptedTypes)")
    }

    private static func failure(_ reason: String) -> RequestError {
        RequestError(.unacceptableContentType, phase: .validating, reason: reason)
    }

    /// Returns the types of the `Accept` field; `nil` if there are no restrictions.
    private static func accepted(by request: HTTPRequest) -> [MediaType]? {
        let list = FieldScanner.members(of: request.headers[values: .accept])
        let types = list.compactMap { try? MediaType(parsing: $0.trimmedOfBlanks) }
        return types.isEmpty ? nil : types
    }
}

extension MediaType {
    /// Whether the range includes every type, and its weight isn't zero.
    fileprivate var acceptsEverything: Bool { essence == "*/*" && isAcceptable && specificity(for: self) == 0 }

    /// Whether the range is accepted, that is, its weight isn't zero (RFC 9110, 12.4.2).
    fileprivate var isAcceptable: Bool { self[parameter: "q"].map { Double($0) != 0 } ?? true }

    /// Returns the specificity of the range for a type that it includes.
    ///
    /// The exact type is more specific than another JSON-based type, which is more specific than a wildcard. A range
    /// with more parameters is more specific.
    fileprivate func specificity(for other: MediaType) -> Int {
        let subtypeScore = subtype == "*" ? 0 : essence == other.essence ? 2 : 1
        return 100 * (type == "*" ? 0 : 1 + subtypeScore) + parameters.count { !$0.name.equalsIgnoringASCIICase("q") }
    }

    /// Returns whether a type is in this range; a parameter of the range is compared only if the type has it too.
    ///
    /// `application/json` includes every JSON-based type, such as `application/vnd.api+json` (RFC 6839, 3.1). A
    /// JSON-based type also includes `application/json`, because many servers use that instead.
    fileprivate func covers(_ other: MediaType) -> Bool {
        var range = self
        range.parameters.removeAll { other[parameter: $0.name] == nil }
        let plain = MediaType.json.essence
        if essence == plain && other.isJSON || isJSON && other.essence == plain {
            (range.type, range.subtype) = (other.type, other.subtype)
        }
        return range.matches(other)
    }
}

extension HTTPResponseHead {
    /// Returns whether content may follow (RFC 9110, 6.4.1), which isn't the case for 204, 205, 304 and responses to
    /// `HEAD`.
    fileprivate func mayHaveContent(to request: HTTPRequest) -> Bool {
        let hasNoContent = status == .noContent || status == .resetContent || status == .notModified
        return !hasNoContent && request.method != .head && self[.contentLength] != "0"
    }
}

extension ResponseValidator where Self == ClosureValidator {
    /// A validator that rejects content whose type the request's `Accept` field excludes.
    ///
    /// The request then fails with the code `unacceptableContentType`. The validator supports the field's wildcards and
    /// weights, and `application/json` accepts every JSON-based type, such as `application/vnd.api+json` (RFC 6839).
    /// Without the field, and for responses without content, every type is accepted (RFC 9110, 12.5.1). The most
    /// specific range for a type decides, and a weight of zero rejects the type. A parameter, such as `charset`, is
    /// compared only if both sides have it. For example, a request with `Accept: text/plain;charset=utf-8` accepts
    /// `text/plain`. Content without a type is rejected unless every type is accepted.
    ///
    /// Responses with a status that the request doesn't accept are left to other validators, because a page that
    /// explains an error is often HTML. The content of downloads and streams is rejected before it is delivered.
    public static var contentType: ClosureValidator { ClosureValidator(ContentTypeValidator()) }

    /// Returns a validator that rejects content of a type other than these; see ``contentType``.
    public static func contentType(_ accepted: MediaType...) -> ClosureValidator {
        ClosureValidator(ContentTypeValidator(accepted))
    }
}
