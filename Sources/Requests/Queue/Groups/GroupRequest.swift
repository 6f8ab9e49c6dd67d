// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The request type of a group's operation; a group request is never sent.
public struct GroupRequest<Success: Sendable>: Request {
    /// A unique identifier.
    public let identifier = UUID().uuidString
    let typeName: String
}
