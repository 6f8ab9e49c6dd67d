// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension JSONValue {
    /// The value as JSON text (RFC 8259), members in the order of their names, so that equal values are equal texts.
    ///
    /// Unlike an encoder it can't fail: a number that isn't finite, which JSON has none of, is written as null.
    ///
    /// - Complexity: O(n log n) in the number of members.
    var serialized: Data {
        var output: [UInt8] = []
        write(to: &output, indentation: nil)
        return Data(output)
    }

    /// The value as JSON text for people and version control: as ``serialized``, with a line for each member and
    /// element.
    ///
    /// - Complexity: O(n log n) in the number of members.
    package var indented: Data {
        var output: [UInt8] = []
        write(to: &output, indentation: 0)
        output.append(UInt8(ascii: "\n"))
        return Data(output)
    }

    private func write(to output: inout [UInt8], indentation: Int?) {
        switch self {
        case .null: output += "null".utf8
        case .bool(let value): output += (value ? "true" : "false").utf8
        case .integer(let value): output += value.description.utf8
        case .double(let value): output += (value.isFinite ? value.description : "null").utf8
        case .string(let value): Self.write(value, to: &output)
        case .array(let elements): Self.write(elements.map { (nil, $0) }, in: "[]", to: &output, indentation)
        case .object(let members):
            Self.write(members.sorted { $0.key < $1.key }.map { ($0, $1) }, in: "{}", to: &output, indentation)
        }
    }

    private static func write(
        _ items: [(name: String?, value: JSONValue)],
        in brackets: String,
        to output: inout [UInt8],
        _ indentation: Int?
    ) {
        let inner = indentation.map { $0 + 2 }
        func breakLine(_ count: Int?) {
            guard let count, !items.isEmpty else { return }
            output.append(UInt8(ascii: "\n"))
            output += repeatElement(UInt8(ascii: " "), count: count)
        }
        output += brackets.utf8.prefix(1)
        for (index, item) in items.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            breakLine(inner)
            if let name = item.name {
                write(name, to: &output)
                output += (inner == nil ? ":" : ": ").utf8
            }
            item.value.write(to: &output, indentation: inner)
        }
        breakLine(indentation)
        output += brackets.utf8.suffix(1)
    }

    private static func write(_ text: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += [UInt8(ascii: "\\"), byte]
            case 0..<0x20, 0x7F: output += "\\u00\([byte].hexadecimal)".utf8
            default: output.append(byte)
            }
        }
        output.append(UInt8(ascii: "\""))
    }
}
