// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestOptions {
    // The priority isn't part of the fingerprint, because it is only a hint, and doesn't affect the response.
    private enum HTTPPriority: RequestOption {
        static let unset: Double? = nil
        static let isPartOfFingerprint = false
    }

    /// The priority of the transfer relative to other transfers on the same connection, from 0 to 1; `nil`, the
    /// default, lets the transport decide.
    ///
    /// The priority is a hint. A `URLSession` uses it as the priority of the task, and libcurl as the weight of the
    /// HTTP/2 stream.
    public var httpPriority: Double? {
        get { self[HTTPPriority.self] }
        set { self[HTTPPriority.self] = newValue }
    }

    private enum ConfigureTask: RequestOption {
        static let unset: IdentityEquatable<@Sendable (URLSessionTask) -> Void>? = nil
        static let isPartOfFingerprint = true
    }

    /// A closure that configures the task of a `URLSession` before it is resumed.
    ///
    /// Use this option for features that only Foundation has, such as the expected byte count. The closure is called
    /// once for each transfer, on any thread. Other transports don't call it.
    public var configureTask: (@Sendable (URLSessionTask) -> Void)? {
        get { self[ConfigureTask.self]?.value }
        set { self[ConfigureTask.self] = newValue.map(IdentityEquatable.init) }
    }
}
