// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// Each operation that shares a transfer has its own. None can be compared: copies of a list are equal.
extension RequestOptions {
    private enum Conditions: RequestListOption {
        typealias Element = any RequestCondition
        static let isPartOfFingerprint = false
    }

    /// The conditions for starting the operation's work, checked after those of the environment.
    public var conditions: [any RequestCondition] {
        get { self[list: Conditions.self] }
        set { self[list: Conditions.self] = newValue }
    }

    private enum Interceptors: RequestListOption {
        typealias Element = any Interceptor
        static let isPartOfFingerprint = false
    }

    /// The interceptors, which change the request and the response, and decide about retries, after those of the
    /// environment.
    public var interceptors: [any Interceptor] {
        get { self[list: Interceptors.self] }
        set { self[list: Interceptors.self] = newValue }
    }

    private enum BypassedInterceptors: RequestListOption {
        typealias Element = any Interceptor.Type
        static let isPartOfFingerprint = false
    }

    /// The types of interceptors that the request bypasses.
    public var bypassedInterceptors: [any Interceptor.Type] {
        get { self[list: BypassedInterceptors.self] }
        set { self[list: BypassedInterceptors.self] = newValue }
    }

    private enum Validators: RequestListOption {
        typealias Element = any ResponseValidator
        static let isPartOfFingerprint = false
    }

    /// The validators, which judge the response, after those of the environment.
    public var validators: [any ResponseValidator] {
        get { self[list: Validators.self] }
        set { self[list: Validators.self] = newValue }
    }
}

extension RequestOptions {
    // Decides about header fields, which requests are compared by.
    private enum IsUnauthenticated: RequestOption {
        static let unset = false
        static let isPartOfFingerprint = false
    }

    /// Whether the request bypasses the interceptors that add credentials, and leaves out an `Authorization` field of
    /// the environment; false by default.
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
