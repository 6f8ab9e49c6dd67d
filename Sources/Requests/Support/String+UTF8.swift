// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension String {
    /// Reads UTF-8; nil where it isn't.
    ///
    /// The standard library's own `init(validating:as:)` asks for newer systems than this library does.
    ///
    /// - Complexity: O(n) in the number of the bytes.
    init?(utf8 bytes: some Collection<UInt8>) {
        self.init(decoding: bytes, as: UTF8.self)
        // What isn't UTF-8 was repaired, and is made of other bytes then.
        guard utf8.elementsEqual(bytes) else { return nil }
    }
}
