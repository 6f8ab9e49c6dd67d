// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPRequest {
    /// The address of a request, written as a literal whose values can't change its structure.
    ///
    /// ```swift
    /// Get<[Post]>("users/\(id)/posts")             // `id` is one segment, whatever it holds
    /// Get<[User]>("users?sort=name&after=\(name)")  // `name` is one value of the query
    /// Get<User>("https://api.example.com/users/\(id)")
    /// ```
    ///
    /// The text of the literal is read like an address: its slashes separate segments, a `?` begins a query, and
    /// escaped characters stay escaped. Each interpolated value is one piece: all characters that could end the piece
    /// are escaped. A path is appended to the base URL of the service that runs the request, unless the literal names a
    /// scheme and a host, or a `URL` with them is its first value.
    ///
    /// | interpolated | | |---|---| | `\(value)` | a text, a number, a `UUID` or anything else that is
    /// ``Query/ValueConvertible``: one escaped piece | | `\(url)` | at the beginning a `URL`, unchanged; elsewhere one
    /// escaped piece | | `\(raw: text)` | text that is already a path, unchanged: not for values that a user can choose
    /// |
    ///
    /// If a value makes a segment `.` or `..`, the path would lead elsewhere, and is refused when the request is built.
    /// An empty segment made of values is refused too: `Delete<Void>("users/\(id)")` with an empty `id` would delete
    /// all users. So is a value in the host, unless it is a whole label of it (letters, digits and hyphens between
    /// dots) or the port: make the host the base URL, or write `\(raw:)`.
    ///
    /// A `String` that isn't a literal doesn't compile: put it into a literal, as `"\(name)"` for one segment, or as
    /// `"\(raw: path)"` for a path.
    public struct Path: Sendable, Hashable {
        /// The address as it is written, escaped if necessary.
        let text: String
        /// The error of the path.
        let failure: InvalidValue?

        init(_ text: String, failure: InvalidValue? = nil) {
            self.text = text
            self.failure = failure
        }

        /// Returns the path with segments behind it, each of which is one piece.
        func appending(_ segments: [any Query.ValueConvertible]) -> Path {
            guard !segments.isEmpty, failure == nil else { return self }
            guard !text.utf8.contains(where: "?#".utf8.contains) else {
                let reason = "has a query before a segment: write the query behind, or add it with `query`"
                return Path("", failure: InvalidValue(.url, reason, excerpt: text))
            }
            do throws(InvalidValue) {
                // One slash between the path and the first segment, whether or not the path ends with one.
                var path = text.utf8.last == UInt8(ascii: "/") ? String(text.dropLast()) : text
                for segment in segments {
                    let piece = try segment.queryValue.percentEncodedPathSegment()
                    guard !piece.isEmpty else { throw InvalidValue.emptySegment(of: text) }
                    path += "/" + piece
                }
                return Path(path)
            } catch {
                return Path("", failure: error)
            }
        }
    }
}

extension HTTPRequest.Path: DescribedMirror {
    /// The path as it is written, without its query.
    public var description: String { text.bareAddress }
}

extension HTTPRequest.Path: ExpressibleByStringInterpolation {
    /// Makes a path of a literal without values.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// Makes a path of a literal with values.
    public init(stringInterpolation: StringInterpolation) {
        do throws(InvalidValue) {
            self.init(try stringInterpolation.assembled())
        } catch {
            self.init("", failure: error)
        }
    }

    /// The pieces of a literal.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        private var text = ""
        /// The positions of the values, in bytes of the text.
        private var values: [Range<Int>] = []
        /// Whether the text is an address from a value, which may end with a slash.
        private var isBase = false

        /// Makes an interpolation without pieces.
        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        /// Appends text of the literal, unchanged.
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

