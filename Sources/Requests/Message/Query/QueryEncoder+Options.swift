// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension QueryEncoder {
    /// How the members of a list are named.
    public enum Arrays: Sendable {
        /// As `tags[]`, each.
        case brackets
        /// As `tags`, each.
        case noBrackets
        /// As `tags[0]`, `tags[1]`, …
        case indexed
        /// As the closure says, of the name of the list and the index of the member.
        case custom(@Sendable (_ name: String, _ index: Int) -> String)

        func name(ofMember index: Int, in name: String) -> String {
            switch self {
            case .brackets: "\(name)[]"
            case .noBrackets: name
            case .indexed: "\(name)[\(index)]"
            case .custom(let closure): closure(name, index)
            }
        }
    }

    /// How a bool is written.
    public enum Bools: Sendable, Hashable {
        /// As `true` or `false`.
        case literal
        /// As `1` or `0`.
        case numeric

        func text(of value: Bool) -> String {
            switch self {
            case .literal: value ? "true" : "false"
            case .numeric: value ? "1" : "0"
            }
        }
    }

    /// How a date is written.
    public enum Dates: Sendable {
        /// As `2026-07-11T08:30:00Z`, in UTC, to the second; an error outside the years 0 to 9999.
        case iso8601
        /// As seconds since 1970, with a fraction where there is one.
        case secondsSince1970
        /// As milliseconds since 1970, without a fraction.
        case millisecondsSince1970
        /// As the date encodes itself: in seconds since 2001.
        case deferred
        /// As the closure says.
        case custom(@Sendable (Date) throws -> String)
    }

    /// How data is written.
    public enum DataValues: Sendable {
        /// As Base64, in the alphabet with `+` and `/`, padded.
        case base64
        /// As the data encodes itself: as a list of numbers.
        case deferred
        /// As the closure says.
        case custom(@Sendable (Data) throws -> String)
    }

    /// How the name of a nested value is put together.
    public enum KeyPaths: Sendable {
        /// As `page[number]`.
        case brackets
        /// As `page.number`.
        case dots
        /// As the closure says, of the name of the outer value and that of the inner.
        case custom(@Sendable (_ parent: String, _ name: String) -> String)

        func name(of name: String, in parent: String) -> String {
            switch self {
            case .brackets: "\(parent)[\(name)]"
            case .dots: "\(parent).\(name)"
            case .custom(let closure): closure(parent, name)
            }
        }
    }

    /// What becomes of nil.
    public enum Nils: Sendable, Hashable {
        /// It is left out.
        case dropKey
        /// The name stands alone: `name`.
        case dropValue
        /// The value is empty: `name=`.
        case empty
        /// The value is the word: `name=null`.
        case null

        func item(named name: String) -> Query.Item? {
            switch self {
            case .dropKey: nil
            case .dropValue: Query.Item(name)
            case .empty: Query.Item(name, value: "")
            case .null: Query.Item(name, value: "null")
            }
        }
    }

    /// What becomes of infinity and of what isn't a number.
    public enum NonFiniteNumbers: Sendable, Hashable {
        /// An error.
        case refuse
        /// These words.
        case words(infinity: String, negativeInfinity: String, nan: String)
    }
}
