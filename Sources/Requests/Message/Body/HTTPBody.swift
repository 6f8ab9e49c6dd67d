// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The body of a request: bytes in memory, a file, a stream or nothing, with the header fields that describe it.
///
/// Use one of the built-in bodies: `json(_:encoder:)`, ``text(_:encoding:type:)``, ``data(_:type:)``,
/// ``file(_:type:)``, ``stream(_:type:)`` or ``multipart(_:)``. To add your own kind of body, write a function that
/// returns one:
///
/// ```swift
/// extension HTTPBody {
///     static func csv(_ table: Table) -> HTTPBody {
///         HTTPBody(headers: [.contentType: "text/csv"]) { .data(try table.encoded()) }
///     }
/// }
/// ```
///
/// A body is encoded lazily, that is, only when it is sent, and again for each attempt. If the encoding throws an
/// error, the request fails with it, and nothing is sent.
///
/// A body that can be sent more than once is *replayable*. A retry, a redirect that keeps the method, and
/// authentication after a challenge require a replayable body. All built-in bodies are replayable, except a single
/// stream or sequence, and a form that contains one.
public struct HTTPBody: Sendable {
    /// The source of the bytes.
    public enum Content: Sendable {
        /// There is no content.
        case none
        /// The bytes are in memory.
        case data(Data)
        /// The bytes are in a file, which is read while it is sent.
        case file(URL)
        /// The bytes come from a stream, which is read while they are sent.
        case stream(HTTPBody.Stream)
    }

    typealias MakeEncoder = @Sendable () -> JSONEncoder

    private enum State: Sendable {
        case resolved(Content)
        case deferred(@Sendable (MakeEncoder?) throws -> Content)
    }

    /// The header fields that describe the content, such as its type; fields of the request take precedence.
    public let headers: HTTPHeaders
    /// The header fields without which the content can't be read; they replace fields of the request.
    public let mandatoryHeaders: HTTPHeaders
    /// The value from which the body was created, for inspection, such as a ``MultipartForm`` or a value to encode.
    ///
    /// The source isn't sent. For a body in memory, a file or a stream, it is `nil`.
    public private(set) var source: (any Sendable)?
    private var state: State
    private var mayReplay = true

    /// Creates a body whose content is encoded when it is sent.
    ///
    /// - Parameters:
    ///   - headers: The header fields that describe the content; none by default.
    ///   - mandatoryHeaders: The header fields without which the content can't be read; none by default.
    ///   - isReplayable: Whether the content can be encoded and sent again; true by default.
    ///   - source: The value from which the content is created, for ``source``.
    ///   - encode: Creates the content. Called for each attempt, on any thread. If it throws an error, the request
    ///     fails with it.
    public init(
        headers: HTTPHeaders = [],
        mandatoryHeaders: HTTPHeaders = [],
        isReplayable: Bool = true,
        source: (any Sendable)? = nil,
        encoding encode: @escaping @Sendable () throws -> Content
    ) {
        self.init(.none, headers: headers, mandatoryHeaders: mandatoryHeaders)
        state = .deferred { _ in try encode() }
        mayReplay = isReplayable
        self.source = source
    }

    /// Creates a JSON body; `encode` receives the encoder of the environment, if there is one.
    init(
        headers: HTTPHeaders,
        source: any Sendable,
        encodingJSON encode: @escaping @Sendable (JSONEncoder?) throws -> Data
    ) {
        self.init(.none, headers: headers)
        state = .deferred { .data(try encode($0?())) }
        self.source = source
    }

    /// Creates a body from content that needs no encoding.
    ///
    /// - Parameters:
    ///   - content: The source of the bytes.
    ///   - headers: The header fields that describe the content; none by default.
    ///   - mandatoryHeaders: The header fields without which the content can't be read; none by default.
    public init(_ content: Content, headers: HTTPHeaders = [], mandatoryHeaders: HTTPHeaders = []) {
        state = .resolved(content)
        self.headers = headers
        self.mandatoryHeaders = mandatoryHeaders
    }

    private func with(_ state: State) -> HTTPBody {
        var body = self
        body.state = state
        return body
    }

    /// A body without content.
    ///
    /// The body neither adds nor removes header fields, so a `Content-Type` that the request sets is still sent.
    public static let none = HTTPBody(.none)

