// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The content of a request: nothing, bytes in memory, a file, or a stream; with the header fields that belong to it.
///
/// Take one of the ready-made bodies: `json(_:encoder:)`, ``text(_:encoding:type:)``, ``data(_:type:)``,
/// ``file(_:type:)``, ``stream(_:type:)``, ``multipart(_:)``. A body of your own is a function that returns one:
///
/// ```swift
/// extension HTTPBody {
///     static func csv(_ table: Table) -> HTTPBody {
///         HTTPBody(headers: [.contentType: "text/csv"]) { .data(try table.encoded()) }
///     }
/// }
/// ```
///
/// A body is lazy: it is encoded when it is sent, and again for each attempt. An error that the encoding throws becomes
/// the error of the request, and nothing is sent.
///
/// A body that can be sent more than once is *replayable*: a retry, a redirect that keeps the method, and an answer to
/// a challenge need one. Every body is, except a stream that was handed over as it is.
public struct HTTPBody: Sendable {
    /// The source of the bytes.
    public enum Content: Sendable {
        /// There is no content.
        case none
        /// The bytes are in memory.
        case data(Data)
        /// The bytes are in a file, which is read while they are sent.
        case file(URL)
        /// The bytes come from a stream, which is read while they are sent.
        case stream(HTTPBody.Stream)
    }

    typealias MakeEncoder = @Sendable () -> JSONEncoder

    private enum State: Sendable {
        case resolved(Content)
        case deferred(@Sendable (MakeEncoder?) throws -> Content)
    }

    /// The fields that the content implies, such as its type; fields that the request sets itself take precedence.
    public let headers: HTTPHeaders
    /// The fields without which the content can't be read; they replace those of the request.
    public let mandatoryHeaders: HTTPHeaders
    /// The value that the body was made of, for inspection: a ``MultipartForm``, a value to be encoded.
    ///
    /// It isn't sent. A body in memory, a file or a stream is its own source; then this is `nil`.
    public private(set) var source: (any Sendable)?
    private var state: State
    private var mayReplay = true

    /// Makes a body whose content is encoded when it is sent.
    ///
    /// - Parameters:
    ///   - headers: The fields that the content implies, none by default.
    ///   - mandatoryHeaders: The fields without which it can't be read, none by default.
    ///   - isReplayable: Whether the content can be made and sent again; true by default.
    ///   - source: The value that the content is made of, for ``source``.
    ///   - encode: Makes the content; called for every attempt, on no particular thread. An error that it throws is the
    ///     error of the request.
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

    /// Makes a body of JSON, which the encoder of the environment encodes if there is one.
    init(
        headers: HTTPHeaders,
        source: any Sendable,
        encodingJSON encode: @escaping @Sendable (JSONEncoder?) throws -> Data
    ) {
        self.init(.none, headers: headers)
        state = .deferred { .data(try encode($0?())) }
        self.source = source
    }

    /// Makes a body of content that needs no encoding.
    ///
    /// - Parameters:
    ///   - content: The source of the bytes.
    ///   - headers: The fields that the content implies, none by default.
    ///   - mandatoryHeaders: The fields without which it can't be read, none by default.
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

    /// No content.
    ///
    /// It implies no fields and removes none: a `Content-Type` that the request sets is sent.
    public static let none = HTTPBody(.none)

    /// The source of the bytes.
    ///
    /// If the body isn't encoded yet, this is a stream that encodes it when it is opened: correct, but without a
    /// length. A transport receives bodies that are ``resolved()``.
    public var content: Content {
        switch state {
        case .resolved(let content): content
        case .deferred: .stream(HTTPBody.Stream(isReplayable: isReplayable) { try resolved().content.open() })
        }
    }

    /// Whether the content is a file, without creating the ``content`` of a body that isn't encoded yet.
    package var isFile: Bool { if case .resolved(.file) = state { true } else { false } }

    /// Returns the same body, encoded: its ``content`` is what will be sent.
    ///
    /// A body that is already encoded is returned unchanged.
    ///
    /// - Throws: Any error that the encoding throws. A missing file is an error only when it is sent.
    public func resolved() throws -> HTTPBody {
        try resolved(using: nil)
    }

    /// Returns the same body, encoded; JSON without an encoder of its own is encoded by the one that `makeEncoder`
    /// makes.
    func resolved(using makeEncoder: MakeEncoder?) throws -> HTTPBody {
        guard case .deferred(let encode) = state else { return self }
        let content = try encode(makeEncoder)
        if case .none = content { return .none }
        return with(.resolved(content))
    }

    /// Returns the same body, to be encoded at most once, by the encoder that `makeEncoder` makes: reading the body
    /// shows what will be sent.
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

    /// Whether the content is yet to be encoded.
    var isDeferred: Bool {
        if case .deferred = state { true } else { false }
    }

    /// Whether there is no content; a body that isn't encoded yet is expected to have some.
    public var isEmpty: Bool {
        if case .resolved(.none) = state { true } else { false }
    }

