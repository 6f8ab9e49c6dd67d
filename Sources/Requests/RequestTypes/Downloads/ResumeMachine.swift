// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Decides what to request for a partial file, and what to do with the response.
///
/// The rule behind all decisions: bytes are appended only if a strong validator proves that both are of the same
/// representation, and if the server states that they belong there. Everything else starts over.
///
/// A request with a `Range` of its own asks for a part, and doesn't use the machine.
struct ResumeMachine: Sendable {
    /// The decision about the head or the end of a response.
    enum Decision: Sendable, Hashable {
        /// Truncate the file to this position if it is longer, and append the content.
        case append(at: Int64)
        /// Truncate the file to nothing, and write the content, which is the whole.
        case startOver
        /// Nothing is missing: the content is that of an error, and is discarded.
        case complete
        /// Truncate the file to nothing, discard the content, and send the request again, with the new ``fields``.
        ///
        /// It happens once at most: the second request asks for the whole.
        case requestAgain(Reason)
        /// Handle the response like any other; the file is kept, for a later try or a new address.
        case passOn
        /// Fail: the server's responses can't be used.
        case fail(Reason)
    }

    /// The reason why a response doesn't continue or complete the file.
    enum Reason: String, Sendable, Hashable {
        /// It is of another version.
        case changed = "the file changed on the server"
        /// The whole has another length than before.
        case resized = "the file has another length than before"
        /// It is another part than the missing one.
        case wrongRange = "the server sent another part than it was asked for"
        /// It doesn't say which part it is.
        case noRange = "the server doesn't say which part it sent"
        /// It has several parts.
        case severalRanges = "the server sent several parts"
        /// Its bytes are compressed, so that its positions aren't those of the file.
        case encoded = "the server sent a part of the encoded file"
        /// It is a part, although the whole was requested.
        case unasked = "the server sent a part where it was asked for the whole"
        /// The connection ended too early: the download can be resumed.
        case short = "the file isn't whole"
        /// There are more bytes than the server announced: none of them can be trusted.
        case excess = "the file is too long"
        /// The server sends parts so small that the download wouldn't end; it can be resumed later.
        case stuck = "the server gives too little at a time"

        /// The error of a download that fails for this reason.
        var error: RequestError {
            RequestError(self == .short ? .connectionLost : .badResponse, phase: .receiving, reason: rawValue)
        }
    }

    /// The representation of the file; `nil` if no later request could resume the download.
    private(set) var manifest: DownloadManifest?
    /// The number of bytes that the next request needn't fetch.
    private(set) var offset: Int64
    private let url: URL
    /// The digest of the address.
    private let address: String
    private let now: @Sendable () -> Date
    private var end: Int64?
    private var total: Int64?
    /// The beginning of the requested part.
    private var asked: Int64 = 0
    /// The number of responses with less than the rest, and the byte count that they brought.
    private var (rounds, gained) = (0, Int64(0))

    /// Begins with a file, or without one.
    ///
    /// The length of the file counts, not a recorded one: a process that was killed has written more than it recorded.
    ///
    /// - Parameters:
    ///   - manifest: The representation of the file; `nil` for none.
    ///   - length: The byte count of the file.
    ///   - url: The address of the request, which may differ from that of the first one.
    ///   - now: Returns the current time.
    init(
        manifest: DownloadManifest? = nil,
        length: Int64 = 0,
        url: URL,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        // A file with more bytes than the whole can't be a part of it.
        let fits = length > 0 && length <= manifest?.total ?? .max
        let address = DownloadManifest.digest(of: url)
        let isUsable = fits && manifest?.speaks(forAddress: address) == true && manifest?.validator.isSendable == true
        self.manifest = isUsable ? manifest : nil
        offset = isUsable ? length : 0
        self.url = url
        self.address = address
        self.now = now
    }

    /// The fields to add to the request.
    ///
    /// Encoding is refused, because a range of encoded content has the positions of encoded bytes.
    var fields: [HTTPField] {
        let identity = HTTPField(.acceptEncoding, "identity")
        guard offset > 0, let manifest else { return [identity] }
        return [identity, .range(offset...), manifest.validator.field]
    }

