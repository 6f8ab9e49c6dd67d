// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The content of a request: nothing, bytes in memory, a file, or a stream; with the header fields that belong to it.
///
/// Take one of the ready-made bodies: `json(_:encoder:)`, ``text(_:encoding:type:)``, ``data(_:type:)``,
/// ``file(_:type:)``, ``stream(_:type:)``, ``multipart(_:)``. One of your own is a function that says what it is:
///
/// ```swift
/// extension HTTPBody {
///     static func csv(_ table: Table) -> HTTPBody {
///         HTTPBody(headers: [.contentType: "text/csv"]) { .data(try table.encoded()) }
///     }
/// }
/// ```
///
/// A body is lazy: nothing is encoded before it is sent, and then anew for each attempt. What the encoding throws
/// becomes the error of the request, and nothing is sent.
///
/// A body that can be sent again is *replayable*: a retry, a redirect that keeps the method, and an answer to a
/// challenge need one. Everything is, but for a stream that was handed over as it is.
public struct HTTPBody: Sendable {
    /// What the bytes come from.
    public enum Content: Sendable {
        /// There is no content.
        case none
        /// The bytes are in memory.
        case data(Data)
        /// The bytes are in a file, which is read while they are sent.
        case file(URL)
        /// The bytes come from a stream, which is read while they are sent.
        case stream(BodyStream)
    }

    typealias MakeEncoder = @Sendable () -> JSONEncoder

    private enum State: Sendable {
        case resolved(Content)
        case deferred(@Sendable (MakeEncoder?) throws -> Content)
    }

    /// The fields that the content implies, such as its type; those that the request sets itself go before them.
    public let headers: HTTPHeaders
    /// The fields without which the content can't be read; they replace those of the request.
    public let mandatoryHeaders: HTTPHeaders
    /// What the body was made of, for those who want to look into it: a ``MultipartForm``, a value to be encoded.
    ///
    /// Nothing is sent of it; a body in memory, a file or a stream is its own source, and this is nil.
    public let source: (any Sendable)?
    private let state: State
    private let mayReplay: Bool

    /// Makes a body whose content is encoded when it is sent.
    ///
    /// - Parameters:
    ///   - headers: The fields that the content implies, none by default.
    ///   - mandatoryHeaders: The fields without which it can't be read, none by default.
    ///   - isReplayable: Whether the content can be made and sent again; true by default.
    ///   - source: What the content is made of, for ``source``.
    ///   - encode: Makes the content; called for every attempt, on no thread in particular. What it throws is the
    ///     error of the request.
    public init(
        headers: HTTPHeaders = [],
        mandatoryHeaders: HTTPHeaders = [],
        isReplayable: Bool = true,
        source: (any Sendable)? = nil,
        encoding encode: @escaping @Sendable () throws -> Content
    ) {
        self.init(.deferred { _ in try encode() }, headers, mandatoryHeaders, isReplayable, source)
    }

    /// Makes a body of JSON, which the encoder of the environment makes where there is one.
    init(
        headers: HTTPHeaders,
        source: any Sendable,
        encodingJSON encode: @escaping @Sendable (JSONEncoder?) throws -> Data
    ) {
        self.init(.deferred { .data(try encode($0?())) }, headers, [], true, source)
    }

    /// Makes a body of content that is there.
    ///
    /// - Parameters:
    ///   - content: What the bytes come from.
    ///   - headers: The fields that the content implies, none by default.
    ///   - mandatoryHeaders: The fields without which it can't be read, none by default.
    public init(_ content: Content, headers: HTTPHeaders = [], mandatoryHeaders: HTTPHeaders = []) {
        self.init(.resolved(content), headers, mandatoryHeaders, true, nil)
    }

    private init(
        _ state: State,
        _ headers: HTTPHeaders,
        _ mandatoryHeaders: HTTPHeaders,
        _ mayReplay: Bool,
        _ source: (any Sendable)?
    ) {
        self.state = state
        self.headers = headers
        self.mandatoryHeaders = mandatoryHeaders
        self.mayReplay = mayReplay
        self.source = source
    }

    /// No content.
    ///
    /// It implies nothing, and takes nothing away: a `Content-Type` that the request sets is sent.
    public static let none = HTTPBody(.none)

    /// What the bytes come from.
    ///
    /// Where the body isn't encoded yet, that is a stream which encodes it as it is opened: right, but without a
    /// length. A transport is given bodies that are ``resolved()``.
    public var content: Content {
        switch state {
        case .resolved(let content): content
        case .deferred: .stream(BodyStream(isReplayable: isReplayable) { try resolved().content.open() })
        }
    }

    /// The same body, encoded: its ``content`` is what will be sent.
    ///
    /// A body that is encoded is given back as it is.
    ///
    /// - Throws: What the encoding throws. That a file isn't there is an error only when it is sent.
    public func resolved() throws -> HTTPBody {
        try resolved(using: nil)
    }

