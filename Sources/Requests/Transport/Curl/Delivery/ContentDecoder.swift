// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

/// Decodes content in chunks as it arrives.
///
/// Decoded content may be more than a thousand times as large as its encoded form. Each call returns one chunk of
/// limited size, and the next call continues from there. So the caller can count the chunks, pause, or stop. The
/// decoder doesn't copy its input: the caller passes the same bytes until they are used up.
///
/// A decoder performs no I/O. Only one thread at a time may use it.
final class ContentDecoder {
    /// The reason why content can't be decoded.
    enum Failure: Error, Hashable, CustomStringConvertible {
        /// The content isn't validly encoded for its content coding, or is followed by extra bytes.
        case malformed
        /// The content is truncated, that is, its encoding is incomplete.
        case truncated
        /// There are more codings than ``ContentDecoder/maximumCodings``.
        case tooManyCodings
        case outOfMemory

        /// The failure as a sentence.
        var description: String {
            switch self {
            case .malformed: "the content doesn't match its Content-Encoding"
            case .truncated: "the encoded content is truncated"
            case .tooManyCodings: "the Content-Encoding has more than \(ContentDecoder.maximumCodings) codings"
            case .outOfMemory: "out of memory while decoding the content"
            }
        }
    }

    /// The maximum size of a chunk.
    static let chunkSize = 64 * 1024
    /// The maximum number of nested codings.
    static let maximumCodings = 5

    /// The decoding stages, of which the first decodes the input.
    private var stages: [Stage] = []
    /// The number of bytes of the current input that have been decoded.
    private var consumedCount = 0

    /// Creates a decoder.
    ///
    /// - Parameter codings: The codings, in the order in which they were applied.
    /// - Throws: A ``Failure`` if there are too many codings, or there isn't enough memory.
    init(_ codings: [ContentCoding]) throws(Failure) {
        guard codings.count <= Self.maximumCodings else { throw .tooManyCodings }
        for coding in codings.reversed() { stages.append(try Stage(coding)) }
    }

    /// Decodes the next chunk, which is valid until the next call.
    ///
    /// - Parameter input: The received bytes. Until this method returns `nil`, each call must pass input that begins
    ///   with the same byte, but its length may differ.
    /// - Returns: The chunk; `nil` if the input is used up.
    /// - Throws: A ``Failure`` if the content can't be decoded.
    func nextChunk(of input: UnsafeRawBufferPointer) throws(Failure) -> UnsafeRawBufferPointer? {
        let chunk = try output(of: stages.count - 1, input)
        if chunk == nil { consumedCount -= input.count }
        return chunk
    }

    /// Whether the content may end here; `true` even before any content has arrived.
    var mayEnd: Bool { stages.allSatisfy(\.mayEnd) }

    private func output(of number: Int, _ input: UnsafeRawBufferPointer) throws(Failure) -> UnsafeRawBufferPointer? {
        guard number > 0 else {
            // Even if the input is used up, more output may be available if the last output filled the buffer.
            while consumedCount < input.count || stages[0].mayHaveMoreOutput {
                let unreadInput = UnsafeRawBufferPointer(rebasing: input[min(consumedCount, input.count)...])
                let (consumed, chunk) = try stages[0].decode(unreadInput)
                consumedCount += consumed
                if !chunk.isEmpty { return chunk }
            }
            return nil
        }
        while true {
            if let chunk = try stages[number].decodeUnreadInput() { return chunk }
            guard let more = try output(of: number - 1, input) else { return nil }
            stages[number].unreadInput = more
        }
    }
}

/// The decoder of one coding, and its output.
private final class Stage {
    private let decoder: OpaquePointer
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ContentDecoder.chunkSize, alignment: 16)
    private var isComplete = false
    private var hasStarted = false
    /// Whether the last output filled the buffer, in which case more output may be available without further input.
    private(set) var mayHaveMoreOutput = false
    /// The unread output of the previous stage; that stage keeps its buffer unchanged until the output is used up.
    var unreadInput = UnsafeRawBufferPointer(start: nil, count: 0)

    init(_ coding: ContentCoding) throws(ContentDecoder.Failure) {
        guard let decoder = ccoding_new(coding.rawCoding) else { throw .outOfMemory }
        self.decoder = decoder
    }

    deinit {
        ccoding_free(decoder)
        buffer.deallocate()
    }

    /// Whether the content may end here, because the coding is complete or hasn't started.
    var mayEnd: Bool { isComplete || !hasStarted }

    /// Decodes the output of the previous stage; returns `nil` if that is used up.
    func decodeUnreadInput() throws(ContentDecoder.Failure) -> UnsafeRawBufferPointer? {
        while !unreadInput.isEmpty || mayHaveMoreOutput {
            let (consumed, chunk) = try decode(unreadInput)
            unreadInput = UnsafeRawBufferPointer(rebasing: unreadInput[consumed...])
            if !chunk.isEmpty { return chunk }
        }
        return nil
    }

    /// Performs one decoding step; returns the number of bytes read, and the output.
    func decode(
        _ input: UnsafeRawBufferPointer
    ) throws(ContentDecoder.Failure) -> (consumed: Int, chunk: UnsafeRawBufferPointer) {
        let step = ccoding_decode(decoder, input.baseAddress, input.count, buffer.baseAddress, buffer.count)
        switch step.state {
        case CDECODER_INSIDE: isComplete = false
        case CDECODER_COMPLETE: isComplete = true
        case CDECODER_NO_MEMORY: throw .outOfMemory
        default: throw .malformed
        }
        if step.consumed > 0 { hasStarted = true }
        mayHaveMoreOutput = step.produced == buffer.count
        // Prevent an endless loop. A correct decoder always makes progress if it has input and space for output.
        guard step.consumed > 0 || step.produced > 0 || input.isEmpty else { throw .malformed }
        return (step.consumed, UnsafeRawBufferPointer(rebasing: buffer[..<step.produced]))
    }
}
#endif
