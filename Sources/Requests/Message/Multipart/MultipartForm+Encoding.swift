// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension MultipartForm {
    /// How large a form of parts in memory may be to be written there too; a larger one is written while it is sent.
    static let maximumSizeInMemory: Int64 = 64 * 1024

    /// The type with the boundary, which is quoted where it is no token (RFC 2045, 5.1).
    var contentType: String { type.parameter("boundary", boundary).rawValue }

    /// The form as it is sent.
    ///
    /// - Throws: ``InvalidRequest`` where a piece of it can't be sent; what the encoding of a part throws.
    /// - Complexity: O(n) in the bytes that are in memory; of a file, only the length is looked at.
    func content() throws -> HTTPBody.Content {
        let message = try message()
        let length = try message.serializer.length()
        if let length, length <= Self.maximumSizeInMemory, let data = message.serializer.data() { return .data(data) }
        return .stream(BodyStream(length: length, isReplayable: isReplayable) { MultipartStream(message) })
    }

    /// The form, ready to be written.
    ///
    /// - Throws: ``InvalidRequest`` where a piece of it can't be sent; what the encoding of a part throws.
    func message() throws -> MultipartMessage {
        try validateType()
        try validateBoundary()
        let isFormData = type.essence == MediaType.multipartFormData.essence
        let contents = try parts.map { try $0.body.resolved().content }
        let frames = try zip(parts, contents).map { part, content in
            MultipartSerializer.Part(header: try part.header(isFormData: isFormData), content: try frame(content))
        }
        return MultipartMessage(
            serializer: MultipartSerializer(parts: frames, boundary: boundary, preamble: preamble),
            contents: contents,
            guardedBoundary: isBoundarySecret ? nil : boundary
        )
    }

    private func validateType() throws(InvalidRequest) {
        guard try type.validated().type.equalsIgnoringASCIICase("multipart"), type.subtype != "*" else {
            throw InvalidRequest(.mediaType, "of several parts isn't multipart", excerpt: type.rawValue)
        }
        // Its own boundary would be replaced by that of the form, without a word.
        guard type[parameter: "boundary"] == nil else {
            throw InvalidRequest(.boundary, "is that of the form, and can't be set by its type", excerpt: type.rawValue)
        }
    }

    /// RFC 2046, 5.1.1.
    private func validateBoundary() throws(InvalidRequest) {
        guard (1...70).contains(boundary.utf8.count) else {
            throw InvalidRequest(.boundary, "hasn't 1 to 70 characters", excerpt: boundary)
        }
        guard boundary.utf8.allSatisfy(\.isBoundaryCharacter), boundary.utf8.last != UInt8(ascii: " ") else {
            throw InvalidRequest(.boundary, "has a character that no boundary may have there", excerpt: boundary)
        }
        // By bytes: with a combining mark behind it, the boundary is another text to Swift.
        if let preamble, Data(preamble.utf8).range(of: Data("--\(boundary)".utf8)) != nil {
            throw InvalidRequest(.boundary, "stands in the preamble, too", excerpt: boundary)
        }
    }

    private func frame(_ content: HTTPBody.Content) throws(InvalidRequest) -> MultipartSerializer.Part.Content {
        switch content {
        case .none:
            return .bytes(Data())
        case .data(let data):
            var search = BoundarySearch(boundary)
            guard isBoundarySecret || !data.withUnsafeBytes({ search.finds(in: $0) }) else {
                throw InvalidRequest(.boundary, "stands in the content of a part, too", excerpt: boundary)
            }
            return .bytes(data)
        case .file(let url):
            return .source(length: try url.sizeOfFile())
        case .stream(let stream):
            guard stream.length ?? 0 >= 0 else { throw InvalidRequest(.body, "has a part of a negative length") }
            return .source(length: stream.length)
        }
    }
}

extension UInt8 {
    fileprivate var isBoundaryCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"),
            UInt8(ascii: "+"), UInt8(ascii: "_"), UInt8(ascii: ","), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "="), UInt8(ascii: "?"), UInt8(ascii: " "):
            true
        default:
            false
        }
    }
}

extension URL {
    /// How many bytes the file has now.
    fileprivate func sizeOfFile() throws(InvalidRequest) -> Int64 {
        // What `URL` says about itself is remembered, and a file that has changed has its old size for ever.
        let attributes =
            isFileURL ? try? FileManager.default.attributesOfItem(atPath: resolvingSymlinksInPath().path) : nil
        guard let attributes, attributes[.type] as? FileAttributeType == .typeRegular,
            let size = attributes[.size] as? NSNumber, FileManager.default.isReadableFile(atPath: path)
        else {
            throw InvalidRequest(.body, "isn't a file that can be read", excerpt: lastPathComponent)
        }
        return size.int64Value
    }
}
