// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension RequestError.Code {
    init(_ error: DownloadError) {
        switch error.code {
        case .fileExists: self = .fileExists
        case .cannotWriteFile: self = .cannotWriteFile
        case .diskFull: self = .diskFull
        }
    }
}
