// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestError: CustomStringConvertible, LocalizedError {
    /// A short name from a limited set, such as `unacceptableStatus`, suitable as a label for metrics.
    public var shortDescription: String { code.name }

    /// The error in one line: what went wrong, in which phase, for which request, and why.
    ///
    /// ```
    /// unacceptableStatus (404 Not Found) while validating for GET https://example.com/todos/1
    /// decoding (200 OK) for GET https://example.com/todos/1: expected Int at “id” of Todo; content type text/html
    /// ```
    ///
    /// The reason depends on the kind of error:
    ///
    /// - For invalid content, it contains the coding path, the expected type, and the kind of value that was found.
    /// - For an exceeded limit, it contains the limit.
    /// - For an error from other code, it contains the error's type, and its case and code if it has them.
    /// - For a request to another origin, it contains the names of the withheld fields:
    ///   ``TransferRecord/withheldHeaders``.
    ///
    /// The description contains no secrets. URLs are shown without credentials or query, and header fields and content
    /// are omitted.
    public var description: String { description(depth: 0) }

    /// The error in one line without the request, for contexts that already show the request.
    package var summary: String { description(depth: 0, isBrief: true) }

    /// The error in one line, for people.
    public var errorDescription: String? { description }

    private func description(depth: Int, isBrief: Bool = false) -> String {
        var text = code.name
        if let status = response?.status { text += " (\(status))" }
        if phase.rawValue != code.name { text += " while \(phase.rawValue)" }
        if let request, !isBrief { text += " for \(request)" }
        let withheld = isBrief ? nil : request?.withheldText
        let reasons = [reason, cause(depth: depth), contentType, withheld].compactMap(\.self)
        return reasons.isEmpty ? text : "\(text): \(reasons.joined(separator: "; "))"
    }

    /// A description of the content type, for content that couldn't be decoded.
    private var contentType: String? {
        guard code == .decoding, let response else { return nil }
        return response[.contentType].map { "content type \($0.shortened())" } ?? "no content type"
    }

    private func cause(depth: Int) -> String? {
        switch underlying {
        case nil: nil
        case let error as RequestError:
            // Limit the depth of nested causes, to keep log lines short.
            depth < 3 ? "caused by \(error.description(depth: depth + 1))" : "caused by \(error.code.name)"
        case let error as any ExplainedError: error.explanation
        case let error?: Self.name(of: error)
        }
    }

    /// Returns the type of an error that other code threw, with the name of its case and its code if these are
    /// meaningful.
    ///
    /// Nothing else is included, because it may be secret. By default, the domain of an error is its type, and its code
    /// is 1 or a number that the compiler assigns to the case.
    private static func name(of error: any Error) -> String {
        // Check the type, because every error can be cast to `NSError`.
        let type = type(of: error)
        if type is NSError.Type {
            let (domain, code) = ((error as NSError).domain, (error as NSError).code)
            // On Linux, the error may have been converted from a Swift error. Its domain is then the name of a type,
            // such as `Recipes.APIError`.
            let isType = domain.first?.isUppercase == true && domain.contains(".")
            return domain.shortened() + (isType && code == 1 ? "" : " \(code)")
        }
        let name = "\(type)".shortened()
        let label = caseName(of: error, type)
        let text = label.map { "\(name).\($0)" } ?? name
        guard type is any CustomNSError.Type else { return text }
        let (domain, code) = ((error as NSError).domain, (error as NSError).code)
        // By default, the compiler numbers the cases from 0.
        let isDefault = domain == String(reflecting: type) && (label == nil ? code == 1 : (0..<100).contains(code))
        return isDefault ? text : "\(text) \(code)"
    }

    /// Returns the name of the case; `nil` if the error isn't an enum, or has a custom description.
    private static func caseName(of error: any Error, _ type: any Error.Type) -> String? {
        let mirror = Mirror(reflecting: error)
        guard mirror.displayStyle == .enum, !(type is any CustomReflectable.Type) else { return nil }
        if let label = mirror.children.first?.label { return label }
        // A case without associated values prints as its name, unless the type has a custom description.
        let isDescribed = type is any CustomStringConvertible.Type || type is any CustomDebugStringConvertible.Type
        return isDescribed ? nil : "\(error)"
    }
}
