// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Decides what to request for a partial file, and how to handle the response.
///
/// Bytes are appended only if a strong validator proves that they belong to the same representation as the file, and if
/// the server states their position. In all other cases, the download starts over.
///
/// A request that already has a `Range` field doesn't use the machine.
struct ResumeMachine: Sendable {
    /// A decision about the head or the end of a response.
    enum Decision: Sendable, Hashable {
        /// Truncate the file to this position if it is longer, and append the content.
        case append(at: Int64)
        /// Truncate the file to zero bytes, and write the content, which is the entire file.
        case startOver
        /// The file is complete; the content of a 416 response, which only describes the error, is discarded.
        case complete
        /// Discard the content, and send the request again with the new ``fields``.
        ///
        /// After the head of a response, the download starts over. This happens at most once, because the second
        /// request is for the entire file. After the end of a response, the download requests the rest.
        case requestAgain(Reason)
        /// Handle the response like any other, and keep the file for a later attempt or a new URL.
        case passThrough
        /// Fail, because the response can't be used.
        case fail(Reason)
    }

    /// The reason why a response doesn't continue or complete the file.
    enum Reason: String, Sendable, Hashable {
        /// The response is for another version of the file.
        case changed = "the file changed on the server"
        /// The complete file has a different length than before.
        case resized = "the length of the file changed on the server"
        /// The response's range doesn't continue the file.
        case wrongRange = "the server sent a different range than requested"
        /// The response doesn't state its range.
        case noRange = "the response has no valid Content-Range"
        /// The response contains multiple ranges.
        case multipleRanges = "the server sent several ranges"
        /// The response is encoded, so its range doesn't refer to positions in the file.
        case encoded = "the partial response has a Content-Encoding, so its range can't be matched to the file"
        /// The response is partial, although the entire file was requested.
        case unrequestedPart = "the server sent a range, although none was requested"
        /// The connection ended too early; the download can be resumed.
        case truncated = "the file is incomplete"
        /// The response has more bytes than the server declared, so none of them can be trusted.
        case excess = "the server sent more bytes than it declared"
        /// The server sends parts so small that the download would never end; it can be resumed later.
        case partsTooSmall = "the server sends only very small ranges"

        /// The error of a download that fails for this reason.
        var error: RequestError {
            RequestError(self == .truncated ? .connectionLost : .badResponse, phase: .receiving, reason: rawValue)
        }
    }

    /// The representation of the file; `nil` if no later request could resume the download.
    private(set) var manifest: DownloadManifest?
    /// The number of bytes that the next request can skip.
    private(set) var offset: Int64
    private let url: URL
    /// The digest of the URL.
    private let urlDigest: String
    private let now: @Sendable () -> Date
    private var partEnd: Int64?
    private var total: Int64?
    /// The first position of the requested range.
    private var requestedStart: Int64 = 0
    /// The number of responses that contained only a part of the missing bytes, and the number of bytes that they
    /// added.
    private var (partialResponseCount, partialResponseBytes) = (0, Int64(0))

    /// Creates a machine for a partial file, or for a new download.
    ///
    /// Pass the actual length of the file rather than a recorded length, because a killed process may have written more
    /// than it recorded.
    ///
    /// - Parameters:
    ///   - manifest: The representation of the file; `nil` for none.
    ///   - length: The byte count of the file.
    ///   - url: The URL of the request, which may differ from the URL of the first request.
    ///   - now: Returns the current time.
    init(
        manifest: DownloadManifest? = nil,
        length: Int64 = 0,
        url: URL,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        // A file that is longer than the representation can't be a part of it.
        let fits = length > 0 && length <= manifest?.total ?? .max
        let urlDigest = DownloadManifest.digest(of: url)
        let isUsable =
            fits && manifest?.validatorApplies(toAddress: urlDigest) == true && manifest?.validator.isSendable == true
        self.manifest = isUsable ? manifest : nil
        offset = isUsable ? length : 0
        self.url = url
        self.urlDigest = urlDigest
        self.now = now
    }

    /// The header fields to add to the request.
    ///
    /// The fields refuse content encodings, because a range of encoded content counts encoded bytes.
    var fields: [HTTPField] {
        let identity = HTTPField(.acceptEncoding, "identity")
        guard offset > 0, let manifest else { return [identity] }
        return [identity, .range(offset...), manifest.validator.field]
    }

