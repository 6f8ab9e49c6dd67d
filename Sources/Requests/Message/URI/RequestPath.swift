// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Where a request goes, written as a literal that no value can lead astray.
///
/// ```swift
/// Get<[Post]>("users/\(id)/posts")             // `id` is one segment, whatever it holds
/// Get<[User]>("users?sort=name&after=\(name)")  // `name` is one value of the query
/// Get<User>("https://api.example.com/users/\(id)")
/// ```
///
/// The text of the literal is taken as an address is written: its slashes separate segments, a `?` begins a query, and
/// what is escaped in it stays so. Each interpolated value is one piece: everything in it that could end the piece is
/// escaped. A path is appended to the base URL of wherever the request runs, unless the literal names a scheme and a
/// host, or a `URL` with them is its first value.
///
/// | interpolated | |
/// |---|---|
/// | `\(value)` | a text, a number, a `UUID` or anything else that is ``Query/ValueConvertible``: one escaped piece |
/// | `\(url)` | at the beginning a `URL` as it is, else one escaped piece |
/// | `\(raw: text)` | text that is a path already, as it is: for what no user can choose |
///
/// A segment that a value makes `.` or `..` means another place, and is refused when the request is built. So is one that
/// values leave empty: `Delete<Void>("users/\(id)")` with an empty `id` would delete all users. So is a value in the host, unless it is a whole label of it (letters, digits and hyphens between dots) or the port: make the host the
/// base URL, or write `\(raw:)`.
///
/// A `String` that isn't a literal is one segment too; where a function takes a path, put the variable into a literal:
/// `"\(name)"`.
public struct RequestPath: Sendable, Hashable {
    /// The address as it is written, escaped as far as it has to be.
    let text: String
    /// What is wrong with it.
    let failure: InvalidRequest?

    init(_ text: String, failure: InvalidRequest? = nil) {
        self.text = text
        self.failure = failure
    }

    /// The path of segments behind this one, each of which is one piece.
    func appending(_ segments: [any Query.ValueConvertible]) -> RequestPath {
        guard !segments.isEmpty, failure == nil else { return self }
        guard !text.utf8.contains(where: "?#".utf8.contains) else {
            let reason = "has a query before a segment: write the query behind, or add it with `query`"
            return RequestPath("", failure: InvalidRequest(.url, reason, excerpt: text))
        }
        do throws(InvalidRequest) {
            // One slash between the path and the first segment, whether the path ends in one or not.
            var path = text.utf8.last == UInt8(ascii: "/") ? String(text.dropLast()) : text
            for segment in segments {
                let piece = try segment.queryValue.percentEncodedPathSegment()
                guard !piece.isEmpty else { throw InvalidRequest.emptySegment(of: text) }
                path += "/" + piece
            }
            return RequestPath(path)
        } catch {
            return RequestPath("", failure: error)
        }
    }
}

extension RequestPath: CustomStringConvertible {
    /// The path as it is written, without its query.
    public var description: String { text.bareAddress }
}

extension RequestPath: CustomReflectable {
    /// A mirror of what the description says.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension RequestPath: ExpressibleByStringInterpolation {
    /// Makes a path of a literal without values.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// Makes a path of a literal with values.
    public init(stringInterpolation: StringInterpolation) {
        do throws(InvalidRequest) {
            self.init(try stringInterpolation.assembled())
        } catch {
            self.init("", failure: error)
        }
    }

    /// The pieces of a literal.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        private var text = ""
        /// Where the values stand, in bytes of the text.
        private var values: [Range<Int>] = []
        private var failure: InvalidRequest?
        /// Whether the text is an address that was a value, which may end in a slash.
        private var isBase = false

        /// Makes one without pieces.
        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        /// Appends text of the literal, as it is.
        public mutating func appendLiteral(_ literal: String) {
            append(raw: literal)
        }

        /// Appends a text, a number, or another value of a query as one piece, escaped.
        public mutating func appendInterpolation(_ value: some Query.ValueConvertible) {
            append(value: value.queryValue)
        }

