// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A validator that fails responses whose content is of another type than the request accepts.
struct ContentTypeValidator: ResponseValidator {
    private let accepted: [MediaType]?

    /// Creates a validator for some types; `nil` stands for those of the request's `Accept` field.
    init(_ accepted: [MediaType]? = nil) {
        self.accepted = accepted
    }

    func validate(_ response: HTTPResponse<Data>, context: ValidationContext) -> ValidationResult {
        guard !response.body.isEmpty, let failure = failure(of: response.head, in: context) else { return .accept }
        return .fail(failure)
    }

    func validate(head: HTTPResponseHead, context: ValidationContext) throws {
        guard head.announcesContent(to: context.request), let failure = failure(of: head, in: context) else { return }
        throw failure
    }

    private func failure(of head: HTTPResponseHead, in context: ValidationContext) -> RequestError? {
        guard context.accepts(head.status) else { return nil }
        guard let accepted = accepted ?? Self.accepted(by: context.request) else { return nil }
        return Self.refusal(of: head, accepting: accepted)
    }

    /// Returns why the content of a response is of none of the accepted types; `nil` if it is of one.
    static func refusal(of head: HTTPResponseHead, accepting accepted: [MediaType]) -> RequestError? {
        let acceptsAny = accepted.contains(where: \.isEverything)
        if acceptsAny, accepted.allSatisfy(\.isWanted) { return nil }
        guard let text = head[.contentType] else {
            return acceptsAny ? nil : failure("the content doesn't say its type")
        }
        guard let type = try? MediaType(parsing: text) else {
            return failure("the type of the content can't be read: \(text.shortened())")
        }
        let best = accepted.filter { $0.covers(type) }.max { $0.precision(for: type) < $1.precision(for: type) }
        guard best?.isWanted != true else { return nil }
        let list = accepted.filter(\.isWanted).map { $0.essence.shortened() }.joined(separator: ", ")
        let acceptedTypes = list.isEmpty ? "nothing" : list
        return failure("the content is \(type.essence.shortened()), and \(acceptedTypes) is accepted")
    }

    private static func failure(_ reason: String) -> RequestError {
        RequestError(.unacceptableContentType, phase: .validating, reason: reason)
    }

    /// The types of the `Accept` field; `nil` if there are no restrictions.
    private static func accepted(by request: HTTPRequest) -> [MediaType]? {
        let list = FieldScanner.members(of: request.headers[values: .accept])
        let types = list.compactMap { try? MediaType(parsing: $0.trimmedOfBlanks) }
        return types.isEmpty ? nil : types
    }
}

extension MediaType {
    /// Whether the range covers every type, and accepts it.
    fileprivate var isEverything: Bool { essence == "*/*" && isWanted && precision(for: self) == 0 }

    /// Whether the range isn't refused with a weight of zero (RFC 9110, 12.4.2).
    fileprivate var isWanted: Bool { self[parameter: "q"].map { Double($0) != 0 } ?? true }

    /// The specificity of the range for a type that it covers: the type itself is more specific than JSON for a dialect
    /// of it, and that is more than a wildcard; a parameter is more than none.
    fileprivate func precision(for other: MediaType) -> Int {
        let ofSubtype = subtype == "*" ? 0 : essence == other.essence ? 2 : 1
        return 100 * (type == "*" ? 0 : 1 + ofSubtype) + parameters.count { !$0.name.equalsIgnoringASCIICase("q") }
    }

    /// Whether a type is in this range, whose parameters count only if the type has them too.
    ///
    /// `application/json` covers every dialect of JSON, such as `application/vnd.api+json` (RFC 6839, 3.1), and a
    /// dialect covers `application/json`, which many servers call it.
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
    /// Whether content may follow (RFC 9110, 6.4.1): not for 204, 205 and 304, nor if the request was HEAD.
    fileprivate func announcesContent(to request: HTTPRequest) -> Bool {
        let isWithout = status == .noContent || status == .resetContent || status == .notModified
        return !isWithout && request.method != .head && self[.contentLength] != "0"
    }
}

extension ResponseValidator where Self == ClosureValidator {
    /// Fails content of a type that the request's `Accept` field doesn't accept, with the code
    /// `unacceptableContentType`.
    ///
    /// Wildcards and weights of the field count, and `application/json` accepts every dialect of JSON, such as
    /// `application/vnd.api+json` (RFC 6839). Without the field, and for responses without content, every type is
    /// accepted (RFC 9110, 12.5.1). The most specific range for a type decides, and a weight of zero refuses. A
    /// parameter, such as `charset`, counts only if both sides have it: `application/json` is accepted if the request
    /// asked for `application/json; charset=utf-8`. Content without a type fails unless every type is accepted.
    ///
    /// Responses with a status that the request doesn't accept are left to other validators: a page that explains an
    /// error is often HTML. The content of downloads and streams is refused before it goes to a file or to a reader.
    public static var contentType: ClosureValidator { ClosureValidator(ContentTypeValidator()) }

    /// Fails content of a type other than these, with the code `unacceptableContentType`; see ``contentType``.
    public static func contentType(_ accepted: MediaType...) -> ClosureValidator {
        ClosureValidator(ContentTypeValidator(accepted))
    }
}
