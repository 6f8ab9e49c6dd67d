// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

// Each of these types is a tag of `TypedRequest`, and has no values.
extension HTTPMethod {
    /// The tag of ``Get`` requests.
    public enum Get: HTTPMethod.Tag {
        /// The GET method.
        public static var method: HTTPMethod { .get }
    }
    /// The tag of ``Post`` requests.
    public enum Post: HTTPMethod.Tag {
        /// The POST method.
        public static var method: HTTPMethod { .post }
    }
    /// The tag of ``Put`` requests.
    public enum Put: HTTPMethod.Tag {
        /// The PUT method.
        public static var method: HTTPMethod { .put }
    }
    /// The tag of ``Patch`` requests.
    public enum Patch: HTTPMethod.Tag {
        /// The PATCH method.
        public static var method: HTTPMethod { .patch }
    }
    /// The tag of ``Delete`` requests.
    public enum Delete: HTTPMethod.Tag {
        /// The DELETE method.
        public static var method: HTTPMethod { .delete }
    }
    /// The tag of ``Head`` requests.
    public enum Head: HTTPMethod.Tag {
        /// The HEAD method.
        public static var method: HTTPMethod { .head }
    }
    /// The tag of ``Options`` requests.
    public enum Options: HTTPMethod.Tag {
        /// The OPTIONS method.
        public static var method: HTTPMethod { .options }
    }
}

/// A GET request, which retrieves a resource.
public typealias Get<Success: Sendable> = TypedRequest<HTTPMethod.Get, Success>
/// A POST request, which lets the resource process the request's content.
public typealias Post<Success: Sendable> = TypedRequest<HTTPMethod.Post, Success>
/// A PUT request, which replaces the resource with the request's content.
public typealias Put<Success: Sendable> = TypedRequest<HTTPMethod.Put, Success>
/// A PATCH request, which changes a part of the resource.
public typealias Patch<Success: Sendable> = TypedRequest<HTTPMethod.Patch, Success>
/// A DELETE request, which removes the resource.
public typealias Delete<Success: Sendable> = TypedRequest<HTTPMethod.Delete, Success>
/// A HEAD request, whose response is like a GET response, but without the content.
public typealias Head<Success: Sendable> = TypedRequest<HTTPMethod.Head, Success>
/// An OPTIONS request, which queries the methods and options that the resource supports.
public typealias Options<Success: Sendable> = TypedRequest<HTTPMethod.Options, Success>

extension HTTPMethod {
    /// A tag for typed requests that always have the same method.
    ///
    /// The standard methods have tags already: ``Get`` to ``Options``. Another method takes two lines:
    ///
    /// ```swift
    /// enum Purge: HTTPMethod.Tag { static var method: HTTPMethod { "PURGE" } }
    /// let request = TypedRequest<Purge, Void>("images", "1")
    /// ```
    public protocol Tag: SendableMetatype {
        /// The method of the requests.
        static var method: HTTPMethod { get }
    }
}

extension TypedRequest where Tag: HTTPMethod.Tag {
    /// Creates a request for a path that is appended to the base URL of its client, or for an absolute URL.
    ///
    /// ```swift
    /// Get<[Post]>("users/\(id)/posts")
    /// Get<[Post]>("users", id, "posts")
    /// ```
    ///
    /// No value can change the structure of the path; see ``HTTPRequest/Path`` for how values are escaped.
    ///
    /// - Parameters:
    ///   - path: The path; by default, the path of the base URL itself.
    ///   - segments: Segments that are appended to the path; each value becomes exactly one segment, whatever it
    ///     contains.
    ///   - decoder: Creates the value from the response.
    public init(
        _ path: HTTPRequest.Path = "",
        _ segments: any Query.ValueConvertible...,
        decoding decoder: ResponseDecoder<Success>
    ) {
        self.init(path, segments, decoder)
    }