    /// The source of the bytes.
    ///
    /// If the body isn't encoded yet, this is a stream without a known length, which encodes the body when it is
    /// opened. A transport receives only bodies that are already ``resolved()``.
    public var content: Content {
        switch state {
        case .resolved(let content): content
        case .deferred: .stream(HTTPBody.Stream(isReplayable: isReplayable) { try resolved().content.open() })
        }
    }

    /// Whether the content is a file.
    ///
    /// Unlike ``content``, it doesn't create a stream for a body that isn't encoded yet.
    package var isFile: Bool { if case .resolved(.file) = state { true } else { false } }

    /// Encodes the body, and returns a body whose ``content`` is exactly what will be sent.
    ///
    /// A body that is already encoded is returned unchanged.
    ///
    /// - Throws: Any error that the encoding throws. A missing file is an error only when the body is sent.
    public func resolved() throws -> HTTPBody {
        try resolved(using: nil)
    }

    /// Encodes the body; if the caller specified no encoder for JSON, `makeEncoder` creates it.
    func resolved(using makeEncoder: MakeEncoder?) throws -> HTTPBody {
        guard case .deferred(let encode) = state else { return self }
        let content = try encode(makeEncoder)
        if case .none = content { return .none }
        return with(.resolved(content))
    }

    /// Returns a body that is encoded at most once, by the encoder that `makeEncoder` creates.
    ///
    /// The encoded content is reused, so that an interceptor that inspects the body sees the bytes that will be sent.
    func encodedOnce(using makeEncoder: MakeEncoder?) -> HTTPBody {
        guard case .deferred(let encode) = state else { return self }
        let content = Locked<Content?>(nil)
        let once: @Sendable (MakeEncoder?) throws -> Content = { _ in
            if let content = content.withLock({ $0 }) { return content }
            let fresh = try encode(makeEncoder)
            return content.withLock { content in
                let first = content ?? fresh
                content = first
                return first
            }
        }
        return with(.deferred(once))
    }

    /// Whether the content isn't encoded yet.
    var isDeferred: Bool {
        if case .deferred = state { true } else { false }
    }

    /// Whether the body has no content; false for a body that isn't encoded yet.
    public var isEmpty: Bool {
        if case .resolved(.none) = state { true } else { false }
    }

    /// Whether the body can be sent more than once.
    public var isReplayable: Bool {
        guard mayReplay, case .resolved(.stream(let stream)) = state else { return mayReplay }
        return stream.isReplayable
    }

    /// The byte count of the body; `nil` if it is unknown without encoding the body or accessing the disk.
    public var length: Int64? {
        guard case .resolved(let content) = state else { return nil }
        return content.length
    }

    /// Returns the bytes in memory, after encoding the body if necessary; `nil` for an empty body, a file or a stream.
    ///
    /// - Throws: Any error that the encoding throws.
    public func data() throws -> Data? {
        guard case .data(let data) = try resolved().content else { return nil }
        return data
    }

    /// Returns a body with the length, if the body is a stream of unknown length; otherwise the same body.
    func declaring(length: Int64) -> HTTPBody {
        guard case .resolved(.stream(let stream)) = state, stream.length == nil else { return self }
        return with(.resolved(.stream(stream.declaring(length: length))))
    }
}

extension HTTPBody: DescribedMirror {
    /// The kind of the content, its length if known, and its media type, but no part of the content itself.
    public var description: String {
        let type = (headers[.contentType] ?? mandatoryHeaders[.contentType]).map { " of \($0.shortened())" } ?? ""
        guard case .resolved(let content) = state else { return "content\(type), not encoded yet" }
        return isEmpty ? "no content" : "\(content)\(type)"
    }
}

extension HTTPBody.Content: DescribedMirror {
    /// The kind of the content, and its length if known.
    public var description: String {
        switch self {
        case .none: "nothing"
        case .data(let data): data.count.counting("byte")
        case .file(let url): "the file \(url.lastPathComponent.shortened())"
        case .stream(let stream): stream.length.map { "a stream of \($0.counting("byte"))" } ?? "a stream"
        }
    }
}

extension HTTPBody.Content {
    /// The byte count, if it is known without accessing the disk.
    var length: Int64? {
        switch self {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .file: nil
        case .stream(let stream): stream.length
        }
    }

