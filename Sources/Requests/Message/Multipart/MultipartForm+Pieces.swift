// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension MultipartForm {
    /// A stretch of the form as it is sent.
    enum Piece: Sendable, Hashable {
        /// It is in memory.
        case data(Data)
        /// It is in a file, the whole of which it is.
        case file(URL)
    }

    /// The form as it is sent, stretch by stretch, without reading any of it.
    ///
    /// - Throws: ``InvalidRequest`` where a piece of it can't be sent, or where a part is a stream; what the encoding
    ///   of a part throws.
    func pieces() throws -> [Piece] {
        let message = try message()
        var serializer = message.serializer
        var pieces: [Piece] = []
        while true {
            switch serializer.next() {
            case .write(let data):
                pieces.append(.data(data))
            case .open(let part):
                guard case .file(let url) = message.contents[part] else {
                    throw InvalidRequest(.body, "has a part that is a stream")
                }
                pieces.append(.file(url))
            case .read(_, let left):
                if left > 0 { try serializer.didRead(Int(left)) }
                try serializer.didRead(0)
            case .close:
                break
            case .finish:
                return pieces
            }
        }
    }
}
