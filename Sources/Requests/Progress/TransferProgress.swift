// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The progress of a transfer.
///
/// The progress of one transfer never decreases, even if the transfer is retried or resumed. Its last value is exact.
public struct TransferProgress: Sendable, Hashable, CustomStringConvertible {
    /// The number of bytes transferred, including the bytes of earlier transfers.
    public var completed: Int64
    /// The number of bytes to transfer; `nil` if it is unknown.
    public var total: Int64?

    /// Creates a progress value.
    public init(completed: Int64, total: Int64? = nil) {
        self.completed = completed
        self.total = total
    }

    /// The completed fraction, from 0 to 1; `nil` if the total is unknown.
    ///
    /// The fraction is 1 if the total is zero.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(max(0, Double(completed) / Double(total)), 1) : 1
    }

    /// The bytes, such as `512 of 1024 bytes`.
    public var description: String {
        total.map { "\(completed) of \($0.counting("byte"))" } ?? completed.counting("byte")
    }
}

extension TransferProgress {
    /// The direction of a transfer.
    public enum Direction: Sendable, Hashable, CaseIterable {
        /// To the server: the content of the request.
        case upload
        /// From the server: the content of the response.
        case download
    }
}
