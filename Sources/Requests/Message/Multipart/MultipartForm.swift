// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A form of several parts, each a body of its own: fields, files, streams (RFC 7578, RFC 2046).
///
/// ```swift
/// var form = MultipartForm()
/// form.add("Pancakes", for: "name")
/// form.add(.json(["eggs": 2]), for: "details")
/// form.add(.file(picture), for: "picture")
/// request.body = .multipart(form)
/// ```
///
/// It is written while it is sent, in the memory of one buffer, and its exact length is announced if the length of each
/// part is known. If every part is replayable, each attempt writes the same form again, with the same boundary.
///
/// Names, file names and headers are checked when the request is sent: text that would break out of its part is escaped
/// if possible, and otherwise an error.
public struct MultipartForm: Sendable {
    /// The kind of the message; a form by default, but for example also `multipart/mixed` or `multipart/related`.
    public var type: MediaType
    /// The text between the parts.
    public let boundary: String
    /// Text before the first part, which readers skip; none by default.
    public var preamble: String?
    /// The parts, in the order in which they are sent.
    public var parts: [Part] = []

    /// Makes a form without parts, with a boundary of 122 random bits of the system.
    ///
    /// - Parameter type: The kind of the message; a form by default.
    public init(type: MediaType = .multipartFormData) {
        self.init(boundary: "requests-\(UUID().uuidString.lowercased())", type: type)
    }

    /// Makes a form without parts, with a boundary of the caller's choice.
    ///
    /// Content must not contain the boundary, or readers find other parts; it isn't searched for it. If others choose
    /// the content, use the random boundary, which they can't know.
    ///
    /// - Parameters:
    ///   - boundary: The text between the parts: up to 70 letters, digits, and characters of `'()+_,-./:=? `, of which
    ///     the last is no space (RFC 2046, 5.1.1). It is checked when the form is sent.
    ///   - type: The kind of the message; a form by default.
    public init(boundary: String, type: MediaType = .multipartFormData) {
        self.type = type
        self.boundary = boundary
    }

    /// Adds a text field, as a browser sends an input: UTF-8, without a type.
    ///
    /// - Parameters:
    ///   - text: The value.
    ///   - name: The name of the field.
    ///   - headers: More fields of the part's header; none by default.
    public mutating func add(_ text: String, for name: String, headers: HTTPHeaders = []) {
        add(.data(Data(text.utf8), type: nil), for: name, headers: headers)
    }

    /// Adds a part of any kind: `.json(value)`, `.data(bytes, type: .png)`, `.file(url)`, `.stream(…)`.
    ///
    /// - Parameters:
    ///   - body: The content, which brings its type.
    ///   - name: The name of the field.
    ///   - fileName: The suggested name of the file; by default the last component of a file's path, and none for other
    ///     bodies.
    ///   - headers: More fields of the part's header, or replacements for those that the body implies; none by default.
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

    /// Whether the form can be sent more than once, which requires that every part can.
    public var isReplayable: Bool { parts.allSatisfy(\.body.isReplayable) }
}

extension HTTPBody {
    /// A form of several parts.
    ///
    /// Its `Content-Type` contains the boundary, which is needed to read the form, and so replaces that of the request.
    public static func multipart(_ form: MultipartForm) -> HTTPBody {
        HTTPBody(
            mandatoryHeaders: [.contentType: form.contentType],
            isReplayable: form.isReplayable,
            source: form
        ) { try form.content() }
    }

    /// A form of several parts, made in place.
    ///
    /// ```swift
    /// request.body = .multipart { form in
    ///     form.add("Pancakes", for: "name")
    ///     form.add(.file(picture), for: "picture")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - boundary: The text between the parts; by default random, and the same for every attempt.
    ///   - build: Adds the parts.
    /// - Returns: The result.
    /// - Throws: Any error that the closure throws, and nothing else.
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
    /// One part: a body, with the name of its field and, for a file, the file name.
    public struct Part: Sendable {
        /// The content; the fields that it implies stand in the header of the part.
        public var body: HTTPBody
        /// The name of the field, which every part of a form has; parts of other messages, such as `multipart/mixed`,
        /// need no name.
        public var name: String?
        /// The suggested name of the file; `nil` if the part isn't a file.
        public var fileName: String?
        /// More fields of the header; they take precedence over those that the body implies.
        public var headers: HTTPHeaders

