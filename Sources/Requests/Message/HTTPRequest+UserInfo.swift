// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension HTTPRequest {
    /// An application's data about one request, for its own interceptors, validators and monitors, typed by key.
    ///
    /// ```swift
    /// enum Screen: HTTPRequest.UserInfo.Key { static let defaultValue = "none" }
    ///
    /// let profile = Get<User>("me").userInfo(Screen.self, "profile")
    /// // in an interceptor, an authenticator, a validator: context.userInfo[Screen.self]
    /// // in a monitor: operation.userInfo[Screen.self]; wherever there is a request: request.options.userInfo[Screen.self]
    /// ```
    ///
    /// Choose it for what belongs to one request and is the business of code that serves all of them: the screen that a
    /// monitor counts requests by, a permission that an interceptor asks about, a version that a validator judges by.
    /// What the server is to see belongs into the header fields or the query instead.
    ///
    /// It goes along with the request into its operation, and is the same for all of its attempts, redirects included.
    /// A copy of the request that an interceptor sends keeps its data; a new request starts without any. Nothing of it
    /// is sent, and the library doesn't look at it. It is no part of what makes two requests equal: requests that share
    /// a transfer keep theirs.
    ///
    /// It is a value: changing a copy leaves the request unchanged. Interceptors can read it, but can't pass data to
    /// each other with it.
    ///
    /// - Complexity: A look-up is O(1).
    public struct UserInfo: Sendable {
        private var values: [ObjectIdentifier: any Sendable] = [:]

        /// Makes a value in which every key has its default.
        public init() {}

        /// The value of a key.
        public subscript<Key: UserInfo.Key>(key: Key.Type) -> Key.Value {
            get { values[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
            set { values[ObjectIdentifier(key)] = newValue }
        }

        /// Returns the values of both; this one's take precedence.
        func over(_ other: UserInfo) -> UserInfo {
            var result = other
            result.values.merge(values) { $1 }
            return result
        }
    }
}

extension HTTPRequest.UserInfo {
    /// The key of a value in a ``HTTPRequest/UserInfo``: a type of your own, which needs no cases.
    public protocol Key: SendableMetatype {
        /// The type of the value.
        associatedtype Value: Sendable
        /// The value if none was set.
        static var defaultValue: Value { get }
    }
}

extension RequestOptions {
    // For the operation's own interceptors; it can't be compared, and copies are equal.
    private enum UserInfo: RequestOption {
        static let unset: IdentityEquatable<HTTPRequest.UserInfo>? = nil
        static let isPartOfFingerprint = false

        static func combine(_ value: Value, with base: Value) -> Value {
            guard let value, let base else { return value ?? base }
            return IdentityEquatable(value.value.over(base.value))
        }
    }

    /// Your data about the request, for your own interceptors, validators and monitors.
    public var userInfo: HTTPRequest.UserInfo {
        get { self[UserInfo.self]?.value ?? HTTPRequest.UserInfo() }
        set { self[UserInfo.self] = IdentityEquatable(newValue) }
    }

    /// Options with the same data about the request, and nothing else.
    var userInfoOnly: RequestOptions {
        var options = RequestOptions()
        options[UserInfo.self] = self[UserInfo.self]
        return options
    }
}