    /// Returns the decision about the head of a response.
    mutating func handle(_ head: HTTPResponseHead) -> Decision {
        (partEnd, total) = (nil, nil)
        let headers = head.headers
        switch head.status {
        case .ok, .nonAuthoritativeInformation:
            manifest = DownloadManifest(head, url: url, now: now())
            offset = 0
            partEnd = headers.isEncoded ? nil : headers.exactLength
            total = partEnd
            return .startOver
        case .partialContent:
            guard offset > 0, let manifest else { return .fail(.unrequestedPart) }
            return append(headers, to: manifest)
        case .rangeNotSatisfiable:
            guard offset > 0, let manifest else { return .passThrough }
            return handleUnsatisfiedRange(headers, with: manifest)
        default:
            return .passThrough
        }
    }

    /// Records that the connection was lost, or that the request must be sent again for another reason.
    ///
    /// - Parameter length: The current byte count of the file.
    mutating func interrupted(length: Int64) {
        offset = manifest == nil ? 0 : max(0, length)
    }

    /// Returns the decision about the end of a response that had no transport error.
    ///
    /// If the server sent only a part of the missing bytes, the request is sent again with the new ``fields``.
    ///
    /// - Parameter length: The current byte count of the file.
    /// - Returns: The decision: complete, request again, or fail.
    mutating func ended(length: Int64) -> Decision {
        guard let partEnd else { return .complete }
        guard length >= partEnd else {
            interrupted(length: length)
            return .fail(.truncated)
        }
        guard length == partEnd else {
            _ = requestAgain(.resized)
            return .fail(.excess)
        }
        // If the total length is unknown, the next request shows whether there is more.
        guard total.map({ partEnd < $0 }) ?? true else { return .complete }
        partialResponseBytes += partEnd - requestedStart
        offset = partEnd
        partialResponseCount += 1
        return partialResponseCount <= Self.partsWithoutMinimumSize
            + Int(partialResponseBytes / Self.minimumAveragePartSize)
            ? .requestAgain(.wrongRange) : .fail(.partsTooSmall)
    }

    /// The number of parts that may have any size, so that a small file may arrive in a few parts.
    private static let partsWithoutMinimumSize = 16
    /// The minimum average byte count that all further parts must reach.
    private static let minimumAveragePartSize: Int64 = 64 * 1024

    private mutating func append(_ headers: HTTPHeaders, to manifest: DownloadManifest) -> Decision {
        let type = headers[.contentType].flatMap { try? MediaType(parsing: $0) }
        if type?.essence == "multipart/byteranges" { return requestAgain(.multipleRanges) }
        if headers.isEncoded { return requestAgain(.encoded) }
        guard let range = headers[.contentRange].flatMap({ HTTPField.ContentRange(parsing: $0) }),
            let positions = range.positions
        else { return requestAgain(.noRange) }
        if manifest.validator.contradicts(headers) { return requestAgain(.changed) }
        if let expected = manifest.total, let total = range.total, expected != total { return requestAgain(.resized) }
        // At another URL, the response must repeat both the validator and the length.
        if manifest.address != urlDigest, headers[.eTag] == nil || range.total == nil { return requestAgain(.changed) }
        // Accept a range that begins earlier, because repeated bytes are the same, but require new bytes.
        let count = positions.upperBound - positions.lowerBound + 1
        guard positions.lowerBound <= offset, positions.upperBound >= offset,
            headers.exactLength.map({ $0 == count }) ?? true,
            manifest.total.map({ positions.upperBound < $0 }) ?? true
        else { return requestAgain(.wrongRange) }
        requestedStart = offset
        partEnd = positions.upperBound + 1
        total = range.total ?? manifest.total
        self.manifest?.total = total
        self.manifest?.address = urlDigest
        offset = positions.lowerBound
        return .append(at: offset)
    }

    /// Handles a 416 response: either the file is complete, or it belongs to another representation.
    private mutating func handleUnsatisfiedRange(_ headers: HTTPHeaders, with manifest: DownloadManifest) -> Decision {
        guard let range = headers[.contentRange].flatMap({ HTTPField.ContentRange(parsing: $0) }),
            range.positions == nil
        else {
            return requestAgain(.noRange)
        }
        if manifest.validator.contradicts(headers) { return requestAgain(.changed) }
        guard range.total == offset, manifest.total == nil || manifest.total == offset else {
            return requestAgain(.resized)
        }
        if manifest.address != urlDigest, headers[.eTag] == nil { return requestAgain(.changed) }
        return .complete
    }

    private mutating func requestAgain(_ reason: Reason) -> Decision {
        manifest = nil
        offset = 0
        return .requestAgain(reason)
    }
}
