// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport

@testable import Requests

/// The ways in which a network may split a stream into chunks.
enum Cuts {
    /// Returns the text whole, byte by byte, and split in two and in three at every position.
    ///
    /// At the small scale, the piece in the middle of three has at most two bytes.
    static func all(of text: String) -> [[Data]] {
        let bytes = Array(text.utf8)
        let longest = Scale.pick(2, whole: bytes.count)
        var cuts = [[Data(bytes)], bytes.map { Data([$0]) }]
        for first in 0...bytes.count {
            for second in first...min(first + longest, bytes.count) {
                cuts.append([Data(bytes[..<first]), Data(bytes[first..<second]), Data(bytes[second...])])
            }
        }
        return cuts
    }

    /// Splits bytes at random.
    static func random(of bytes: [UInt8], using fuzz: inout Fuzz) -> [Data] {
        var chunks: [Data] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + Int.random(in: 0...8, using: &fuzz))
            chunks.append(Data(bytes[start..<end]))
            start = end
        }
        return chunks
    }
}

extension StreamParser {
    mutating func all(of chunks: [Data]) -> [Element] {
        var elements: [Element] = []
        for chunk in chunks { elements += feed(chunk) }
        return elements + finish()
    }
}
