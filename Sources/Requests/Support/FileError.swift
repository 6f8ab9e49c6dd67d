// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The reason why a download can't be stored in its file.
///
/// It arrives as the underlying error of a ``RequestError`` whose code is `fileExists`, `cannotWriteFile` or `diskFull`.
public struct DownloadError: ExplainedError, Sendable, Hashable, CustomStringConvertible, LocalizedError {
    /// The kind of error.
    public enum Code: String, Sendable, Hashable {
        /// There is a file at the destination, and it must not be replaced.
        case fileExists
        /// The file, or the folder that it is to be in, can't be written.
        case cannotWriteFile
        /// There is no space for it.
        case diskFull
    }

    /// The kind of error.
    public let code: Code
    /// The file.
    public let file: URL
    /// The message of the system.
    public let reason: String

    /// Makes the error.
    public init(_ code: Code, _ file: URL, _ reason: String) {
        self.code = code
        self.file = file
        self.reason = reason
    }

    /// Makes the error of a system call.
    init(_ file: URL, errno number: Int32) {
        let code: Code =
            switch number {
            case ENOSPC, EDQUOT: .diskFull
            case EEXIST: .fileExists
            default: .cannotWriteFile
            }
        let reason = POSIXErrorCode(rawValue: number).map { POSIXError($0).localizedDescription }
        self.init(code, file, reason ?? "error \(number) of the system")
    }

    /// The error, in a sentence, with the name of the file and not its folder.
    public var description: String {
        let problem =
            switch code {
            case .fileExists: "is there already"
            case .cannotWriteFile: "can't be written"
            case .diskFull: "finds no room"
            }
        return "the file “\(file.lastPathComponent.shortened())” \(problem): \(reason)"
    }

    /// The error, as a text for users.
    public var errorDescription: String? { description }
}
