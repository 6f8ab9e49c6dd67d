// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A multipart form (RFC 7578, RFC 2046), whose parts can be fields, files, streams or any other bodies.
///
/// ```swift
/// var form = MultipartForm()
/// form.add("Pancakes", for: "name")
/// form.add(.json(["eggs": 2]), for: "details")
/// form.add(.file(picture), for: "picture")
/// request.body = .multipart(form)
/// ```
///
/// The form is serialized while it is sent, and needs the memory of only one buffer. If the lengths of all parts are
/// known, the exact length is declared. If all parts are replayable, each attempt sends the same form again, with the
/// same boundary.
///
/// Names, file names and headers are checked when the request is sent. Characters that would break out of the part's
/// header are escaped if possible. Otherwise, the request fails.
public struct MultipartForm: Sendable {
    /// The media type, by default `multipart/form-data`; other examples are `multipart/mixed` and `multipart/related`.
    public var type: MediaType
    /// The boundary between the parts.
    public let boundary: String
    /// The text before the first part, which receivers ignore; none by default.
    public var preamble: String?
    /// The parts, in the order in which they are sent.
    public var parts: [Part] = []

    /// Creates a form without parts, with a boundary that contains 122 random bits from the system.
    ///
    /// - Parameter type: The media type; `multipart/form-data` by default.
    public init(type: MediaType = .multipartFormData) {
        self.init(boundary: "requests-\(UUID().uuidString.lowercased())", type: type)
    }

    /// Creates a form without parts, with the given boundary.
    ///
    /// The content must not contain the boundary, because a receiver would split the form in the wrong place. The
    /// library doesn't search the content for the boundary. If the content comes from someone else, use the random
    /// boundary, which can't be guessed.
    ///
    /// - Parameters:
    ///   - boundary: The boundary, with 1 to 70 letters, digits and characters of `'()+_,-./:=? `, and no space at the
    ///     end (RFC 2046, 5.1.1). It is checked when the form is sent.
    ///   - type: The media type; `multipart/form-data` by default.
    public init(boundary: String, type: MediaType = .multipartFormData) {
        self.type = type
        self.boundary = boundary
    }

    /// Adds a text field as browsers send it, that is, in UTF-8 and without a media type.
    ///
    /// - Parameters:
    ///   - text: The value.
    ///   - name: The name of the field.
    ///   - headers: Additional header fields of the part; none by default.
    public mutating func add(_ text: String, for name: String, headers: HTTPHeaders = []) {
        add(.data(Data(text.utf8), type: nil), for: name, headers: headers)
    }

    /// Adds any body as a part, such as `.json(value)`, `.data(bytes, type: .png)`, `.file(url)` or `.stream(…)`.
    ///
    /// - Parameters:
    ///   - body: The content, which also determines the media type.
    ///   - name: The name of the field.
    ///   - fileName: The suggested name of the file; by default the last path component of a file, and none for other
    ///     bodies.
    ///   - headers: Header fields of the part, which are added to those of the body or replace them; none by default.
    public mutating func add(
        _ body: HTTPBody,
        for name: String,
        fileName: String? = nil,
        headers: HTTPHeaders = []
    ) {
        append(Part(body, name: name, fileName: fileName, headers: headers))
    }

    /// Adds a part.
    public mutating func append(_ part: Part) {
        parts.append(part)
    }

    /// Whether the form can be sent more than once, which is the case if all its parts are replayable.
    public var isReplayable: Bool { parts.allSatisfy(\.body.isReplayable) }
}

extension HTTPBody {
    /// Creates a body with a multipart form.
    ///
    /// The `Content-Type` of the body replaces that of the request, because it contains the boundary, without which the
    /// form can't be parsed.
    public static func multipart(_ form: MultipartForm) -> HTTPBody {
        HTTPBody(
            mandatoryHeaders: [.contentType: form.contentType],
            isReplayable: form.isReplayable,
            source: form
        ) { try form.content() }
    }