    /// The content as a stream.
    package var stream: HTTPBody.Stream {
        guard case .stream(let stream) = self else { return HTTPBody.Stream { try open() } }
        return stream
    }

    /// Creates an input stream of the content, without opening it.
    package func open() throws -> sending InputStream {
        switch self {
        case .none: return InputStream(data: Data())
        case .data(let data): return InputStream(data: data)
        case .stream(let stream): return try stream.open()
        case .file(let url):
            guard let stream = InputStream(url: url) else {
                throw InvalidValue(.body, "isn't a readable file", excerpt: url.lastPathComponent)
            }
            return stream
        }
    }
}

// MARK: - Form

extension HTTPBody {
    /// Creates a body with the fields of a form, in the format `application/x-www-form-urlencoded`.
    ///
    /// ```swift
    /// request.body = .form(["name": "Pancakes", "eggs": 2])      // name=Pancakes&eggs=2
    /// ```
    ///
    /// The fields of a literal keep their order, even if a name is repeated. A value of `nil` is sent as an empty
    /// value.
    public static func form(_ fields: Query) -> HTTPBody {
        HTTPBody(headers: formHeaders, source: fields) { .data(fields.formEncoded) }
    }

    /// Creates a body with a value that is encoded as the fields of a form.
    ///
    /// - Parameters:
    ///   - value: The value to encode, whose top level must have names.
    ///   - encoder: The encoder, whose options determine how arrays, dates and other values are encoded. If it throws
    ///     an error, the request fails with it.
    /// - Returns: The body.
    @_disfavoredOverload
    public static func form(_ value: some Encodable & Sendable, encoder: QueryEncoder = QueryEncoder()) -> HTTPBody {
        HTTPBody(headers: formHeaders, source: value) { .data(try encoder.encode(value).formEncoded) }
    }

    /// Creates a body with the fields of a form from a literal, whose values have any `Encodable` types.
    ///
    /// ```swift
    /// request.body = .form(["tags": ["sweet", "fast"], "since": date], encoder: encoder)
    /// ```
    ///
    /// The fields keep their order, even if a name is repeated. A nested dictionary literal is a `Dictionary`, so its
    /// keys must be unique.
    ///
    /// - Parameters:
    ///   - fields: The literal.
    ///   - encoder: The encoder, whose options determine how arrays, dates, `nil` and other values are encoded. If it
    ///     throws an error, the request fails with it.
    /// - Returns: The body.
    public static func form(
        _ fields: KeyValuePairs<String, (any Encodable & Sendable)?>,
        encoder: QueryEncoder = QueryEncoder()
    ) -> HTTPBody {
        HTTPBody(headers: formHeaders, source: Array(fields.map(\.key))) {
            .data(try encoder.encode(pairs: fields.lazy.map { ($0.key, $0.value) }).formEncoded)
        }
    }

    private static let formHeaders: HTTPHeaders = [.contentType: MediaType.urlEncodedForm.rawValue]
}

// MARK: - Text

extension HTTPBody {
    /// Creates a body with text.
    ///
    /// The encoding is added to a `text` media type without a charset, as in `text/plain; charset=utf-8`. Other types,
    /// such as JSON, have their own rules for encodings and are unchanged.
    ///
    /// If the encoding can't represent a character, the request fails when it is sent. No character is replaced.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - encoding: The encoding of the text; UTF-8 by default.
    ///   - type: The media type of the text; `text/plain` by default.
    /// - Returns: The body.
    public static func text(
        _ text: String,
        encoding: String.Encoding = .utf8,
        type: MediaType = .plainText
    ) -> HTTPBody {
        HTTPBody(headers: [.contentType: type.addingCharset(encoding).rawValue], source: text) {
            _ = try type.validated()
            guard let data = text.data(using: encoding) else {
                throw InvalidValue(.body, "can't be encoded in this charset", excerpt: encoding.charset ?? "")
            }
            return .data(data)
        }
    }
}

extension MediaType {
    fileprivate func addingCharset(_ encoding: String.Encoding) -> MediaType {
        guard charset == nil, MediaType.anyText.matches(self), let charset = encoding.charset else { return self }
        return self.charset(charset)
    }
}
