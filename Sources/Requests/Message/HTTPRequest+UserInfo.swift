// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension HTTPRequest {
    /// Application-defined data about one request, for the application's own interceptors, validators and monitors.
    ///
    /// ```swift
    /// enum Screen: HTTPRequest.UserInfo.Key { static let defaultValue = "none" }
    ///
    /// let profile = Get<User>("me").userInfo(Screen.self, "profile")
    /// // in an interceptor, authenticator or validator: context.userInfo[Screen.self]
    /// // in a monitor: operation.userInfo[Screen.self]; with a request: request.options.userInfo[Screen.self]
    /// ```
    ///
    /// Declare a key type for each value. User info suits data that belongs to one request and is read by code that
    /// handles all requests. Examples are the screen that a monitor counts requests for, a permission that an
    /// interceptor checks, or a version that a validator compares. Data for the server belongs in the header fields or
    /// the query instead.
    ///
    /// The data travels with the request into its operation, and is the same for all attempts and redirects. If an
    /// interceptor sends a copy of the request, the copy keeps its data; a new request starts without any. The library
    /// never sends or interprets the data. User info doesn't affect whether two requests are equal, so requests that
    /// share a transfer keep their own data.
    ///
    /// `UserInfo` is a value type, so changing a copy doesn't affect the request. Interceptors can read the data, but
    /// can't use it to pass data to each other.
    ///
    /// - Complexity: A look-up is O(1).
    public struct UserInfo: Sendable {
        private var values: [ObjectIdentifier: any Sendable] = [:]

        /// Creates user info in which every key has its default value.
        public init() {}

        /// Accesses the value of a key.
        public subscript<Key: UserInfo.Key>(key: Key.Type) -> Key.Value {
            get { values[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
            set { values[ObjectIdentifier(key)] = newValue }
        }

        /// Returns the values of both; if both have a value for a key, the value of `self` takes precedence.
        func over(_ other: UserInfo) -> UserInfo {
            var result = other
            result.values.merge(values) { $1 }
            return result
        }
    }
}

extension HTTPRequest.UserInfo {
    /// The key of a value in a ``HTTPRequest/UserInfo``.
    ///
    /// Declare a type for each key, such as an enum without cases.
    public protocol Key: SendableMetatype {
        /// The type of the value.
        associatedtype Value: Sendable
        /// The value if none has been set.
        static var defaultValue: Value { get }
    }
}

extension RequestOptions {
    // User info is for the operation's own interceptors, so it isn't part of the fingerprint. Its values can't be
    // compared, so only copies of the same user info are equal.
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

    /// New options with the same user info, and nothing else.
    var userInfoOnly: RequestOptions {
        var options = RequestOptions()
        options[UserInfo.self] = self[UserInfo.self]
        return options
    }
}