    /// Whether the body can be sent more than once.
    public var isReplayable: Bool {
        guard mayReplay, case .resolved(.stream(let stream)) = state else { return mayReplay }
        return stream.isReplayable
    }

    /// The byte count of the body, if it is known without encoding the body and without reading the disk; otherwise
    /// `nil`.
    public var length: Int64? {
        guard case .resolved(let content) = state else { return nil }
        return content.length
    }

    /// The bytes, if they are in memory, encoded if necessary; `nil` for an empty body, a file and a stream.
    ///
    /// - Throws: Any error that the encoding throws.
    public func data() throws -> Data? {
        guard case .data(let data) = try resolved().content else { return nil }
        return data
    }

    /// Returns the same body with a known length; only a stream without a length takes it.
    func declaring(length: Int64) -> HTTPBody {
        guard case .resolved(.stream(let stream)) = state, stream.length == nil else { return self }
        return with(.resolved(.stream(stream.declaring(length: length))))
    }
}

extension HTTPBody: DescribedMirror {
    /// The kind of the content, its length if known, and its type; nothing of the content itself.
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
        case .data(let data): "\(data.count) bytes"
        case .file(let url): "the file \(url.lastPathComponent.shortened())"
        case .stream(let stream): stream.length.map { "a stream of \($0) bytes" } ?? "a stream"
        }
    }
}

extension HTTPBody.Content {
    /// The byte count, if it is known without reading the disk.
    var length: Int64? {
        switch self {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .file: nil
        case .stream(let stream): stream.length
        }
    }

    /// The bytes as a body that is read.
    package var stream: HTTPBody.Stream {
        guard case .stream(let stream) = self else { return HTTPBody.Stream { try open() } }
        return stream
    }

    /// The bytes as a stream, not opened yet.
    package func open() throws -> sending InputStream {
        switch self {
        case .none: return InputStream(data: Data())
        case .data(let data): return InputStream(data: data)
        case .stream(let stream): return try stream.open()
        case .file(let url):
            guard let stream = InputStream(url: url) else {
                throw InvalidValue(.body, "isn't a file that can be read", excerpt: url.lastPathComponent)
            }
            return stream
        }
    }
}

// MARK: - Form

extension HTTPBody {
    /// The fields of a form, as a browser sends them: `application/x-www-form-urlencoded`.
    ///
    /// ```swift
    /// request.body = .form(["name": "Pancakes", "eggs": 2])      // name=Pancakes&eggs=2
    /// ```
    ///
    /// The fields of a literal keep their order, also fields of the same name; a `nil` is sent as an empty value.
    public static func form(_ fields: Query) -> HTTPBody {
        HTTPBody(headers: formHeaders, source: fields) { .data(fields.formEncoded) }
    }

    /// A value as the fields of a form.
    ///
    /// - Parameters:
    ///   - value: The value to encode; its top level has to have names.
    ///   - encoder: Decides how arrays, dates and the like are written. An error that it throws is the error of the
    ///     request.
    /// - Returns: The body.
    @_disfavoredOverload
    public static func form(_ value: some Encodable & Sendable, encoder: QueryEncoder = QueryEncoder()) -> HTTPBody {
        HTTPBody(headers: formHeaders, source: value) { .data(try encoder.encode(value).formEncoded) }
    }

    /// The fields of a form as a literal, with values of any encodable type.
    ///
    /// ```swift
    /// request.body = .form(["tags": ["sweet", "fast"], "since": date], encoder: encoder)
    /// ```
    ///
    /// The fields keep their order, also fields of the same name. A dictionary within the literal is a `Dictionary`,
    /// whose keys have to differ.
    ///
    /// - Parameters:
    ///   - fields: The literal.
    ///   - encoder: Decides how arrays, dates, `nil` and the like are written. An error that it throws is the error of
    ///     the request.
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
    /// Text.
    ///
    /// The type of a text names the encoding, unless it already does: `text/plain; charset=utf-8`. Types that aren't
    /// text, such as JSON, have rules of their own and stay unchanged.
    ///
    /// A character that the encoding doesn't have is an error when the request is sent: nothing is replaced.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - encoding: The encoding of the text; UTF-8 by default.
    ///   - type: The media type of the text; plain by default.
    /// - Returns: The body.
    public static func text(
        _ text: String,
        encoding: String.Encoding = .utf8,
        type: MediaType = .plainText
    ) -> HTTPBody {
        HTTPBody(headers: [.contentType: type.naming(encoding).rawValue], source: text) {
            _ = try type.validated()
            guard let data = text.data(using: encoding) else {
                throw InvalidValue(.body, "can't be written in the encoding", excerpt: encoding.charset ?? "")
            }
            return .data(data)
        }
    }
}

extension MediaType {
    fileprivate func naming(_ encoding: String.Encoding) -> MediaType {
        guard charset == nil, MediaType.anyText.matches(self), let charset = encoding.charset else { return self }
        return self.charset(charset)
    }
}
