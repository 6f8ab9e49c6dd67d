// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension ASCIISet {
    /// Appends a string, percent-encoding all bytes that aren't members of the set.
    ///
    /// - Parameters:
    ///   - text: The string.
    ///   - output: The bytes to append to.
    ///   - keepsTriplets: Whether `%XX` is kept, because the string is already percent-encoded.
    ///   - spaces: How a space is encoded.
    /// - Complexity: O(n) in the length of the string.
    func append(
        _ text: String,
        to output: inout [UInt8],
        keepsTriplets: Bool = false,
        spaces: Query.Spaces = .percent
    ) {
        var text = text
        text.withUTF8 { bytes in
            // Appending all bytes with one call takes half the time of appending them one by one.
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 3 * bytes.count) { encoded in
                var count = 0
                func add(_ byte: UInt8) {
                    encoded[count] = byte
                    count += 1
                }
                for (index, byte) in bytes.enumerated() {
                    if contains(byte) || keepsTriplets && bytes.isTriplet(at: index) {
                        add(byte)
                    } else if byte == UInt8(ascii: " "), spaces == .plus {
                        add(UInt8(ascii: "+"))
                    } else {
                        add(UInt8(ascii: "%"))
                        add((byte >> 4).hexDigit(uppercase: true))
                        add((byte & 15).hexDigit(uppercase: true))
                    }
                }
                output.append(contentsOf: UnsafeMutableBufferPointer(rebasing: encoded[..<count]))
            }
        }
    }

    /// Percent-encodes all bytes of a string that aren't members of the set.
    func encode(_ text: String, keepsTriplets: Bool = false) -> String {
        guard !containsAll(text) else { return text }
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count * 2)
        append(text, to: &output, keepsTriplets: keepsTriplets)
        return String(decoding: output, as: UTF8.self)
    }
}

extension RandomAccessCollection<UInt8> where Index == Int {
    /// Returns whether a `%XX` begins at the index.
    func isTriplet(at index: Int) -> Bool { triplet(at: index) != nil }

    /// Returns the byte that the `%XX` at the index stands for, or `nil` if no `%XX` begins there.
    func triplet(at index: Int) -> UInt8? {
        guard endIndex - index > 2, self[index] == UInt8(ascii: "%"), let high = self[index + 1].hexValue,
            let low = self[index + 2].hexValue
        else { return nil }
        return high << 4 | low
    }

    /// Decodes each `%XX`, and keeps a `%` that isn't followed by two hexadecimal digits.
    ///
    /// - Parameters:
    ///   - spaces: The meaning of a `+`.
    ///   - kept: The bytes whose `%XX` isn't decoded; none by default.
    /// - Returns: The decoded bytes.
    /// - Complexity: O(n) in the number of bytes.
    func percentDecoded(spaces: Query.Spaces = .percent, keeping kept: ASCIISet? = nil) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(count)
        var index = startIndex
        while index < endIndex {
            let byte = self[index]
            if byte == UInt8(ascii: "%"), let decoded = triplet(at: index), kept?.contains(decoded) != true {
                output.append(decoded)
                index += 3
            } else {
                output.append(byte == UInt8(ascii: "+") && spaces == .plus ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        return output
    }
}
