// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A file that is served: its content and validators, and its responses to conditional and range requests.
struct ServedFile: Sendable {
    var content: Data
    var type: String
    var tag: EntityTag
    var modified: HTTPDate

    /// Reads a file; `nil` if it can't be read.
    init?(path: String) {
        // Read before the content: if the file changes between the two, the tag is outdated, and the client fetches it
        // again.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let date = attributes[.modificationDate] as? Date,
            // Not mapped: if the file is truncated meanwhile, reading the mapping would end the process.
            let content = try? Data(contentsOf: URL(fileURLWithPath: path))
        else { return nil }
        self.init(content: content, name: path, modified: date)
    }

    init(content: Data, name: String, modified: Date) {
        self.content = content
        self.modified = HTTPDate(modified)
        let microseconds = Int64(exactly: (modified.timeIntervalSince1970 * 1_000_000).rounded()) ?? 0
        tag = EntityTag("\(String(content.count, radix: 16))-\(String(microseconds, radix: 16))")
        let known = MediaType(fileExtension: URL(fileURLWithPath: name).pathExtension)
        type = known?.description ?? "application/octet-stream"
        // Test files are assumed to be in UTF-8.
        if type.hasPrefix("text/"), !type.contains(";") { type += "; charset=utf-8" }
    }

    /// Returns the response to a `GET` or a `HEAD` (RFC 9110, 13.2.2 and 14.2).
    func answer(to request: RecordedRequest) -> StubResponse {
        let validators: HTTPHeaders = [.eTag: tag.rawValue, .lastModified: modified.rawValue]
        if let status = verdict(on: request.headers) { return .status(status, headers: validators) }
        var headers = validators.merging([.acceptRanges: "bytes"])
        guard request.method == .get, let range = request.headers[.range], isCurrent(request.headers[.ifRange]) else {
            return .data(content, type: MediaType(stringLiteral: type), headers: headers)
        }
        switch RequestedRange(range, of: content.count) {
        case .whole:
            return .data(content, type: MediaType(stringLiteral: type), headers: headers)
        case .part(let part):
            headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(content.count)"
            let bytes = Data(content.dropFirst(part.lowerBound).prefix(part.count))
            return .data(bytes, type: MediaType(stringLiteral: type), status: .partialContent, headers: headers)
        case .unsatisfiable:
            headers[.contentRange] = "bytes */\(content.count)"
            return .text("there are no such bytes\n", status: .rangeNotSatisfiable, headers: headers)
        }
    }

    /// The status that the preconditions require; `nil` if they let the request through.
    private func verdict(on headers: HTTPHeaders) -> HTTPStatus? {
        if let tags = Self.tags(headers, .ifMatch) {
            guard tags.isAny || tags.list.contains(where: tag.isStronglyEqual) else { return .preconditionFailed }
        } else if let date = Self.date(headers, .ifUnmodifiedSince), modified > date {
            return .preconditionFailed
        }
        if let tags = Self.tags(headers, .ifNoneMatch) {
            return tags.isAny || tags.list.contains(where: tag.isWeaklyEqual) ? .notModified : nil
        }
        guard let date = Self.date(headers, .ifModifiedSince), modified <= date else { return nil }
        return .notModified
    }

    /// Whether the validator of `If-Range` is current, so that a part may be sent (RFC 9110, 13.1.5).
    private func isCurrent(_ validator: String?) -> Bool {
        guard let validator else { return true }
        if let other = EntityTag(parsing: validator) { return tag.isStronglyEqual(to: other) }
        return HTTPDate(parsing: validator) == modified
    }

    private static func tags(_ headers: HTTPHeaders, _ name: HTTPField.Name) -> (isAny: Bool, list: [EntityTag])? {
        let values = headers[values: name]
        guard !values.isEmpty else { return nil }
        return (values == ["*"], values.flatMap(EntityTag.list))
    }

    private static func date(_ headers: HTTPHeaders, _ name: HTTPField.Name) -> HTTPDate? {
        headers[name].flatMap { HTTPDate(parsing: $0) }
    }
}

/// The part of a content of known length that a `Range` field requests (RFC 9110, 14.1.2).
enum RequestedRange: Sendable, Equatable {
    /// The whole content: the field is malformed, has another unit, or requests several ranges, which a server may
    /// ignore.
    case whole
    /// These bytes.
    case part(Range<Int>)
    /// Bytes beyond the end.
    case unsatisfiable

    init(_ field: String, of length: Int) {
        guard let equals = field.firstIndex(of: "="), field[..<equals].lowercased() == "bytes" else {
            self = .whole
            return
        }
        let text = field[field.index(after: equals)...].filter { $0 != " " && $0 != "\t" }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }) else {
            self = .whole
            return
        }
        // A number too large for an integer is beyond the end of any content.
        let (first, last) = (Int(parts[0]) ?? .max, Int(parts[1]) ?? .max)
        switch (parts[0].isEmpty, parts[1].isEmpty) {
        case (true, true): self = .whole
        case (true, false):
            self = last == 0 || length == 0 ? .unsatisfiable : .part(max(0, length - last)..<length)
        case (false, true): self = first < length ? .part(first..<length) : .unsatisfiable
        case (false, false):
            if first > last {
                self = .whole
            } else {
                self = first < length ? .part(first..<(min(last, length - 1) + 1)) : .unsatisfiable
            }
        }
    }
}
