// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The kinds of typed requests that have a method of HTTP for a name.
///
/// Each is a tag of ``TypedRequest``, and never has a value.
public enum RequestMethods {
    /// The kind of ``Get``.
    public enum Get: RequestMethod {
        /// The method of its name.
        public static var method: HTTPMethod { .get }
    }
    /// The kind of ``Post``.
    public enum Post: RequestMethod {
        /// The method of its name.
        public static var method: HTTPMethod { .post }
    }
    /// The kind of ``Put``.
    public enum Put: RequestMethod {
        /// The method of its name.
        public static var method: HTTPMethod { .put }
    }
    /// The kind of ``Patch``.
    public enum Patch: RequestMethod {
        /// The method of its name.
        public static var method: HTTPMethod { .patch }
    }
    /// The kind of ``Delete``.
    public enum Delete: RequestMethod {
        /// The method of its name.
        public static var method: HTTPMethod { .delete }
    }
    /// The kind of ``Head``.
    public enum Head: RequestMethod {
        /// The method of its name.
        public static var method: HTTPMethod { .head }
    }
    /// The kind of ``Options``.
    public enum Options: RequestMethod {
        /// The method of its name.
        public static var method: HTTPMethod { .options }
    }
}

/// A request that gets a resource.
public typealias Get<Success: Sendable> = TypedRequest<RequestMethods.Get, Success>
/// A request that has the resource process its content.
public typealias Post<Success: Sendable> = TypedRequest<RequestMethods.Post, Success>
/// A request that replaces the resource with its content.
public typealias Put<Success: Sendable> = TypedRequest<RequestMethods.Put, Success>
/// A request that changes a part of the resource.
public typealias Patch<Success: Sendable> = TypedRequest<RequestMethods.Patch, Success>
/// A request that removes the resource.
public typealias Delete<Success: Sendable> = TypedRequest<RequestMethods.Delete, Success>
/// A request for what a get would bring, without the content.
public typealias Head<Success: Sendable> = TypedRequest<RequestMethods.Head, Success>
/// A request for the options that the resource offers.
public typealias Options<Success: Sendable> = TypedRequest<RequestMethods.Options, Success>

/// A kind of typed request that always has the same method.
///
/// The seven usual ones are there: ``Get`` to ``Options``. Another is two lines:
///
/// ```swift
/// enum Purge: RequestMethod { static var method: HTTPMethod { "PURGE" } }
/// let request = TypedRequest<Purge, Void>("images", "1")
/// ```
public protocol RequestMethod {
    /// The method of the requests.
    static var method: HTTPMethod { get }
}

extension TypedRequest where Tag: RequestMethod {
    /// Makes a request for the resource at some path components, appended to the base URL of wherever it runs.
    ///
    /// Each component is one segment of the path, whatever characters it has: user input can't change the structure of
    /// the path. One that is `.`, or climbs with `..`, is refused when the request is built.
    ///
    /// - Parameters:
    ///   - components: The components of the path; none for the base URL itself.
    ///   - decoder: What to make of the answer.
    public init(_ components: some Sequence<String>, decoding decoder: ResponseDecoder<Success>) {
        self.init(HTTPRequest(components: Array(components), method: Tag.method), decoding: decoder)
    }

    /// Makes a request for the resource at some path components; the same as with an array, but for a first one with a
    /// slash, which is refused when the request is built.
    ///
    /// `Get("users/7")` is meant for a path, and would be one segment, `users%2F7`. Write `Get("users", "7")`, or
    /// `HTTPRequest("users/7")`, which takes a path as it is.
    public init(_ components: String..., decoding decoder: ResponseDecoder<Success>) {
        self.init(listed: components, decoding: decoder)
    }

    fileprivate init(listed components: [String], decoding decoder: ResponseDecoder<Success>) {
        self.init(HTTPRequest(listed: components, method: Tag.method), decoding: decoder)
    }
}

extension TypedRequest where Tag: RequestMethod, Success: Decodable {
    /// Makes a request whose answer is JSON; `init(_:decoding:)` tells about the components.
    public init(_ components: String...) { self.init(listed: components, decoding: .json) }
    /// Makes a request whose answer is JSON; `init(_:decoding:)` tells about the components.
    public init(_ components: some Sequence<String>) { self.init(components, decoding: .json) }
}

extension TypedRequest where Tag: RequestMethod, Success == String {
    /// Makes a request whose answer is text; `init(_:decoding:)` tells about the components.
    public init(_ components: String...) { self.init(listed: components, decoding: .text) }
    /// Makes a request whose answer is text; `init(_:decoding:)` tells about the components.
    public init(_ components: some Sequence<String>) { self.init(components, decoding: .text) }
}

extension TypedRequest where Tag: RequestMethod, Success == Data {
    /// Makes a request whose answer is left as it is; `init(_:decoding:)` tells about the components.
    public init(_ components: String...) { self.init(listed: components, decoding: .data) }
    /// Makes a request whose answer is left as it is; `init(_:decoding:)` tells about the components.
    public init(_ components: some Sequence<String>) { self.init(components, decoding: .data) }
}

extension TypedRequest where Tag: RequestMethod, Success == Void {
    /// Makes a request whose answer has no content that matters; `init(_:decoding:)` tells about the components.
    public init(_ components: String...) { self.init(listed: components, decoding: .none) }
    /// Makes a request whose answer has no content that matters; `init(_:decoding:)` tells about the components.
    public init(_ components: some Sequence<String>) { self.init(components, decoding: .none) }
}

extension TypedRequest where Tag: RequestMethod, Success: HTTPDecodableResponse {
    /// Makes a request whose answer decodes itself; `init(_:decoding:)` tells about the components.
    public init(_ components: String...) { self.init(listed: components, decoding: .custom) }
    /// Makes a request whose answer decodes itself; `init(_:decoding:)` tells about the components.
    public init(_ components: some Sequence<String>) { self.init(components, decoding: .custom) }
}

extension TypedRequest where Tag: RequestMethod, Success: Decodable & HTTPDecodableResponse {
    /// Makes a request whose answer decodes itself; `init(_:decoding:)` tells about the components.
    public init(_ components: String...) { self.init(listed: components, decoding: .custom) }
    /// Makes a request whose answer decodes itself; `init(_:decoding:)` tells about the components.
    public init(_ components: some Sequence<String>) { self.init(components, decoding: .custom) }
}
