// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The handle of a transfer that couldn't begin.
final class EndedTransfer: Transfer {
    func cancel() {}
}