    /// Creates a body with a multipart form that is built by a closure.
    ///
    /// ```swift
    /// request.body = .multipart { form in
    ///     form.add("Pancakes", for: "name")
    ///     form.add(.file(picture), for: "picture")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - boundary: The boundary between the parts; by default a random one, which is the same for all attempts.
    ///   - build: Adds the parts to the form.
    /// - Returns: The body.
    /// - Throws: Only an error that the closure throws.
    public static func multipart(
        boundary: String? = nil,
        _ build: (inout MultipartForm) throws -> Void
    ) rethrows -> HTTPBody {
        var form = boundary.map { MultipartForm(boundary: $0) } ?? MultipartForm()
        try build(&form)
        return .multipart(form)
    }
}

// MARK: - Part

extension MultipartForm {
    /// A part of a form, that is, a body with a field name and, for a file, a file name.
    public struct Part: Sendable {
        /// The content, whose header fields are sent in the header of the part.
        public var body: HTTPBody
        /// The name of the field.
        ///
        /// Each part of a form must have a name. Parts of other messages, such as `multipart/mixed`, need no name.
        public var name: String?
        /// The suggested name of the file; `nil` if the part isn't a file.
        public var fileName: String?
        /// The additional header fields of the part, which take precedence over those of the body.
        public var headers: HTTPHeaders

        /// Creates a part.
        ///
        /// - Parameters:
        ///   - body: The content, which also determines the media type.
        ///   - name: The name of the field; none by default.
        ///   - fileName: The suggested name of the file; by default the last path component of a file, and none for
        ///     other bodies.
        ///   - headers: Additional header fields of the part; none by default.
        public init(_ body: HTTPBody, name: String? = nil, fileName: String? = nil, headers: HTTPHeaders = []) {
            self.body = body
            self.name = name
            self.headers = headers
            if fileName == nil, case .file(let url) = body.content {
                self.fileName = url.lastPathComponent
            } else {
                self.fileName = fileName
            }
        }
    }
}

extension MultipartForm.Part {
    /// Returns the serialized header, including the empty line at its end.
    ///
    /// - Throws: ``InvalidValue`` if the name is missing, or if a name or a field would break out of the header.
    func header(isFormData: Bool) throws(InvalidValue) -> String {
        var fields: HTTPHeaders = []
        if let disposition = try disposition(isFormData: isFormData) {
            fields.add(disposition, for: .contentDisposition)
        }
        fields.merge(body.headers)
        fields.merge(headers)
        fields.merge(body.mandatoryHeaders)
        var lines = ""
        for field in fields {
            try field.validate("of a part ")
            lines += "\(field.name.rawValue): \(field.value)\r\n"
        }
        return lines + "\r\n"
    }

    private func disposition(isFormData: Bool) throws(InvalidValue) -> String? {
        guard name != nil || !isFormData || headers.contains(.contentDisposition) else {
            throw InvalidValue(.partName, "is missing")
        }
        guard name != nil || fileName != nil else { return nil }
        var value = name == nil ? "attachment" : "form-data"
        if let name { value += "; name=\"\(try name.escapedForDisposition(.partName))\"" }
        if let fileName { value += "; filename=\"\(try fileName.escapedForDisposition(.fileName))\"" }
        return value
    }
}

extension String {
    /// Returns the name of a field or file as browsers send it (WHATWG HTML, 4.10.21.8).
    ///
    /// The name is sent in UTF-8. Quotes and line breaks, which would end the name, are percent-encoded.
    ///
    /// - Throws: ``InvalidValue`` if the name contains a control character that can't be escaped.
    fileprivate func escapedForDisposition(_ kind: InvalidValue.Kind) throws(InvalidValue) -> String {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(utf8.count)
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "\""): escaped += "%22".utf8
            case UInt8(ascii: "\r"): escaped += "%0D".utf8
            case UInt8(ascii: "\n"): escaped += "%0A".utf8
            case _ where ASCIISet.fieldValue.contains(byte): escaped.append(byte)
            default: throw InvalidValue(kind, "contains a control character", excerpt: self)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}

// MARK: - Encoding

