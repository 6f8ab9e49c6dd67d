// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The content of a response as it passes back through the interceptor chain, in memory or already delivered elsewhere.
public enum ResponseContent: Sendable, Hashable {
    /// The content, in memory.
    case data(Data)
    /// The number of bytes that were delivered to a file or a stream's consumer as they arrived.
    case delivered(Int64)

    /// The content, if it is in memory.
    public var data: Data? {
        if case .data(let data) = self { data } else { nil }
    }
}
