// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension BinaryInteger {
    /// Returns the count with a noun, which is in the plural unless the count is 1, such as `2 requests`.
    package func counting(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
