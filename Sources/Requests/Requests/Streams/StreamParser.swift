// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Makes the elements of a stream of the bytes that come in, however they are cut into chunks.
///
/// A parser is a value: whoever receives the bytes owns it. It holds no more than one element that isn't complete, up to
/// its limit. An element above the limit ends it: what was complete before is still returned, so that what a consumer
/// sees doesn't depend on how the network cut the stream, and ``failure`` is there from then on.
protocol StreamParser<Element>: Sendable {
    /// What the stream is made of.
    associatedtype Element: Sendable

    /// Why the parser reads no more; to be looked at behind every call.
    var failure: OversizedElement? { get }

    /// Reads a chunk.
    ///
    /// - Returns: The elements that are complete now.
    /// - Complexity: O(n) in the length of the chunk.
    mutating func feed(_ bytes: some Collection<UInt8>) -> [Element]

    /// Reads the end of the stream.
    ///
    /// - Returns: The last element, where the end completes it.
    mutating func finish() -> [Element]
}
