// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

// Each is a tag of `TypedRequest`, and never has a value.
extension HTTPMethod {
    /// The kind of ``Get``.
    public enum Get: HTTPMethod.Tag {
        /// The method of its name.
        public static var method: HTTPMethod { .get }
    }
    /// The kind of ``Post``.
    public enum Post: HTTPMethod.Tag {
        /// The method of its name.
        public static var method: HTTPMethod { .post }
    }
    /// The kind of ``Put``.
    public enum Put: HTTPMethod.Tag {
        /// The method of its name.
        public static var method: HTTPMethod { .put }
    }
    /// The kind of ``Patch``.
    public enum Patch: HTTPMethod.Tag {
        /// The method of its name.
        public static var method: HTTPMethod { .patch }
    }
    /// The kind of ``Delete``.
    public enum Delete: HTTPMethod.Tag {
        /// The method of its name.
        public static var method: HTTPMethod { .delete }
    }
    /// The kind of ``Head``.
    public enum Head: HTTPMethod.Tag {
        /// The method of its name.
        public static var method: HTTPMethod { .head }
    }
    /// The kind of ``Options``.
    public enum Options: HTTPMethod.Tag {
        /// The method of its name.
        public static var method: HTTPMethod { .options }
    }
}

/// A request that gets a resource.
public typealias Get<Success: Sendable> = TypedRequest<HTTPMethod.Get, Success>
/// A request that has the resource process its content.
public typealias Post<Success: Sendable> = TypedRequest<HTTPMethod.Post, Success>
/// A request that replaces the resource with its content.
public typealias Put<Success: Sendable> = TypedRequest<HTTPMethod.Put, Success>
/// A request that changes a part of the resource.
public typealias Patch<Success: Sendable> = TypedRequest<HTTPMethod.Patch, Success>
/// A request that removes the resource.
public typealias Delete<Success: Sendable> = TypedRequest<HTTPMethod.Delete, Success>
/// A request for what a get would bring, without the content.
public typealias Head<Success: Sendable> = TypedRequest<HTTPMethod.Head, Success>
/// A request for the options that the resource offers.
public typealias Options<Success: Sendable> = TypedRequest<HTTPMethod.Options, Success>

extension HTTPMethod {
    /// A kind of typed request that always has the same method.
    ///
    /// The seven usual ones are there: ``Get`` to ``Options``. Another is two lines:
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
    /// Makes a request for the resource at a path, appended to the base URL of wherever it runs, or at an absolute
    /// address.
    ///
    /// ```swift
    /// Get<[Post]>("users/\(id)/posts")
    /// Get<[Post]>("users", id, "posts")
    /// ```
    ///
    /// No value can change the structure of the path; ``HTTPRequest/Path`` has the rules for those in it.
    ///
    /// - Parameters:
    ///   - path: The path; by default that of the base URL itself.
    ///   - segments: Segments behind the path, each of which is one segment, whatever it holds.
    ///   - decoder: Makes the value of the response.
    public init(
        _ path: HTTPRequest.Path = "",
        _ segments: any Query.ValueConvertible...,
        decoding decoder: ResponseDecoder<Success>
    ) {
        self.init(path, segments, decoder)
    }

    /// Makes a request for the resource at a `URL`, at a list of segments, or at the address of a type of yours.
    ///
    /// ```swift
    /// let owner = try await client.fetch(Get<User>(repo.ownerURL))
    /// ```
    ///
    /// A `URL` is used unchanged. An absolute one bypasses the base URL: it gets what the client has for every request,
    /// but the client's credentials and query parameters only at the origin of the base URL.
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
    /// Makes a request whose answer is JSON; see `init(_:_:decoding:)`.
    public init(_ path: HTTPRequest.Path = "", _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .json)
    }
    /// Makes a request whose answer is JSON; see `init(_:_:decoding:)`.
    @_disfavoredOverload
    public init(_ path: some HTTPRequest.Path.Convertible, _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .json)
    }
}

extension TypedRequest where Tag: HTTPMethod.Tag, Success == String {
    /// Makes a request whose answer is text; see `init(_:_:decoding:)`.
    public init(_ path: HTTPRequest.Path = "", _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .text)
    }
    /// Makes a request whose answer is text; see `init(_:_:decoding:)`.
    @_disfavoredOverload
    public init(_ path: some HTTPRequest.Path.Convertible, _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .text)
    }
}

extension TypedRequest where Tag: HTTPMethod.Tag, Success == Data {
    /// Makes a request whose answer is left as it is; see `init(_:_:decoding:)`.
    public init(_ path: HTTPRequest.Path = "", _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .data)
    }
    /// Makes a request whose answer is left as it is; see `init(_:_:decoding:)`.
    @_disfavoredOverload
    public init(_ path: some HTTPRequest.Path.Convertible, _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .data)
    }
}

extension TypedRequest where Tag: HTTPMethod.Tag, Success == Void {
    /// Makes a request whose answer has no content that matters; see `init(_:_:decoding:)`.
    public init(_ path: HTTPRequest.Path = "", _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .none)
    }
    /// Makes a request whose answer has no content that matters; see `init(_:_:decoding:)`.
    @_disfavoredOverload
    public init(_ path: some HTTPRequest.Path.Convertible, _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .none)
    }
}

extension TypedRequest where Tag: HTTPMethod.Tag, Success: HTTPDecodableResponse {
    /// Makes a request whose answer decodes itself; see `init(_:_:decoding:)`.
    public init(_ path: HTTPRequest.Path = "", _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .custom)
    }
    /// Makes a request whose answer decodes itself; see `init(_:_:decoding:)`.
    @_disfavoredOverload
    public init(_ path: some HTTPRequest.Path.Convertible, _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .custom)
    }
}

extension TypedRequest where Tag: HTTPMethod.Tag, Success: Decodable & HTTPDecodableResponse {
    /// Makes a request whose answer decodes itself; see `init(_:_:decoding:)`.
    public init(_ path: HTTPRequest.Path = "", _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .custom)
    }
    /// Makes a request whose answer decodes itself; see `init(_:_:decoding:)`.
    @_disfavoredOverload
    public init(_ path: some HTTPRequest.Path.Convertible, _ segments: any Query.ValueConvertible...) {
        self.init(path, segments, .custom)
    }
}