        /// Appends an address: at the beginning unchanged, as the base of the following text; elsewhere as one piece,
        /// escaped.
        public mutating func appendInterpolation(_ url: URL) {
            guard text.isEmpty else { return append(value: url.absoluteString) }
            append(raw: url.absoluteString)
            isBase = url.query(percentEncoded: true) == nil
        }

        /// Appends text that is a path, or a part of one, unchanged: with its slashes, a query, and escaped characters.
        public mutating func appendInterpolation(raw text: String) {
            append(raw: text)
        }

        /// Appends a value as one piece, or a text instead of `nil`.
        public mutating func appendInterpolation(_ value: (some Query.ValueConvertible)?, default text: String) {
            append(value: value?.queryValue ?? text)
        }

        private mutating func append(raw piece: String) {
            // `"\(base)/users"`, if the base ends with a slash.
            if isBase, text.utf8.last == UInt8(ascii: "/"), piece.utf8.first == UInt8(ascii: "/") { text.removeLast() }
            isBase = false
            text += piece
        }

        private mutating func append(value: String) {
            isBase = false
            // A `%` of the literal must not form an escape with the beginning of a value.
            while let percent = text.utf8.suffix(2).firstIndex(of: UInt8(ascii: "%")) {
                text.replaceSubrange(percent...percent, with: "%25")
            }
            let start = text.utf8.count
            text += ASCIISet.unreserved.encode(value)
            values.append(start..<text.utf8.count)
        }

        fileprivate func assembled() throws(InvalidValue) -> String {
            guard !values.isEmpty else { return text }
            let bytes = Array(text.utf8)
            let root = AddressParts(text)?.root.utf8.count ?? 0
            let end = bytes[root...].firstIndex(where: "?#".utf8.contains) ?? bytes.count
            for value in values where root > 0 && value.lowerBound <= root && !bytes.isLabel(value) {
                let fix = "make the host the base URL, or write `\\(raw:)` for a whole one"
                throw InvalidValue(.url, "has a value in its host that isn't one label: \(fix)", excerpt: text)
            }
            for value in values where root <= value.lowerBound && value.upperBound <= end {
                let isBegun = value.lowerBound == 0 || bytes[value.lowerBound - 1] == UInt8(ascii: "/")
                let isEnded = value.upperBound == end || bytes[value.upperBound] == UInt8(ascii: "/")
                // Of several values that make up a segment, each is as empty as all of them.
                guard !value.isEmpty || !isBegun || !isEnded else { throw InvalidValue.emptySegment(of: text) }
            }
            for segment in bytes[root..<end].split(separator: UInt8(ascii: "/"))
            where values.contains(where: { $0.overlaps(segment.indices) }) {
                let decoded = segment.percentDecoded()
                // Some servers treat an escaped slash as a slash, and some a backslash.
                let pieces = decoded.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
                guard !decoded.elementsEqual(".".utf8), !pieces.contains(where: { $0.elementsEqual("..".utf8) }) else {
                    let value = String(decoding: decoded, as: UTF8.self).shortened()
                    let reason = "has the value “\(value)” for a segment, which would change the path"
                    throw InvalidValue(.url, reason, excerpt: text)
                }
            }
            return text
        }
    }
}

extension InvalidValue {
    /// The error for a path with an empty value as a segment.
    fileprivate static func emptySegment(of text: String) -> InvalidValue {
        let reason = "has an empty value for a segment, which would change the path"
        let fix = "check the value first, or write `\\(raw:)` if the segment may be empty"
        return InvalidValue(.url, "\(reason): \(fix)", excerpt: text)
    }
}

extension [UInt8] {
    /// Whether a piece of an authority is one label of a host, or a port, which can't end it.
    fileprivate func isLabel(_ piece: Range<Int>) -> Bool {
        guard !piece.isEmpty, self[piece].allSatisfy(ASCIISet.label.contains) else { return false }
        let isBegun = piece.lowerBound == 0 || "/.:@".utf8.contains(self[piece.lowerBound - 1])
        let isEnded = piece.upperBound == count || "/.:@?#".utf8.contains(self[piece.upperBound])
        return isBegun && isEnded
    }

