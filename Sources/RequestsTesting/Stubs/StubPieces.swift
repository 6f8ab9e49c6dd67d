// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The content of a stubbed response in the pieces in which it comes, made one by one: of a large one there are many.
struct StubPieces: Sequence, IteratorProtocol, Sendable {
    private var rest: Data
    private let size: Int
    private let pause: Duration
    private let speed: StubSpeed?
    private var isFirst = true

    /// Makes the pieces of the content of a response.
    init(of content: Data, of response: StubResponse) {
        rest = content
        size = response.pieceSize ?? response.speed?.bytesPerPiece ?? Swift.max(1, content.count)
        pause = response.pause
        speed = response.speed
    }

    /// The next piece, and how long nothing comes before it: each comes when all of it has come, and the pause is between
    /// two.
    mutating func next() -> (wait: Duration, data: Data)? {
        guard !rest.isEmpty else { return nil }
        let piece = Data(rest.prefix(size))
        rest = rest.dropFirst(size)
        defer { isFirst = false }
        return ((speed?.duration(of: piece.count) ?? .zero) + (isFirst ? .zero : pause), piece)
    }
}
