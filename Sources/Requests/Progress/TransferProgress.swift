// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// How far a transfer has come.
///
/// Of one transfer, it never goes back, also when it is retried or goes on with what was there; and the last one is
/// exact.
public struct TransferProgress: Sendable, Hashable, CustomStringConvertible {
    /// How many bytes are transferred, with those that a transfer before had.
    public var completed: Int64
    /// How many there are to transfer; nil where nobody knows.
    public var total: Int64?

    /// Makes a progress.
    public init(completed: Int64, total: Int64? = nil) {
        self.completed = completed
        self.total = total
    }

    /// How much of the whole is done, from 0 to 1; nil where nobody knows how much that is.
    ///
    /// Of nothing, all is done.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(max(0, Double(completed) / Double(total)), 1) : 1
    }

    /// The bytes, such as `512 of 1024 bytes`.
    public var description: String {
        total.map { "\(completed) of \($0) bytes" } ?? "\(completed) bytes"
    }
}