    /// Decides about the head of a response.
    mutating func handle(_ head: HTTPResponseHead) -> Decision {
        (end, total) = (nil, nil)
        let headers = head.headers
        switch head.status {
        case .ok, .nonAuthoritativeInformation:
            manifest = DownloadManifest(head, url: url, now: now())
            offset = 0
            end = headers.isEncoded ? nil : headers.exactLength
            total = end
            return .startOver
        case .partialContent:
            guard offset > 0, let manifest else { return .fail(.unasked) }
            return append(headers, to: manifest)
        case .rangeNotSatisfiable:
            guard offset > 0, let manifest else { return .passOn }
            return compare(headers, with: manifest)
        default:
            return .passOn
        }
    }

    /// Records that the connection broke, or that the request is to be sent again for another reason.
    ///
    /// - Parameter length: The present byte count of the file.
    mutating func interrupted(length: Int64) {
        offset = manifest == nil ? 0 : max(0, length)
    }

    /// Decides about the end of a response in which the transport found no error.
    ///
    /// If the server sent less than the rest, the request is sent again, with the new ``fields``.
    ///
    /// - Parameter length: The present byte count of the file.
    /// - Returns: The decision: complete, again or failed.
    mutating func ended(length: Int64) -> Decision {
        guard let end else { return .complete }
        guard length >= end else {
            interrupted(length: length)
            return .fail(.short)
        }
        guard length == end else {
            _ = requestAgain(.resized)
            return .fail(.excess)
        }
        // If the length of the whole is unknown, the next request shows if there is more.
        guard total.map({ end < $0 }) ?? true else { return .complete }
        gained += end - asked
        offset = end
        rounds += 1
        return rounds <= Self.freeRounds + Int(gained / Self.smallestPart) ? .requestAgain(.wrongRange) : .fail(.stuck)
    }

    /// The number of parts without a minimum size, so that a small file may come in a few parts.
    private static let freeRounds = 16
    /// The average byte count that each part beyond these must have.
    private static let smallestPart: Int64 = 64 * 1024

    private mutating func append(_ headers: HTTPHeaders, to manifest: DownloadManifest) -> Decision {
        let type = headers[.contentType].flatMap { try? MediaType(parsing: $0) }
        if type?.essence == "multipart/byteranges" { return requestAgain(.severalRanges) }
        if headers.isEncoded { return requestAgain(.encoded) }
        guard let range = headers[.contentRange].flatMap({ HTTPField.ContentRange(parsing: $0) }),
            let positions = range.positions
        else { return requestAgain(.noRange) }
        if manifest.validator.contradicts(headers) { return requestAgain(.changed) }
        if let known = manifest.total, let total = range.total, known != total { return requestAgain(.resized) }
        // At another address, validator and length must be stated again.
        if manifest.address != address, headers[.eTag] == nil || range.total == nil { return requestAgain(.changed) }
        // An earlier beginning is accepted: repeated bytes are the same. The part must contain new bytes, though.
        let count = positions.upperBound - positions.lowerBound + 1
        guard positions.lowerBound <= offset, positions.upperBound >= offset,
            headers.exactLength.map({ $0 == count }) ?? true,
            manifest.total.map({ positions.upperBound < $0 }) ?? true
        else { return requestAgain(.wrongRange) }
        asked = offset
        end = positions.upperBound + 1
        total = range.total ?? manifest.total
        self.manifest?.total = total
        self.manifest?.address = address
        offset = positions.lowerBound
        return .append(at: offset)
    }

    /// Handles a status 416: the file is complete, or it belongs to another representation.
    private mutating func compare(_ headers: HTTPHeaders, with manifest: DownloadManifest) -> Decision {
        guard let range = headers[.contentRange].flatMap({ HTTPField.ContentRange(parsing: $0) }),
            range.positions == nil
        else {
            return requestAgain(.noRange)
        }
        if manifest.validator.contradicts(headers) { return requestAgain(.changed) }
        guard range.total == offset, manifest.total == nil || manifest.total == offset else {
            return requestAgain(.resized)
        }
        if manifest.address != address, headers[.eTag] == nil { return requestAgain(.changed) }
        return .complete
    }

    private mutating func requestAgain(_ reason: Reason) -> Decision {
        manifest = nil
        offset = 0
        return .requestAgain(reason)
    }
}