    /// Whether a segment of the path is `..` in any spelling, also between escaped slashes or backslashes, which some
    /// servers take for slashes.
    fileprivate var climbs: Bool {
        percentDecoded().split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
            .contains { $0.elementsEqual("..".utf8) }
    }
}

// MARK: - Path encoding

extension String {
    /// The text as one segment of a path, whatever it holds.
    ///
    /// Everything but unreserved characters is escaped, so that neither a `/` nor a `?` nor a `%2F` in it can change
    /// the structure of the address.
    ///
    /// - Throws: ``InvalidValue`` for `.` and `..`, which change the path even where they are escaped (RFC 3986,
    ///   6.2.2.2). An empty text isn't an error.
    /// - Complexity: O(n).
    package func percentEncodedPathSegment() throws(InvalidValue) -> String {
        guard self != ".", self != ".." else {
            throw InvalidValue(.url, "can't be a segment of a path, since it leads to another one", excerpt: self)
        }
        return ASCIISet.unreserved.encode(self)
    }

    /// The text as a path of several segments: its slashes and each `%XX` stay, all that would end the path is escaped.
    ///
    /// - Throws: ``InvalidValue`` for a `..`, escaped or not, also between escaped slashes or backslashes, which some
    ///   servers take for slashes: it would climb out of the base address. A `.` is no error.
    /// - Complexity: O(n).
    package func percentEncodedPath() throws(InvalidValue) -> String {
        let mayClimb = utf8.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") }
        guard !mayClimb || !Array(utf8).climbs else {
            throw InvalidValue(.url, "has a path that climbs with “..”", excerpt: self)
        }
        return ASCIISet.path.encode(self, keepsTriplets: true)
    }
}

// MARK: - Convertible

extension HTTPRequest.Path {
    /// A type that can be used as the address of a request instead of a literal.
    ///
    /// A `URL`, for example from a server, is used unchanged; a list of values is a path of as many segments. If your
    /// own routes conform, requests take them:
    ///
    /// ```swift
    /// enum Route: HTTPRequest.Path.Convertible {
    ///     case user(Int), posts(of: String)
    ///
    ///     var requestPath: HTTPRequest.Path {
    ///         switch self {
    ///         case .user(let id): "users/\(id)"
    ///         case .posts(let name): "users/\(name)/posts"
    ///         }
    ///     }
    /// }
    /// let user = Get<User>(Route.user(7))
    /// ```
    public protocol Convertible: SendableMetatype {
        /// The path.
        var requestPath: HTTPRequest.Path { get }
    }
}

extension HTTPRequest.Path: HTTPRequest.Path.Convertible {
    /// The path itself.
    public var requestPath: HTTPRequest.Path { self }
}

extension URL: HTTPRequest.Path.Convertible {
    /// The address, unchanged: absolute, or a path.
    public var requestPath: HTTPRequest.Path { HTTPRequest.Path(absoluteString) }
}

extension Array: HTTPRequest.Path.Convertible where Element: Query.ValueConvertible {
    /// A path of one segment for each of the values.
    public var requestPath: HTTPRequest.Path { HTTPRequest.Path("").appending(self) }
}

// The usual mistake, `let path = "users/7"` or `"users/" + id`, would make a segment with an escaped slash. Taking it
// for a path would let an `id` choose the path. The conformance is there for its message, which says what to write.
@available(
    *,
    unavailable,
    message: """
        write "\\(text)" for one segment, "\\(raw: text)" for a path, or pass a URL for an address; \
        a value in a path is a Query.ValueConvertible, and not optional
        """
)
extension String: HTTPRequest.Path.Convertible {
    /// A path of one segment.
    public var requestPath: HTTPRequest.Path { HTTPRequest.Path("").appending([self]) }
}
