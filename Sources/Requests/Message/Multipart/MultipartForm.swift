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
/// It is written while it is sent, in as much memory as a buffer takes, and its exact length is announced where that
/// of each part is known. Every attempt writes the same form again, with the same boundary, if every part can be sent
/// again.
///
/// Names, file names and headers are checked when the request is sent: what would break out of its part is an error,
/// or is escaped where there is a way to do that.
public struct MultipartForm: Sendable {
    /// What the parts are to each other; a form by default, but for example `multipart/mixed` or `multipart/related`.
    public var type: MediaType
    /// What stands between the parts.
    public let boundary: String
    /// Text before the first part, which readers skip; none by default.
    public var preamble: String?
    /// The parts, in the order in which they are sent.
    public var parts: [Part] = []
    /// Whether nobody can have guessed the boundary, so that no content can contain it by intent or chance.
    let isBoundarySecret: Bool

    /// Makes a form without parts, with a boundary of 192 random bits of the system.
    ///
    /// - Parameter type: What the parts are to each other; a form by default.
    public init(type: MediaType = .multipartFormData) {
        var generator = SystemRandomNumberGenerator()
        self.init(type: type, boundary: Self.makeBoundary(using: &generator), isBoundarySecret: true)
    }

    /// Makes a form without parts, with a boundary of the caller's choice.
    ///
    /// Who knows the boundary before can write content that contains it. That is an error when the form is sent; leave
    /// the boundary to the system where it needn't be known.
    ///
    /// - Parameters:
    ///   - boundary: What stands between the parts: up to 70 letters, digits, and characters of `'()+_,-./:=? `, of
    ///     which the last is no space (RFC 2046, 5.1.1). That is checked when the form is sent.
    ///   - type: What the parts are to each other; a form by default.
    public init(boundary: String, type: MediaType = .multipartFormData) {
        self.init(type: type, boundary: boundary, isBoundarySecret: false)
    }

    /// Makes a form without parts, with a random boundary that another run can repeat.
    ///
    /// - Parameters:
    ///   - generator: Where the boundary comes from.
    ///   - type: What the parts are to each other; a form by default.
    public init(using generator: inout some RandomNumberGenerator, type: MediaType = .multipartFormData) {
        self.init(type: type, boundary: Self.makeBoundary(using: &generator), isBoundarySecret: false)
    }

    private init(type: MediaType, boundary: String, isBoundarySecret: Bool) {
        self.type = type
        self.boundary = boundary
        self.isBoundarySecret = isBoundarySecret
    }

    private static func makeBoundary(using generator: inout some RandomNumberGenerator) -> String {
        var boundary = "requests-"
        for _ in 0..<3 {
            let digits = String(UInt64.random(in: .min ... .max, using: &generator), radix: 16)
            boundary += String(repeating: "0", count: 16 - digits.count) + digits
        }
        return boundary
    }

    /// Adds a field, as the text that somebody typed into it: UTF-8, without a type.
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
    ///   - fileName: What the receiver may call the file; by default the last component of a file's path, and none for
    ///     other bodies.
    ///   - headers: More fields of the part's header, or others in place of those that the body implies; none by
    ///     default.
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

    /// Whether the form can be sent more than once: every part can.
    public var isReplayable: Bool { parts.allSatisfy(\.body.isReplayable) }
}

extension HTTPBody {
    /// A form of several parts.
    ///
    /// Its `Content-Type` names the boundary, without which nobody could read it, and so replaces that of the request.
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
    ///   - boundary: What stands between the parts; by default random, and the same for every attempt.
    ///   - build: Adds the parts.
    /// - Returns: The result.
    /// - Throws: What the closure throws, and nothing else.
    public static func multipart(
        boundary: String? = nil,
        _ build: (inout MultipartForm) throws -> Void
    ) rethrows -> HTTPBody {
        var form = boundary.map { MultipartForm(boundary: $0) } ?? MultipartForm()
        try build(&form)
        return .multipart(form)
    }
}
