// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Why the file of a ``CookieJar`` can't be read or written.
public struct CookieFileError: Error, Sendable, CustomStringConvertible {
    /// What went wrong.
    public enum Code: String, Sendable, Hashable {
        /// The file, or the folder that it is to be in, can't be read.
        case unreadable
        /// What stands in the file is none of ours, or not whole.
        case damaged
        /// The file can't be written.
        case unwritable
    }

    /// What went wrong.
    public let code: Code
    /// The file.
    public let file: URL
    /// What the system says, or what is wrong with the content; nothing of the content itself.
    public let reason: String

    /// Makes the error.
    public init(_ code: Code, _ file: URL, _ reason: String) {
        self.code = code
        self.file = file
        self.reason = reason
    }

    /// The error, in a sentence.
    public var description: String { "the file of cookies “\(file.lastPathComponent)” is \(code.rawValue): \(reason)" }
}
