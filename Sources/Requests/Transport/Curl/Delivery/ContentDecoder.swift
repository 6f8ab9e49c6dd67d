// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

/// Decodes content while it comes, piece by piece.
///
/// Content may be a thousand times as large as its coded form, or more. The decoder gives one bounded piece a call, and
/// continues with the next call, so that its caller can count pieces, pause and refuse. It keeps no input: the caller
/// shows the same until that is used up.
///
/// It does no I/O, and belongs to one thread at a time.
final class ContentDecoder {
    /// Why content can't be decoded.
    enum Failure: Error, Hashable, CustomStringConvertible {
        /// The content isn't in its coding, or has something behind its end.
        case broken
        /// The content ends before its coding does.
        case cut
        /// There are more codings than ``ContentDecoder/maximumCodings``.
        case tooManyCodings
        /// There is no memory.
        case noMemory

        /// The failure, in a sentence.
        var description: String {
            switch self {
            case .broken: "the content isn't in the coding that its Content-Encoding names"
            case .cut: "the content ends before its Content-Encoding does"
            case .tooManyCodings: "the Content-Encoding has more than \(ContentDecoder.maximumCodings) codings"
            case .noMemory: "there is no memory to decode the content"
            }
        }
    }

    /// The size of the largest piece.
    static let pieceSize = 64 * 1024
    /// The largest number of codings, one around the other.
    static let maximumCodings = 5

    /// The stages, of which the first decodes the input.
    private var stages: [Stage] = []
    /// The number of used bytes of the present input.
    private var used = 0

    /// Makes a decoder.
    ///
    /// - Parameter codings: The codings, in the order in which they were applied.
    /// - Throws: If there are too many codings, or there is no memory.
    init(_ codings: [ContentCoding]) throws(Failure) {
        guard codings.count <= Self.maximumCodings else { throw .tooManyCodings }
        for coding in codings.reversed() { stages.append(try Stage(coding)) }
    }

    /// Decodes the next piece, which is good until the next call.
    ///
    /// - Parameter input: What has come, from the same place on until there is no more piece of it. It may have
    ///   another length each time.
    /// - Returns: The piece, or nil if the input is used up.
    /// - Throws: If the content can't be decoded.
    func next(of input: UnsafeRawBufferPointer) throws(Failure) -> UnsafeRawBufferPointer? {
        let piece = try output(of: stages.count - 1, input)
        if piece == nil { used -= input.count }
        return piece
    }

    /// Whether the content may end here; no content at all is whole in any coding.
    var mayEnd: Bool { stages.allSatisfy(\.mayEnd) }

    private func output(of number: Int, _ input: UnsafeRawBufferPointer) throws(Failure) -> UnsafeRawBufferPointer? {
        guard number > 0 else {
            // The output may be full when the input is used up, and there is more of it.
            while used < input.count || stages[0].mayHaveMore {
                let rest = UnsafeRawBufferPointer(rebasing: input[min(used, input.count)...])
                let (consumed, piece) = try stages[0].decode(rest)
                used += consumed
                if !piece.isEmpty { return piece }
            }
            return nil
        }
        while true {
            if let piece = try stages[number].decodeRest() { return piece }
            guard let more = try output(of: number - 1, input) else { return nil }
            stages[number].rest = more
        }
    }
}

/// The decoder of one coding, and its output.
private final class Stage {
    private let decoder: OpaquePointer
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ContentDecoder.chunkSize, alignment: 16)
    private var isComplete = false
    private var hasBegun = false
    /// Whether the output was full, so that there may be more without any input.
    private(set) var mayHaveMore = false
    /// The output of the stage before: a part of its buffer, which it doesn't change before this is used up.
    var rest = UnsafeRawBufferPointer(start: nil, count: 0)

    init(_ coding: ContentCoding) throws(ContentDecoder.Failure) {
        guard let decoder = ccoding_new(coding.rawCoding) else { throw .noMemory }
        self.decoder = decoder
    }

    deinit {
        ccoding_free(decoder)
        buffer.deallocate()
    }

    /// Whether nothing has begun that hasn't ended.
    var mayEnd: Bool { isComplete || !hasBegun }

    /// Decodes what the stage before has given; `nil` if that is used up.
    func decodeRest() throws(ContentDecoder.Failure) -> UnsafeRawBufferPointer? {
        while !rest.isEmpty || mayHaveMore {
            let (consumed, piece) = try decode(rest)
            rest = UnsafeRawBufferPointer(rebasing: rest[consumed...])
            if !piece.isEmpty { return piece }
        }
        return nil
    }

    /// Takes one step: returns how much input it has used, and its output.
    func decode(
        _ input: UnsafeRawBufferPointer
    ) throws(ContentDecoder.Failure) -> (consumed: Int, piece: UnsafeRawBufferPointer) {
        let step = ccoding_decode(decoder, input.baseAddress, input.count, buffer.baseAddress, buffer.count)
        switch step.state {
        case CDECODER_INSIDE: isComplete = false
        case CDECODER_COMPLETE: isComplete = true
        case CDECODER_NO_MEMORY: throw .noMemory
        default: throw .broken
        }
        if step.consumed > 0 { hasBegun = true }
        mayHaveMore = step.produced == buffer.count
        // No decoder stands still with input and room; one that did would be asked for ever.
        guard step.consumed > 0 || step.produced > 0 || input.isEmpty else { throw .broken }
        return (step.consumed, UnsafeRawBufferPointer(rebasing: buffer[..<step.produced]))
    }
}
#endif