        /// Appends the raw value of a choice as one piece, escaped.
        @_disfavoredOverload
        public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value)
        where Value.RawValue: Query.ValueConvertible {
            append(value: value.rawValue.queryValue)
        }

        /// Appends an address: at the beginning as it is, as the base of what follows; elsewhere as one piece, escaped.
        public mutating func appendInterpolation(_ url: URL) {
            guard text.isEmpty else { return append(value: url.absoluteString) }
            append(raw: url.absoluteString)
            isBase = url.query(percentEncoded: true) == nil
        }

        /// Appends text that is a path, or a part of one, as it is: with its slashes, a query, and what is escaped in it.
        public mutating func appendInterpolation(raw text: String) {
            append(raw: text)
        }

        /// Appends a value as one piece, or a text in the place of nil.
        public mutating func appendInterpolation(_ value: (some Query.ValueConvertible)?, default text: String) {
            append(value: value?.queryValue ?? text)
        }

        /// Appends a value, which must not be nil.
        ///
        /// Unavailable would be silent: Swift would take the literal for a `String` then, and that for one segment.
        @available(*, deprecated, message: "unwrap the value: there is no path for nil, and the request fails")
        public mutating func appendInterpolation<Value: Query.ValueConvertible>(_ value: Value?) {
            if let value { return append(value: value.queryValue) }
            fail("has nil in the place of a value: unwrap it first", excerpt: text)
        }

        /// Refuses a value of another type.
        @available(*, deprecated, message: "write the value as a text, or make its type Query.ValueConvertible")
        @_disfavoredOverload
        public mutating func appendInterpolation<Value>(_ value: Value) {
            let fix = "write it as a text, or make the type Query.ValueConvertible"
            fail("has a value of type \(Value.self): \(fix)", excerpt: text)
        }

        private mutating func append(raw piece: String) {
            // `"\(base)/users"`, where the base ends in a slash.
            if isBase, text.utf8.last == UInt8(ascii: "/"), piece.utf8.first == UInt8(ascii: "/") { text.removeLast() }
            isBase = false
            text += piece
        }

        private mutating func append(value: String) {
            isBase = false
            // A `%` of the literal must not make an escape with the beginning of a value.
            while let percent = text.utf8.suffix(2).firstIndex(of: UInt8(ascii: "%")) {
                text.replaceSubrange(percent...percent, with: "%25")
            }
            let start = text.utf8.count
            text += PercentEncoding.unreserved.encode(value)
            values.append(start..<text.utf8.count)
        }

        private mutating func fail(_ reason: String, excerpt: String) {
            if failure == nil { failure = InvalidRequest(.url, reason, excerpt: excerpt) }
        }

        /// The text, in which every value is a piece of its own.
        ///
        /// - Throws: ``InvalidRequest`` for a value that would be a part of the host, and for a segment that means another
        ///   place.
        fileprivate func assembled() throws(InvalidRequest) -> String {
            if let failure { throw failure }
            guard !values.isEmpty else { return text }
            let bytes = Array(text.utf8)
            let root = AddressParts(text)?.root.utf8.count ?? 0
            let end = bytes[root...].firstIndex(where: "?#".utf8.contains) ?? bytes.count
            for value in values where root > 0 && value.lowerBound <= root && !bytes.isLabel(value) {
                let fix = "make the host the base URL, or write `\\(raw:)` for a whole one"
                throw InvalidRequest(.url, "has a value in its host that isn't one label: \(fix)", excerpt: text)
            }
            for value in values where root <= value.lowerBound && value.upperBound <= end {
                let isBegun = value.lowerBound == 0 || bytes[value.lowerBound - 1] == UInt8(ascii: "/")
                let isEnded = value.upperBound == end || bytes[value.upperBound] == UInt8(ascii: "/")
                // Of several values that make up a segment, each is as empty as all of them.
                guard !value.isEmpty || !isBegun || !isEnded else { throw InvalidRequest.emptySegment(of: text) }
            }
            for segment in bytes[root..<end].split(separator: UInt8(ascii: "/"))
            where values.contains(where: { $0.overlaps(segment.indices) }) {
                let decoded = segment.percentDecoded()
                // Some servers take what is escaped for a slash, and some a backslash.
                let pieces = decoded.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
                guard !decoded.elementsEqual(".".utf8), !pieces.contains(where: { $0.elementsEqual("..".utf8) }) else {
                    let value = String(decoding: decoded, as: UTF8.self).shortened()
                    let reason = "has the value “\(value)”, which can't be a segment: it means another place"
                    throw InvalidRequest(.url, reason, excerpt: text)
                }
            }
            return text
        }
    }
}

extension InvalidRequest {
    /// What is wrong with a path that has an empty value in the place of a segment.
    fileprivate static func emptySegment(of text: String) -> InvalidRequest {
        let reason = "has an empty value for a segment, which means another place"
        let fix = "check the value first, or write `\\(raw:)` if the segment may be empty"
        return InvalidRequest(.url, "\(reason): \(fix)", excerpt: text)
    }
}

extension [UInt8] {
    /// Whether a piece of an authority is one label of a host, or a port: it can be no more than that, nor end it.
    fileprivate func isLabel(_ piece: Range<Int>) -> Bool {
        let characters = PercentEncoding(keeping: "-")
        guard !piece.isEmpty, self[piece].allSatisfy(characters.keeps) else { return false }
        let isBegun = piece.lowerBound == 0 || "/.:@".utf8.contains(self[piece.lowerBound - 1])
        let isEnded = piece.upperBound == count || "/.:@?#".utf8.contains(self[piece.upperBound])
        return isBegun && isEnded
    }
}

// MARK: - Convertible

/// What says where a request goes, in the place of a literal.
///
/// A `URL`, which a server gave, is taken as it is; a list of values is a path of as many segments. Make your own routes
/// conform, and requests take them:
///
/// ```swift
/// enum Route: RequestPathConvertible {
///     case user(Int), posts(of: String)
///
///     var requestPath: RequestPath {
///         switch self {
///         case .user(let id): "users/\(id)"
///         case .posts(let name): "users/\(name)/posts"
///         }
///     }
/// }
/// let user = Get<User>(Route.user(7))
/// ```
public protocol RequestPathConvertible {
    /// The path.
    var requestPath: RequestPath { get }
}

extension RequestPath: RequestPathConvertible {
    /// The path itself.
    public var requestPath: RequestPath { self }
}

extension URL: RequestPathConvertible {
    /// The address as it is: absolute, or a path.
    public var requestPath: RequestPath { RequestPath(absoluteString) }
}

extension Array: RequestPathConvertible where Element: Query.ValueConvertible {
    /// A path of one segment for each of the values.
    public var requestPath: RequestPath { RequestPath("").appending(self) }
}

// The usual mistake, of `let path = "users/7"` or `"users/" + id`, asks for a segment with an escaped slash. To take it for
// a path would let an `id` choose the path; a warning says what to write instead, and a literal around the variable says
// that one segment is meant.
@available(
    *,
    deprecated,
    message: "a String is one segment: write \"\\(text)\" to say so, \"\\(raw: text)\" for a path, a URL for an address"
)
extension String: RequestPathConvertible {
    /// A path of one segment.
    public var requestPath: RequestPath { RequestPath("").appending([self]) }
}