        /// Makes a part.
        ///
        /// - Parameters:
        ///   - body: The content, which brings its type.
        ///   - name: The name of the field; none by default.
        ///   - fileName: The suggested name of the file; by default the last component of a file's path, and none for
        ///     other bodies.
        ///   - headers: More fields of the header; none by default.
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
    /// The header as it is sent, up to the empty line.
    ///
    /// - Throws: ``InvalidValue`` if a piece of it would break out of its place.
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
    /// The name of a field or a file as browsers send it: in UTF-8, with characters that would end it percent-encoded
    /// (WHATWG HTML, 4.10.21.8).
    ///
    /// - Throws: ``InvalidValue`` if there is a control character that can't be escaped.
    fileprivate func escapedForDisposition(_ piece: InvalidValue.Kind) throws(InvalidValue) -> String {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(utf8.count)
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "\""): escaped += "%22".utf8
            case UInt8(ascii: "\r"): escaped += "%0D".utf8
            case UInt8(ascii: "\n"): escaped += "%0A".utf8
            case _ where ASCIISet.fieldValue.contains(byte): escaped.append(byte)
            default: throw InvalidValue(piece, "has a control character", excerpt: self)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}

// MARK: - Encoding

extension MultipartForm {
    /// The maximum size of a form that is written in memory, if its parts are; a larger one is written while it is
    /// sent.
    static let maximumSizeInMemory: Int64 = 64 * 1024

    /// The type with the boundary, which is quoted if it isn't a token (RFC 2045, 5.1).
    var contentType: String { type.parameter("boundary", boundary).rawValue }

    /// The form as it is sent.
    ///
    /// - Throws: ``InvalidValue`` if a piece of it can't be sent; any error that the encoding of a part throws.
    /// - Complexity: O(n) in the bytes that are in memory; of a file, only the length is read.
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

    /// The form, ready to be written.
    ///
    /// - Throws: ``InvalidValue`` if a piece of it can't be sent; any error that the encoding of a part throws.
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

    /// The sections of the form as it is sent: bytes and files; without reading any of it.
    ///
    /// - Throws: ``InvalidValue`` if a piece of it can't be sent, or if a part is a stream; any error that the
    ///   encoding of a part throws.
    func sectionContents() throws -> [HTTPBody.Content] {
        try message().sections.map { section in
            if case .stream = section.content { throw InvalidValue(.body, "has a part that is a stream") }
            return section.content
        }
    }

    private func validateType() throws(InvalidValue) {
        guard try type.validated().type.equalsIgnoringASCIICase("multipart"), type.subtype != "*" else {
            throw InvalidValue(.mediaType, "of a multipart form must be of type multipart", excerpt: type.rawValue)
        }
        // The boundary of the form would silently replace that of the type.
        guard type[parameter: "boundary"] == nil else {
            throw InvalidValue(.boundary, "is that of the form, and can't be set by its type", excerpt: type.rawValue)
        }
    }

    /// RFC 2046, 5.1.1.
    private func validateBoundary() throws(InvalidValue) {
        guard (1...70).contains(boundary.utf8.count) else {
            throw InvalidValue(.boundary, "must have 1 to 70 characters", excerpt: boundary)
        }
        guard ASCIISet.boundary.containsAll(boundary), boundary.utf8.last != UInt8(ascii: " ") else {
            throw InvalidValue(.boundary, "has a character that isn't allowed in a boundary", excerpt: boundary)
        }
    }
}

extension ASCIISet {
    /// The characters of a boundary (RFC 2046, 5.1.1).
    fileprivate static let boundary = alphanumerics + "'()+_,-./:=? "
}

extension URL {
    /// The present byte count of the file.
    ///
    /// `URL` caches its resource values, and would return the old size of a file that has changed.
    ///
    /// - Throws: ``InvalidValue`` unless it is a regular file that can be read. Opening a pipe or a device may block,
    ///   and Foundation never stops reading a directory.
    func fileSize() throws(InvalidValue) -> Int64 {
        var status = stat()
        guard isFileURL, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(path, R_OK) == 0 else {
            throw InvalidValue(.body, "isn't a file that can be read", excerpt: lastPathComponent)
        }
        return Int64(status.st_size)
    }
}
