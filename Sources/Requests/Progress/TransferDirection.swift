// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Which way content goes.
public enum TransferDirection: Sendable, Hashable, CaseIterable {
    /// To the server: the content of the request.
    case upload
    /// From the server: the content of the response.
    case download
}
