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
    /// For invalid content it gives the place, the expected type and the kind of the value that is there; for a limit,
    /// its value; for an error of other code, the type, with the case and the code that it has; for a request to another
    /// origin, the names of the fields that stayed behind: ``TransferRecord/withheldHeaders``. It contains no secrets:
    /// addresses have no credentials and no query, and header fields and content are left out.
    public var description: String { description(depth: 0) }

    /// The error in a line, for where the request is known anyhow: what went wrong, in which phase, and why.
    package var summary: String { description(depth: 0, isBrief: true) }

    /// The error in a line, for people.
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
        case let error as any ExplainedError: error.explanation
        case let error?: Self.name(of: error)
        }
    }

    /// The type of an error that isn't the library's, with the name of the case and the code, if they say something;
    /// what else it says may be a secret.
    ///
    /// An error without a domain of its own has its type as the domain, and without a code of its own the code is 1, or
    /// a number that the compiler gives the case.
    private static func name(of error: any Error) -> String {
        // The type is asked, since any error is taken for one that is converted to an `NSError`.
        let type = type(of: error)
        if type is NSError.Type {
            let (domain, code) = ((error as NSError).domain, (error as NSError).code)
            // On Linux, it may have been made of an error in Swift: with a domain such as `Recipes.APIError`.
            let isType = domain.first?.isUppercase == true && domain.contains(".")
            return domain.shortened() + (isType && code == 1 ? "" : " \(code)")
        }
        let name = "\(type)".shortened()
        let label = label(of: error, type)
        let text = label.map { "\(name).\($0)" } ?? name
        guard type is any CustomNSError.Type else { return text }
        let (domain, code) = ((error as NSError).domain, (error as NSError).code)
        // The compiler numbers the cases from 0.
        let isDefault = domain == String(reflecting: type) && (label == nil ? code == 1 : (0..<100).contains(code))
        return isDefault ? text : "\(text) \(code)"
    }

    /// The name of the case; `nil` if the error isn't an enumeration, or prints something else.
    private static func label(of error: any Error, _ type: any Error.Type) -> String? {
        let mirror = Mirror(reflecting: error)
        guard mirror.displayStyle == .enum, !(type is any CustomReflectable.Type) else { return nil }
        if let label = mirror.children.first?.label { return label }
        // Without a description of its own, a case without values is printed as its name.
        let isDescribed = type is any CustomStringConvertible.Type || type is any CustomDebugStringConvertible.Type
        return isDescribed ? nil : "\(error)"
    }
}
