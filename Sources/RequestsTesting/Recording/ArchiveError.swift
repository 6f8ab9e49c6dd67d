// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// Why an archive can't be read, or an entry of it can't be replayed: which entry, which field, what is wrong.
public struct ArchiveError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Which entry it is, counted from 0; nil where it is the whole.
    public let entry: Int?
    /// The method and the address of the entry, as far as they are known, without secrets.
    public let request: String?
    /// The field, such as `response.status`.
    public let field: String
    /// What is wrong with it, such as `is missing`.
    public let reason: String

    init(entry: Int? = nil, request: String? = nil, field: String, reason: String) {
        (self.entry, self.request, self.field, self.reason) = (entry, request, field, reason)
    }

    /// The error in a sentence, such as `entry 3 (GET https://example.com/): response.status is missing`.
    public var description: String {
        let place = entry.map { "entry \($0)\(request.map { " (\($0))" } ?? ""): " } ?? ""
        return "\(place)\(field) \(reason)"
    }
}
