// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestOptions {
    // A hint, on which no response depends.
    private enum HTTPPriority: RequestOption {
        static let unset: Double? = nil
        static let isPartOfFingerprint = false
    }

    /// The priority of the transfer among those of one connection, from 0 to 1; `nil` lets the transport decide.
    ///
    /// A `URLSession` uses it as the priority of its task, libcurl as the weight of an HTTP/2 stream. It is a hint.
    public var httpPriority: Double? {
        get { self[HTTPPriority.self] }
        set { self[HTTPPriority.self] = newValue }
    }

    private enum ConfigureTask: RequestOption {
        static let unset: IdentityEquatable<@Sendable (URLSessionTask) -> Void>? = nil
        static let isPartOfFingerprint = true
    }

    /// Changes the task of a `URLSession` before it is resumed.
    ///
    /// It is for features that only Foundation has, such as the expected byte count. Other transports don't call it.
    /// Called once for each transfer, on no particular thread.
    public var configureTask: (@Sendable (URLSessionTask) -> Void)? {
        get { self[ConfigureTask.self]?.value }
        set { self[ConfigureTask.self] = newValue.map(IdentityEquatable.init) }
    }
}