    /// The same body, encoded; where it is JSON and brings no encoder of its own, by the one that `makeEncoder` makes.
    func resolved(using makeEncoder: MakeEncoder?) throws -> HTTPBody {
        guard case .deferred(let encode) = state else { return self }
        let content = try encode(makeEncoder)
        if case .none = content { return .none }
        return HTTPBody(.resolved(content), headers, mandatoryHeaders, mayReplay, source)
    }

    /// The same body, to be encoded by the encoder that `makeEncoder` makes, and once at most: whoever looks into it
    /// sees what will be sent.
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
        return HTTPBody(.deferred(once), headers, mandatoryHeaders, mayReplay, source)
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

    /// How many bytes the body has, where that is known without encoding it and without a look at the disk; else nil.
    public var length: Int64? {
        guard case .resolved(let content) = state else { return nil }
        return content.length
    }

    /// The bytes, where they are in memory, encoded if need be; nil for nothing, a file and a stream.
    ///
    /// - Throws: What the encoding throws.
    public func data() throws -> Data? {
        guard case .data(let data) = try resolved().content else { return nil }
        return data
    }

    /// The same body, of a length that is known from elsewhere; only a stream without one takes it.
    func declaring(length: Int64) -> HTTPBody {
        guard case .resolved(.stream(let stream)) = state, stream.length == nil else { return self }
        return HTTPBody(
            .resolved(.stream(stream.declaring(length: length))),
            headers,
            mandatoryHeaders,
            mayReplay,
            source
        )
    }
}

extension HTTPBody: CustomStringConvertible, CustomReflectable {
    /// The kind of the content, its length where that is known, and its type; nothing of the content itself.
    public var description: String {
        let type = (headers[.contentType] ?? mandatoryHeaders[.contentType]).map { " of \($0.shortened())" } ?? ""
        guard case .resolved(let content) = state else { return "content\(type), not encoded yet" }
        return content.isNothing ? "no content" : "\(content)\(type)"
    }

    /// A mirror of what the description says: what the body is made of may be a secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension HTTPBody.Content: CustomStringConvertible, CustomReflectable {
    /// The kind of the content, and its length where that is known.
    public var description: String {
        switch self {
        case .none: "nothing"
        case .data(let data): "\(data.count) bytes"
        case .file(let url): "the file \(url.lastPathComponent.shortened())"
        case .stream(let stream): stream.length.map { "a stream of \($0) bytes" } ?? "a stream"
        }
    }

    /// A mirror of what the description says.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }

    fileprivate var isNothing: Bool {
        if case .none = self { true } else { false }
    }
}

extension HTTPBody.Content {
    /// How many bytes there are, where that is known without a look at the disk.
    var length: Int64? {
        switch self {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .file: nil
        case .stream(let stream): stream.length
        }
    }

    /// The bytes as a stream, not opened yet.
    func open() throws -> sending InputStream {
        switch self {
        case .none: return InputStream(data: Data())
        case .data(let data): return InputStream(data: data)
        case .stream(let stream): return try stream.open()
        case .file(let url):
            guard let stream = InputStream(url: url) else {
                throw InvalidRequest(.body, "isn't a file that can be read", excerpt: url.lastPathComponent)
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
    /// The fields of a literal keep their order, also those of equal names; one whose value is nil has an empty one.
    public static func form(_ fields: Query) -> HTTPBody {
        HTTPBody(headers: formHeaders, source: fields) { .data(fields.formEncoded) }
    }

    /// A value as the fields of a form.
    ///
    /// - Parameters:
    ///   - value: What to encode; its top level has to have names.
    ///   - encoder: How arrays, dates and the like are written. What it throws is the error of the request.
    /// - Returns: The body.
    @_disfavoredOverload
    public static func form(_ value: some Encodable & Sendable, encoder: QueryEncoder = QueryEncoder()) -> HTTPBody {
        HTTPBody(headers: formHeaders, source: value) { .data(try encoder.encode(value).formEncoded) }
    }

    /// The fields of a form as they are written here, with values of any kind.
    ///
    /// ```swift
    /// request.body = .form(["tags": ["sweet", "fast"], "since": date], encoder: encoder)
    /// ```
    ///
    /// The fields keep their order, also those of equal names. A dictionary within the literal is a `Dictionary`, whose
    /// names have to differ.
    ///
    /// - Parameters:
    ///   - fields: The literal.
    ///   - encoder: How arrays, dates, nil and the like are written. What it throws is the error of the request.
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
    /// The type of a text names the encoding, unless it does so already: `text/plain; charset=utf-8`. Types that aren't
    /// text, such as JSON, have rules of their own and stay as they are.
    ///
    /// A character that the encoding doesn't have is an error when the request is sent: nothing is replaced.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - encoding: How it is written; UTF-8 by default.
    ///   - type: What kind of text it is; plain by default.
    /// - Returns: The body.
    public static func text(
        _ text: String,
        encoding: String.Encoding = .utf8,
        type: MediaType = .plainText
    ) -> HTTPBody {
        HTTPBody(headers: [.contentType: type.naming(encoding).rawValue], source: text) {
            _ = try type.validated()
            guard let data = text.data(using: encoding) else {
                throw InvalidRequest(.body, "can't be written in the encoding", excerpt: encoding.charset ?? "")
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
