// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An error that is thrown if a file or a folder can't be read or written.
///
/// ``CookieJar`` and ``ResponseCache`` throw this error directly. For a download, it is the underlying error of a
/// ``RequestError`` with the code `fileExists`, `cannotWriteFile` or `diskFull`.
public struct FileError: DescribedError, Sendable, Hashable {
    /// The kind of error.
    public enum Code: String, Sendable, Hashable {
        /// A file already exists at the destination, and must not be replaced.
        case fileExists
        /// The file or its folder can't be written or created.
        case cannotWriteFile
        /// There is no space for the file on the disk.
        case diskFull
        /// The file or its folder can't be read.
        case cannotReadFile
        /// The file is incomplete, or its content isn't what was expected.
        case damaged
    }

    /// The kind of error.
    public let code: Code
    /// The location of the file or folder.
    public let file: URL
    /// The message of the system or the problem with the content, but never the content itself.
    public let reason: String

    /// Creates an error.
    public init(_ code: Code, _ file: URL, _ reason: String) {
        self.code = code
        self.file = file
        self.reason = reason
    }

    /// Creates an error for a failed system call that creates or writes the file.
    package init(_ file: URL, errno number: Int32) {
        let code: Code =
            switch number {
            case ENOSPC, EDQUOT: .diskFull
            case EEXIST: .fileExists
            default: .cannotWriteFile
            }
        let reason = POSIXErrorCode(rawValue: number).map { POSIXError($0).localizedDescription }
        self.init(code, file, reason ?? "system error \(number)")
    }

    /// Creates an error for a file or folder that Foundation couldn't create or write.
    package init(_ file: URL, writing error: any Error) {
        let isFull = (error as? CocoaError)?.code == .fileWriteOutOfSpace
        self.init(isFull ? .diskFull : .cannotWriteFile, file, error.localizedDescription)
    }

    /// The error as a sentence, with the name of the file but without its folder.
    public var description: String {
        let problem =
            switch code {
            case .fileExists: "already exists"
            case .cannotWriteFile: "can't be written"
            case .diskFull: "can't be written because the disk is full"
            case .cannotReadFile: "can't be read"
            case .damaged: "is damaged"
            }
        return "the file “\(file.lastPathComponent.shortened())” \(problem): \(reason)"
    }
}
