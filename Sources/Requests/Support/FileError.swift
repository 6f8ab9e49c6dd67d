// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The reason why a file, or a folder, can't be read or written.
///
/// A ``CookieJar`` and a ``ResponseCache`` throw it themselves. For a download, it is the underlying error of a
/// ``RequestError`` whose code is `fileExists`, `cannotWriteFile` or `diskFull`.
public struct FileError: DescribedError, Sendable, Hashable {
    /// The kind of error.
    public enum Code: String, Sendable, Hashable {
        /// There is a file at the destination, and it must not be replaced.
        case fileExists
        /// The file, or its folder, can't be written or created.
        case cannotWriteFile
        /// There is no space for it.
        case diskFull
        /// The file, or its folder, can't be read.
        case cannotReadFile
        /// The file contains something else, or is incomplete.
        case damaged
    }

    /// The kind of error.
    public let code: Code
    /// The file.
    public let file: URL
    /// The message of the system, or the problem with the content; never the content itself.
    public let reason: String

    /// Makes the error.
    public init(_ code: Code, _ file: URL, _ reason: String) {
        self.code = code
        self.file = file
        self.reason = reason
    }

    /// Makes the error of a system call that creates or writes the file.
    package init(_ file: URL, errno number: Int32) {
        let code: Code =
            switch number {
            case ENOSPC, EDQUOT: .diskFull
            case EEXIST: .fileExists
            default: .cannotWriteFile
            }
        let reason = POSIXErrorCode(rawValue: number).map { POSIXError($0).localizedDescription }
        self.init(code, file, reason ?? "error \(number) of the system")
    }

    /// Makes the error of creating a file or a folder with Foundation.
    package init(_ file: URL, writing error: any Error) {
        let isFull = (error as? CocoaError)?.code == .fileWriteOutOfSpace
        self.init(isFull ? .diskFull : .cannotWriteFile, file, error.localizedDescription)
    }

    /// The error, in a sentence, with the name of the file and not its folder.
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
