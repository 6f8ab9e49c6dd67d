// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// What an application tells its own interceptors, validators and monitors about one request, typed by key.
///
/// ```swift
/// enum Screen: UserInfoKey { static let defaultValue = "none" }
///
/// let profile = Get<User>("me").userInfo(Screen.self, "profile")
/// // in an interceptor, a validator: context.userInfo[Screen.self]; in a monitor: operation.userInfo[Screen.self]
/// ```
///
/// Nothing of it is sent, and the library doesn't look at it. It is no part of what makes two requests equal.
public struct UserInfo: Sendable {
    private var values: [ObjectIdentifier: any Sendable] = [:]

    /// Makes one in which every key has its default.
    public init() {}

    /// The value of a key.
    public subscript<Key: UserInfoKey>(key: Key.Type) -> Key.Value {
        get { values[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
        set { values[ObjectIdentifier(key)] = newValue }
    }

    /// The values of both; where both have one, that of this one.
    func over(_ other: UserInfo) -> UserInfo {
        var result = other
        result.values.merge(values) { $1 }
        return result
    }
}

/// The key of a value in a ``UserInfo``: a type of your own, which needs no cases.
public protocol UserInfoKey {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The value where none was set.
    static var defaultValue: Value { get }
}
