// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension HTTPHeaders {
    /// Marks the fields as secrets that weren't there before credentials were added.
    mutating func markSecrets(addedTo headers: HTTPHeaders) {
        let known = Set(headers)
        markSecrets(Set(lazy.filter { !known.contains($0) }.map(\.name)))
    }
}
