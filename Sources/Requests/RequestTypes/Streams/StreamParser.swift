// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Parses the elements of a stream from its bytes, however they are split into chunks.
///
/// A parser is a value, owned by the receiver of the bytes. It keeps at most one incomplete element, up to its limit.
/// An element above the limit stops the parser, and sets ``failure``. Elements that were complete before are still
/// returned, so that the elements don't depend on how the network splits the stream.
protocol StreamParser<Element>: Sendable {
    /// The type of the elements.
    associatedtype Element: Sendable

    /// The reason why the parser has stopped; check it after every call.
    var failure: RequestError? { get }

    /// Parses a chunk.
    ///
    /// - Returns: The elements that the chunk completes; a line completes at most one.
    /// - Complexity: O(n) in the length of the chunk.
    mutating func feed(_ bytes: some Collection<UInt8>) -> [Element]

    /// Parses the end of the stream.
    ///
    /// - Returns: The last element, if the end completes it.
    mutating func finish() -> [Element]
}

extension Data {
    /// The bytes without a leading byte order mark, which some programs write before UTF-8.
    var withoutByteOrderMark: Data {
        starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self
    }
}
