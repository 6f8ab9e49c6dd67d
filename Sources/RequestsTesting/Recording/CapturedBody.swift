// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The beginning of content, and how much there was of it.
struct CapturedBody: Sendable {
    private(set) var data = Data()
    private(set) var size: Int64 = 0
    private let limit: Int

    init(limit: Int) {
        self.limit = max(0, limit)
    }

    mutating func append(_ piece: some RandomAccessCollection<UInt8>) {
        size += Int64(piece.count)
        if data.count < limit { data.append(contentsOf: piece.prefix(limit - data.count)) }
    }

    /// Counts content that nobody read.
    mutating func skip(to size: Int64) {
        self.size = max(self.size, size)
    }

    /// Begins anew: the content is sent once more.
    mutating func reset() {
        self = CapturedBody(limit: limit)
    }
}
