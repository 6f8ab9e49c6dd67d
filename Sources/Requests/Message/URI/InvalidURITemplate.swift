// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Why a text is no URI template, or a template can't be expanded.
///
/// It names the piece that is at fault, where that is, and what is wrong with it. A template in a literal can't throw
/// where it stands; it throws this when it is expanded.
public struct InvalidURITemplate: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public let reason: String
    /// The beginning of the piece that is at fault, with control characters escaped.
    public let excerpt: String
    /// Where the fault is, in bytes of UTF-8 from the beginning of the template.
    public let offset: Int

    /// Makes the error; the excerpt is shortened here.
    init(_ reason: String, excerpt: String, offset: Int) {
        self.reason = reason
        self.excerpt = excerpt.shortened()
        self.offset = offset
    }

    /// The error, in a sentence.
    public var description: String {
        "the URI template \(reason) at byte \(offset): “\(excerpt)”"
    }
}
