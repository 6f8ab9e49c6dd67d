// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// Each operation that shares a transfer has its own. None can be compared: copies of a list are equal.
extension RequestOptions {
    private enum Conditions: RequestOption {
        static let unset: Identified<[any RequestCondition]>? = nil
        static let isPartOfFingerprint = false

        static func combine(_ value: Value, with base: Value) -> Value {
            Identified((base?.value ?? []) + (value?.value ?? []))
        }
    }

    /// The conditions for starting the operation's work, checked after those of the environment.
    public var conditions: [any RequestCondition] {
        get { self[Conditions.self]?.value ?? [] }
        set { self[Conditions.self] = newValue.isEmpty ? nil : Identified(newValue) }
    }

    private enum Interceptors: RequestOption {
        static let unset: Identified<[any Interceptor]>? = nil
        static let isPartOfFingerprint = false

        static func combine(_ value: Value, with base: Value) -> Value {
            Identified((base?.value ?? []) + (value?.value ?? []))
        }
    }

    /// The interceptors, which change the request and the response, and decide about retries, after those of the
    /// environment.
    public var interceptors: [any Interceptor] {
        get { self[Interceptors.self]?.value ?? [] }
        set { self[Interceptors.self] = newValue.isEmpty ? nil : Identified(newValue) }
    }

    private enum BypassedInterceptors: RequestOption {
        static let unset: Identified<[any Interceptor.Type]>? = nil
        static let isPartOfFingerprint = false

        static func combine(_ value: Value, with base: Value) -> Value {
            Identified((base?.value ?? []) + (value?.value ?? []))
        }
    }

    /// The types of interceptors that the request bypasses.
    public var bypassedInterceptors: [any Interceptor.Type] {
        get { self[BypassedInterceptors.self]?.value ?? [] }
        set { self[BypassedInterceptors.self] = newValue.isEmpty ? nil : Identified(newValue) }
    }

    private enum Validators: RequestOption {
        static let unset: Identified<[any ResponseValidator]>? = nil
        static let isPartOfFingerprint = false

        static func combine(_ value: Value, with base: Value) -> Value {
            Identified((base?.value ?? []) + (value?.value ?? []))
        }
    }

    /// The validators, which judge the response, after those of the environment.
    public var validators: [any ResponseValidator] {
        get { self[Validators.self]?.value ?? [] }
        set { self[Validators.self] = newValue.isEmpty ? nil : Identified(newValue) }
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
