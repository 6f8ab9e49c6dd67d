// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

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
