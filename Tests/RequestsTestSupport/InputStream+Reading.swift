// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension InputStream {
    /// Reads the stream to its end, in pieces of a size.
    package func readAll(inPiecesOf size: Int = 64 * 1024) throws -> Data {
        open()
        defer { close() }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: size)
        while true {
            let count = read(&buffer, maxLength: size)
            guard count >= 0 else { throw streamError ?? CocoaError(.fileReadUnknown) }
            guard count > 0 else { return data }
            data.append(contentsOf: buffer[..<count])
        }
    }
}

extension HTTPBody {
    /// Returns the bytes of the body as a transport would send them.
    package func bytes() throws -> Data {
        switch try resolved().content {
        case .none: Data()
        case .data(let data): data
        case .file(let url): try Data(contentsOf: url)
        case .stream(let stream): try stream.open().readAll()
        }
    }

    package func text() throws -> String { String(decoding: try bytes(), as: UTF8.self) }
}

/// A file that is removed with its test.
package final class TemporaryFile: Sendable {
    package let url: URL
    private let folder: TemporaryFolder

    package init(_ data: Data, name: String = "file.txt") throws {
        folder = TemporaryFolder()
        url = folder.file(name)
        try data.write(to: url)
    }
}
