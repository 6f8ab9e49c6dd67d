// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension BinaryInteger {
    /// The number with its unit, such as `1 byte` or `2 bytes`.
    var inBytes: String { "\(self) byte\(self == 1 ? "" : "s")" }
}
