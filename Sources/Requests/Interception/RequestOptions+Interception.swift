// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// These lists aren't part of the fingerprint, because each operation that shares a transfer applies its own lists. The
// elements can't be compared, so only copies of one list are equal.
extension RequestOptions {
    private enum Conditions: RequestListOption {
        typealias Element = any RequestCondition
        static let isPartOfFingerprint = false
    }

    /// The conditions that must hold when the operation starts, checked after those of the environment.
    public var conditions: [any RequestCondition] {
        get { self[list: Conditions.self] }
        set { self[list: Conditions.self] = newValue }
    }

    private enum Interceptors: RequestListOption {
        typealias Element = any Interceptor
        static let isPartOfFingerprint = false
    }

    /// The interceptors of the request, which run after those of the environment.
    public var interceptors: [any Interceptor] {
        get { self[list: Interceptors.self] }
        set { self[list: Interceptors.self] = newValue }
    }

    private enum BypassedInterceptors: RequestListOption {
        typealias Element = any Interceptor.Type
        static let isPartOfFingerprint = false
    }

    /// The types of the interceptors that aren't applied to the request.
    public var bypassedInterceptors: [any Interceptor.Type] {
        get { self[list: BypassedInterceptors.self] }
        set { self[list: BypassedInterceptors.self] = newValue }
    }

    private enum Validators: RequestListOption {
        typealias Element = any ResponseValidator
        static let isPartOfFingerprint = false
    }

    /// The validators of the response, which run after those of the environment.
    public var validators: [any ResponseValidator] {
        get { self[list: Validators.self] }
        set { self[list: Validators.self] = newValue }
    }
}

extension RequestOptions {
    // This option isn't part of the fingerprint, which already contains the header fields that depend on it.
    private enum IsUnauthenticated: RequestOption {
        static let unset = false
        static let isPartOfFingerprint = false
    }

    /// Whether the request bypasses the built-in interceptors for credentials, and omits the environment's
    /// `Authorization` field; `false` by default.
    public var isUnauthenticated: Bool {
        get { self[IsUnauthenticated.self] }
        set { self[IsUnauthenticated.self] = newValue }
    }

    private enum Retry: RequestOption {
        static let unset: RetryPolicy? = nil
        static let isPartOfFingerprint = false
    }

    /// The policy for retrying the request.
    public var retry: RetryPolicy? {
        get { self[Retry.self] }
        set { self[Retry.self] = newValue }
    }
}
