// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Why a download can't be put into its file.
///
/// It arrives as the underlying error of a ``RequestError`` whose code is `fileExists`, `cannotWriteFile` or `diskFull`.
public struct DownloadError: ExplainedError, Sendable, Hashable, CustomStringConvertible, LocalizedError {
    /// What went wrong.
    public enum Code: String, Sendable, Hashable {
        /// There is a file at the destination, and it isn't to be replaced.
        case fileExists
        /// The file, or the folder that it is to be in, can't be written.
        case cannotWriteFile
        /// There is no room for it.
        case diskFull
    }

    /// What went wrong.
    public let code: Code
    /// The file.
    public let file: URL
    /// What the system says.
    public let reason: String

    /// Makes the error.
    public init(_ code: Code, _ file: URL, _ reason: String) {
        self.code = code
        self.file = file
        self.reason = reason
    }

    /// Makes the error of what the system says.
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

    /// The error, in a sentence; of the file it has the name and not where it is.
    public var description: String {
        let problem =
            switch code {
            case .fileExists: "is there already"
            case .cannotWriteFile: "can't be written"
            case .diskFull: "finds no room"
            }
        return "the file “\(file.lastPathComponent.shortened())” \(problem): \(reason)"
    }

    /// The error, for people.
    public var errorDescription: String? { description }
}
