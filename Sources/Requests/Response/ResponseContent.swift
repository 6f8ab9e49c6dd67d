// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The content of an answer on its way back through the chain: in memory, or already delivered elsewhere.
public enum ResponseContent: Sendable, Hashable {
    /// The content, in memory.
    case data(Data)
    /// The number of bytes that went to a file or to a stream's consumer as they arrived.
    case delivered(Int64)

    /// The content, if it is in memory.
    public var data: Data? {
        if case .data(let data) = self { data } else { nil }
    }
}