extension MultipartForm {
    /// The maximum size of a form that is serialized in memory if all its parts are in memory.
    ///
    /// A larger form is serialized while it is sent.
    static let maximumSizeInMemory: Int64 = 64 * 1024

    /// The media type with the boundary, which is quoted if it isn't a token (RFC 2045, 5.1).
    var contentType: String { type.parameter("boundary", boundary).rawValue }

    /// Returns the content to send.
    ///
    /// - Throws: ``InvalidValue`` if the form or a part is invalid, or any error that the encoding of a part throws.
    /// - Complexity: O(n) in the number of bytes in memory, because only the lengths of files are read.
    func content() throws -> HTTPBody.Content {
        let message = try message()
        let length = try message.length()
        if let length, length <= Self.maximumSizeInMemory, let data = message.data { return .data(data) }
        guard !message.isAsynchronous else {
            return .stream(HTTPBody.Stream(length: length, isReplayable: isReplayable, reading: message.chunks))
        }
        return .stream(
            HTTPBody.Stream(length: length, isReplayable: isReplayable) {
                let reader = MultipartSerializer(message)
                return PolledStream(filling: reader.fill, releasing: reader.release)
            }
        )
    }

    /// Validates the form and encodes its parts, and returns a message that can be serialized.
    ///
    /// - Throws: ``InvalidValue`` if the form or a part is invalid, or any error that the encoding of a part throws.
    func message() throws -> MultipartMessage {
        try validateType()
        try validateBoundary()
        let isFormData = type.essence == MediaType.multipartFormData.essence
        let contents = try parts.map { part in
            let content = try part.body.resolved().content
            return (header: try part.header(isFormData: isFormData), content: content)
        }
        return try MultipartMessage(contents, boundary: boundary, preamble: preamble)
    }

    /// Returns the serialized form as a list of bytes in memory and files, without reading the files.
    ///
    /// - Throws: ``InvalidValue`` if the form or a part is invalid, or if a part is a stream, and any error that the
    ///   encoding of a part throws.
    func sectionContents() throws -> [HTTPBody.Content] {
        try message().sections.map { section in
            if case .stream = section.content { throw InvalidValue(.body, "has a part that is a stream") }
            return section.content
        }
    }

    private func validateType() throws(InvalidValue) {
        guard try type.validated().type.equalsIgnoringASCIICase("multipart"), type.subtype != "*" else {
            throw InvalidValue(.mediaType, "of a multipart form must begin with “multipart/”", excerpt: type.rawValue)
        }
        // The boundary of the form would silently replace the boundary of the media type.
        guard type[parameter: "boundary"] == nil else {
            throw InvalidValue(.boundary, "must be set on the form, not in its media type", excerpt: type.rawValue)
        }
    }

    /// Checks that the boundary is valid (RFC 2046, 5.1.1).
    private func validateBoundary() throws(InvalidValue) {
        guard (1...70).contains(boundary.utf8.count) else {
            throw InvalidValue(.boundary, "must have 1 to 70 characters", excerpt: boundary)
        }
        guard ASCIISet.boundary.containsAll(boundary), boundary.utf8.last != UInt8(ascii: " ") else {
            throw InvalidValue(.boundary, "contains a character that isn't allowed in a boundary", excerpt: boundary)
        }
    }
}

extension ASCIISet {
    /// The characters of a boundary (RFC 2046, 5.1.1).
    fileprivate static let boundary = alphanumerics + "'()+_,-./:=? "
}

extension URL {
    /// Returns the current byte count of the file.
    ///
    /// The resource values of `URL` aren't used, because they are cached, and may contain the previous size of a
    /// changed file.
    ///
    /// - Throws: ``InvalidValue`` unless the URL refers to a readable regular file. Opening a pipe or a device could
    ///   block, and Foundation never stops reading a directory.
    func fileSize() throws(InvalidValue) -> Int64 {
        var status = stat()
        guard isFileURL, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(path, R_OK) == 0 else {
            throw InvalidValue(.body, "isn't a readable file", excerpt: lastPathComponent)
        }
        return Int64(status.st_size)
    }
}