    /// Creates a request for a `URL`, a list of path segments, or a type of your own that provides a path.
    ///
    /// ```swift
    /// let owner = try await client.fetch(Get<User>(repo.ownerURL))
    /// ```
    ///
    /// A `URL` is used unchanged. An absolute URL bypasses the base URL. The request still inherits the client's
    /// settings. It inherits the client's credentials and query parameters only if the URL has the origin of the base
    /// URL.
    @_disfavoredOverload
    public init(
        _ path: some HTTPRequest.Path.Convertible,
        _ segments: any Query.ValueConvertible...,
        decoding decoder: ResponseDecoder<Success>
    ) {
        self.init(path, segments, decoder)
    }

    fileprivate init(
        _ path: some HTTPRequest.Path.Convertible,
        _ segments: [any Query.ValueConvertible],
        _ decoder: ResponseDecoder<Success>
    ) {
        // A `URL` needs no parsing.
        let url = segments.isEmpty ? path as? URL : nil
        let address = url.map { Address($0) } ?? Address(path.requestPath.appending(segments))
        self.init(HTTPRequest(address, method: Tag.method), decoding: decoder)
    }
}

extension TypedRequest where Tag: HTTPMethod.Tag, Success: Decodable {
    /// Creates a request whose response is JSON; see `init(_:_:decoding:)`.
    public init(_ path: HTTPRequest.Path = "", _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .json)
    }
    /// Creates a request whose response is JSON; see `init(_:_:decoding:)`.
    @_disfavoredOverload
    public init(_ path: some HTTPRequest.Path.Convertible, _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .json)
    }
}

extension TypedRequest where Tag: HTTPMethod.Tag, Success == String {
    /// Creates a request whose response is text; see `init(_:_:decoding:)`.
    public init(_ path: HTTPRequest.Path = "", _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .text)
    }
    /// Creates a request whose response is text; see `init(_:_:decoding:)`.
    @_disfavoredOverload
    public init(_ path: some HTTPRequest.Path.Convertible, _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .text)
    }
}

extension TypedRequest where Tag: HTTPMethod.Tag, Success == Data {
    /// Creates a request that returns the raw content of its response; see `init(_:_:decoding:)`.
    public init(_ path: HTTPRequest.Path = "", _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .data)
    }
    /// Creates a request that returns the raw content of its response; see `init(_:_:decoding:)`.
    @_disfavoredOverload
    public init(_ path: some HTTPRequest.Path.Convertible, _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .data)
    }
}

extension TypedRequest where Tag: HTTPMethod.Tag, Success == Void {
    /// Creates a request that ignores the content of its response; see `init(_:_:decoding:)`.
    public init(_ path: HTTPRequest.Path = "", _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .none)
    }
    /// Creates a request that ignores the content of its response; see `init(_:_:decoding:)`.
    @_disfavoredOverload
    public init(_ path: some HTTPRequest.Path.Convertible, _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .none)
    }
}

extension TypedRequest where Tag: HTTPMethod.Tag, Success: HTTPDecodableResponse {
    /// Creates a request whose value decodes itself from the response; see `init(_:_:decoding:)`.
    public init(_ path: HTTPRequest.Path = "", _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .custom)
    }
    /// Creates a request whose value decodes itself from the response; see `init(_:_:decoding:)`.
    @_disfavoredOverload
    public init(_ path: some HTTPRequest.Path.Convertible, _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .custom)
    }
}

extension TypedRequest where Tag: HTTPMethod.Tag, Success: Decodable & HTTPDecodableResponse {
    /// Creates a request whose value decodes itself from the response; see `init(_:_:decoding:)`.
    public init(_ path: HTTPRequest.Path = "", _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .custom)
    }
    /// Creates a request whose value decodes itself from the response; see `init(_:_:decoding:)`.
    @_disfavoredOverload
    public init(_ path: some HTTPRequest.Path.Convertible, _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .custom)
    }
}
