// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Decides what becomes of a partial file: what to ask the server for, and what to do with what it answers.
///
/// The rule behind all of it: bytes are put behind others only where a strong validator says that both are of the same
/// representation, and where the server says that they belong there. Everything else starts over.
///
/// A request with a `Range` of its own wants a part, and has no use for this.
struct ResumeMachine: Sendable {
    /// What to do with a response.
    enum Decision: Sendable, Hashable {
        /// Cut the file at this position, where it is longer, and put the content there.
        case append(at: Int64)
        /// Cut the file to nothing, and put the content there, which is the whole.
        case startOver
        /// Nothing is missing: the content is that of an error, and isn't wanted.
        case complete
        /// Cut the file to nothing, let go of the content, and send the request again, with the new ``fields``.
        ///
        /// It happens once at most: what is sent again asks for the whole.
        case requestAgain(Reason)
        /// Handle the response like any other; the file stays as it is, for a later try or a new address.
        case passOn
        /// There is nothing to be done with such a server.
        case fail(Reason)
    }

    /// Why a response doesn't fit behind the file.
    enum Reason: String, Sendable, Hashable {
        /// It is of another version.
        case changed = "the file changed on the server"
        /// The whole has another length than before.
        case resized = "the file has another length than before"
        /// It is another part than the one that is missing.
        case wrongRange = "the server sent another part than it was asked for"
        /// It doesn't say which part it is.
        case noRange = "the server doesn't say which part it sent"
        /// It is several parts.
        case severalRanges = "the server sent several parts"
        /// Its bytes are compressed, so that its positions aren't those of the file.
        case encoded = "the server sent a part of the encoded file"
        /// It is a part, where the whole was asked for.
        case unasked = "the server sent a part where it was asked for the whole"
    }

    /// What the end of a response means.
    enum End: Sendable, Hashable {
        /// The file is whole.
        case complete
        /// The server gave less than the rest: send the request again, with the new ``fields``.
        case more
        /// The connection ended too early: what is there can be gone on with.
        case short
        /// There is more than the server said: nothing of it can be trusted.
        case excess
        /// The server gives so little at a time that it would go on for ever; what is there can be gone on with.
        case stuck
    }

    /// What the file is a part of; nil where no later request could go on with it.
    private(set) var manifest: DownloadManifest?
    /// How many bytes the next request needn't fetch.
    private(set) var offset: Int64
    private let url: URL
    /// The digest of the address.
    private let address: String
    private let now: @Sendable () -> Date
    private var end: Int64?
    private var total: Int64?
    /// Where the part began that was asked for.
    private var asked: Int64 = 0
    /// How often the server gave less than the rest, and how many bytes that brought in all.
    private var (rounds, gained) = (0, Int64(0))

    /// Begins with a file, or without.
    ///
    /// The length that counts is that of the file: a process that dies has written more than it wrote down.
    ///
    /// - Parameters:
    ///   - manifest: What the file is a part of; nil for none.
    ///   - length: How many bytes the file has.
    ///   - url: Where the request goes, which may be another address than the first.
    ///   - now: The present.
    init(
        manifest: DownloadManifest? = nil,
        length: Int64 = 0,
        url: URL,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        // More bytes than there can be aren't a part of it.
        let fits = length > 0 && length <= manifest?.total ?? .max
        let address = DownloadManifest.digest(of: url)
        let isUsable = fits && manifest?.speaks(forAddress: address) == true && manifest?.validator.isSendable == true
        self.manifest = isUsable ? manifest : nil
        offset = isUsable ? length : 0
        self.url = url
        self.address = address
        self.now = now
    }

    /// The fields that the request needs.
    ///
    /// The file is wanted as it is: a range is one of encoded bytes, where the server may encode.
    var fields: [HTTPField] {
        let identity = HTTPField(.acceptEncoding, "identity")
        guard offset > 0, let manifest else { return [identity] }
        return [identity, .range(from: offset), manifest.validator.field]
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

    /// Notes that the connection broke, or that the request is to be sent again for another reason.
    ///
    /// - Parameter length: How many bytes the file has now.
    mutating func interrupted(length: Int64) {
        offset = manifest == nil ? 0 : max(0, length)
    }

    /// Decides what the end of a response means, where the transport found nothing wrong with it.
    ///
    /// - Parameter length: How many bytes the file has now.
    /// - Returns: Whether there is more to do.
    mutating func ended(length: Int64) -> End {
        guard let end else { return .complete }
        guard length >= end else {
            interrupted(length: length)
            return .short
        }
        guard length == end else {
            _ = requestAgain(.resized)
            return .excess
        }
        // Where nobody has said how long the whole is, the next request shows whether there is more.
        guard total.map({ end < $0 }) ?? true else { return .complete }
        gained += end - asked
        offset = end
        rounds += 1
        return rounds <= Self.freeRounds + Int(gained / Self.smallestPart) ? .more : .stuck
    }

    /// How many parts may be as small as the server likes, so that a small file may come in a few.
    private static let freeRounds = 16
    /// How many bytes each part beyond these has to have, on the average.
    private static let smallestPart: Int64 = 64 * 1024

    private mutating func append(_ headers: HTTPHeaders, to manifest: DownloadManifest) -> Decision {
        let type = headers[.contentType].flatMap { try? MediaType(parsing: $0) }
        if type?.essence == "multipart/byteranges" { return requestAgain(.severalRanges) }
        if headers.isEncoded { return requestAgain(.encoded) }
        guard let range = headers[.contentRange].flatMap({ ContentRange(parsing: $0) }),
            let positions = range.positions
        else { return requestAgain(.noRange) }
        if manifest.validator.contradicts(headers) { return requestAgain(.changed) }
        if let known = manifest.total, let total = range.total, known != total { return requestAgain(.resized) }
        // At another address, what isn't said again isn't known.
        if manifest.address != address, headers[.eTag] == nil || range.total == nil { return requestAgain(.changed) }
        // An earlier beginning is as good: what comes twice is the same. It must bring something new, though.
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

    /// There is nothing behind the file, says the server: it is whole, or of something else.
    private mutating func compare(_ headers: HTTPHeaders, with manifest: DownloadManifest) -> Decision {
        guard let range = headers[.contentRange].flatMap({ ContentRange(parsing: $0) }), range.positions == nil else {
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
