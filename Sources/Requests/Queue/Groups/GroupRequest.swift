// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The request type of a group's operation, which is never sent.
public struct GroupRequest<Success: Sendable>: Request {
    /// A unique name.
    public let identifier = UUID().uuidString
    let typeName: String
}
