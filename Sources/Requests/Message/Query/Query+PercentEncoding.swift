// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Query {
    /// How a space is written, and what a `+` means.
    ///
    /// In an address a `+` is a plus sign (RFC 3986), in a form it is a space (WHATWG URL, 5). Many servers read both
    /// as forms are read; so what is printed here always has a plus sign as `%2B`, and the only question is the space.
    public enum Spaces: Sendable, Hashable {
        /// As `%20`, which is right everywhere; a `+` that is read is a plus sign.
        case percent
        /// As `+`; a `+` that is read is a space.
        case plus
    }

    /// Reads a query as it stands in an address, without its `?`.
    ///
    /// It never fails: a `%` that begins no `%XX` stands for itself, bytes that are no UTF-8 become U+FFFD, and a piece
    /// between two `&` that is empty is passed over. Reading what ``percentEncoded`` printed gives the same items.
    ///
    /// - Parameters:
    ///   - text: The query.
    ///   - spaces: What a `+` means: by default a plus sign. The query keeps that, and will be printed in the same way.
    /// - Complexity: O(n).
    public init(percentEncoded text: String, spaces: Spaces = .percent) {
        let items = Array(text.utf8).split(separator: UInt8(ascii: "&")).map { piece in
            let name = piece.prefix { $0 != UInt8(ascii: "=") }
            let value = name.endIndex < piece.endIndex ? piece[(name.endIndex + 1)...] : nil
            return Item(
                String(decoding: name.percentDecoded(spaces: spaces), as: UTF8.self),
                value: value.map { String(decoding: $0.percentDecoded(spaces: spaces), as: UTF8.self) }
            )
        }
        self.init(items, spaces: spaces)
    }

    /// The query as it stands in an address, without its `?`; empty where there are no items.
    ///
    /// Unreserved characters, `/` and `?` stay as they are (RFC 3986, 3.4), all others are escaped, the plus sign and
    /// brackets too. An item without name and value says nothing, and isn't printed.
    ///
    /// - Complexity: O(n) in the length of the query.
    public var percentEncoded: String { percentEncoded(spaces: spaces) }

    /// The query as it stands in an address, with spaces as they are wanted here.
    ///
    /// - Complexity: O(n) in the length of the query.
    public func percentEncoded(spaces: Spaces) -> String {
        String(decoding: encoded(with: .queryItem, spaces: spaces, isForm: false), as: UTF8.self)
    }

    /// The query as the content of a form: `application/x-www-form-urlencoded` (WHATWG URL, 5.2).
    ///
    /// Letters, digits and `*-._` stay as they are, a space becomes `+`, and a name without a value gets an empty one,
    /// since forms know no other.
    ///
    /// - Complexity: O(n) in the length of the query.
    public var formEncoded: Data { Data(encoded(with: .form, spaces: .plus, isForm: true)) }

    private func encoded(with encoding: PercentEncoding, spaces: Spaces, isForm: Bool) -> [UInt8] {
        var output: [UInt8] = []
        for item in self where isForm || !item.name.isEmpty || item.value != nil {
            if !output.isEmpty { output.append(UInt8(ascii: "&")) }
            encoding.append(item.name, to: &output, spaces: spaces)
            guard let value = item.value ?? (isForm ? "" : nil) else { continue }
            output.append(UInt8(ascii: "="))
            encoding.append(value, to: &output, spaces: spaces)
        }
        return output
    }
}
