// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A multipart message that is ready to be written, any number of times.
struct MultipartMessage: Sendable {
    /// Says what to write; each writing begins with a copy.
    let serializer: MultipartSerializer
    /// What the parts contain, of which those are read that aren't in memory.
    let contents: [HTTPBody.Content]
    /// The boundary, where it may stand in what is read by chance or intent, and has to be looked for.
    let guardedBoundary: String?
}
