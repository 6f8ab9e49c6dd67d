// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

// MARK: Time and size

extension RequestOptions {
    private enum Timeout: RequestOption {
        static let unset: Duration? = nil
        static let isPartOfFingerprint = false
    }

    /// The maximum time without data.
    public var timeout: Duration? {
        get { self[Timeout.self] }
        set { self[Timeout.self] = newValue }
    }

    // Each operation that shares a transfer has its own deadline.
    private enum Deadline: RequestOption {
        static let unset: Duration? = nil
        static let isPartOfFingerprint = false
    }

    /// The maximum time of the operation from its creation, including the time in the queue, retries and backoff.
    ///
    /// If the request is created from the results of other operations, the time begins when the request is created.
    public var deadline: Duration? {
        get { self[Deadline.self] }
        set { self[Deadline.self] = newValue }
    }

    // A shared transfer has the largest limit, and each operation checks its own limit.
    private enum MaximumBodySize: RequestOption {
        static let unset: Int? = nil
        static let isPartOfFingerprint = false
    }

    /// The maximum byte count of content in memory, after decoding.
    public var maximumBodySize: Int? {
        get { self[MaximumBodySize.self] }
        set { self[MaximumBodySize.self] = newValue }
    }

    private enum MaximumHeadSize: RequestOption {
        static let unset: Int? = nil
        static let isPartOfFingerprint = false
    }

    /// The maximum byte count of the response's head.
    public var maximumHeadSize: Int? {
        get { self[MaximumHeadSize.self] }
        set { self[MaximumHeadSize.self] = newValue }
    }
}

// MARK: Status

// Each operation that shares a transfer validates the response itself.
extension RequestOptions {
    private enum ValidatesStatus: RequestOption {
        static let unset = true
        static let isPartOfFingerprint = false
    }

    /// Whether a status that isn't accepted is a failure; true by default.
    ///
    /// If it is false, the request's `process` receives every response.
    public var validatesStatus: Bool {
        get { self[ValidatesStatus.self] }
        set { self[ValidatesStatus.self] = newValue }
    }

    private enum ValidStatusCodes: RequestOption {
        static let unset: [Int]? = nil
        static let isPartOfFingerprint = false
    }

    /// The accepted statuses, instead of the statuses that the request declares; `nil` uses the declared statuses.
    public var validStatusCodes: [Int]? {
        get { self[ValidStatusCodes.self] }
        set { self[ValidStatusCodes.self] = newValue }
    }
}

// MARK: The operation

extension RequestOptions {
    // A shared transfer has the highest priority of its operations.
    private enum Priority: RequestOption {
        static let unset: Operation.QueuePriority? = nil
        static let isPartOfFingerprint = false
    }

    /// The priority of the operation in its queue; `nil` leaves the choice to the code that adds the operation.
    public var priority: Operation.QueuePriority? {
        get { self[Priority.self] }
        set { self[Priority.self] = newValue }
    }

    private enum Tag: RequestOption {
        static let unset: String? = nil
        static let isPartOfFingerprint = false
    }

    /// The name that monitors and graphs display.
    public var tag: String? {
        get { self[Tag.self] }
        set { self[Tag.self] = newValue }
    }
}

// MARK: Header fields

// Header options aren't part of the fingerprint, because they have taken effect before requests are compared.
extension RequestOptions {
    private enum SensitiveHeaders: RequestOption {
        static let unset: Set<HTTPField.Name> = []
        static let isPartOfFingerprint = false
        static func combine(_ value: Value, with base: Value) -> Value { value.union(base) }
    }

    /// Header fields whose values are secrets, in addition to well-known fields and the environment's fields.
    ///
    /// Their values are hidden in all descriptions.
    public var sensitiveHeaders: Set<HTTPField.Name> {
        get { self[SensitiveHeaders.self] }
        set { self[SensitiveHeaders.self] = newValue }
    }

    private enum OmittedHeaders: RequestOption {
        static let unset: Set<HTTPField.Name> = []
        static let isPartOfFingerprint = false
        static func combine(_ value: Value, with base: Value) -> Value { value.union(base) }
    }

    /// Header fields of the environment that the request omits; none by default.
    public var omittedHeaders: Set<HTTPField.Name> {
        get { self[OmittedHeaders.self] }
        set { self[OmittedHeaders.self] = newValue }
    }

    private enum CrossOriginHeaders: RequestOption {
        static let unset: Set<HTTPField.Name> = []
        static let isPartOfFingerprint = false
        static func combine(_ value: Value, with base: Value) -> Value { value.union(base) }
    }

    /// Header fields that follow the request to another origin, in addition to harmless fields and the environment's
    /// fields.
    ///
    /// For details, see ``RequestEnvironment/Settings/crossOriginHeaders``.
    public var crossOriginHeaders: Set<HTTPField.Name> {
        get { self[CrossOriginHeaders.self] }
        set { self[CrossOriginHeaders.self] = newValue }
    }
}

// MARK: Changes

extension RequestOptions {
    // The changes aren't part of the fingerprint, because they are already part of the sent request.
    private enum Changes: RequestListOption {
        typealias Element = @Sendable (inout HTTPRequest) -> Void
        static let isPartOfFingerprint = false
    }

    /// The changes that modifiers make to the sent request, in order; used by requests that don't store an
    /// `HTTPRequest`.
    package var changes: [@Sendable (inout HTTPRequest) -> Void] {
        get { self[list: Changes.self] }
        set { self[list: Changes.self] = newValue }
    }

    /// Whether modifiers have recorded changes.
    var hasChanges: Bool { self[Changes.self] != nil }

    /// Applies the changes that modifiers have recorded.
    func change(_ request: inout HTTPRequest) {
        for change in changes { change(&request) }
    }
}
