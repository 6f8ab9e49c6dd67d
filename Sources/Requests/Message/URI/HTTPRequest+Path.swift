// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPRequest {
    /// The URL or path of a request, as a literal whose interpolated values can't change its structure.
    ///
    /// ```swift
    /// Get<[Post]>("users/\(id)/posts")             // `id` is always one segment
    /// Get<[User]>("users?sort=name&after=\(name)")  // `name` is always one value of the query
    /// Get<User>("https://api.example.com/users/\(id)")
    /// ```
    ///
    /// The literal text is parsed like a URL: slashes separate segments, a `?` begins a query, and escaped characters
    /// stay escaped. In an interpolated value, characters that could end its segment or query value are escaped. A path
    /// is appended to the base URL of the service that runs the request, unless the literal contains a scheme and a
    /// host, or begins with an absolute `URL`.
    ///
    /// | interpolation | result |
    /// |---|---|
    /// | `\(value)` | A string, a number, a `UUID` or any other ``Query/ValueConvertible`` value, escaped |
    /// | `\(url)` | A `URL`, unchanged at the beginning of the literal, and escaped elsewhere |
    /// | `\(raw: text)` | A string that is already a path, unchanged. Don't use it for values that a user can choose |
    ///
    /// When the request is built, these values are rejected:
    ///
    /// - A value that makes a segment `.` or `..`, because the path would lead to another resource.
    /// - An empty value that makes an empty segment. For example, `Delete<Void>("users/\(id)")` with an empty `id`
    ///   would delete all users.
    /// - A value in the host or port, unless it is the entire port or an entire label of the host, that is, letters,
    ///   digits and hyphens between dots. Use the host as the base URL instead, or write `\(raw:)`.
    ///
    /// A `String` that isn't a literal doesn't compile. Interpolate it in a literal: `"\(name)"` for one segment, or
    /// `"\(raw: path)"` for a path.
    public struct Path: Sendable, Hashable {
        /// The URL or path, escaped if necessary.
        let text: String
        /// The error, if the path is invalid.
        let failure: InvalidValue?

        init(_ text: String, failure: InvalidValue? = nil) {
            self.text = text
            self.failure = failure
        }

        /// Returns the path with segments appended; each value becomes exactly one segment.
        func appending(_ segments: [any Query.ValueConvertible]) -> Path {
            guard !segments.isEmpty, failure == nil else { return self }
            guard !text.utf8.contains(where: "?#".utf8.contains) else {
                let reason = "has a query before a segment: put the query at the end, or add it with `query`"
                return Path("", failure: InvalidValue(.url, reason, excerpt: text))
            }
            do throws(InvalidValue) {
                // Separate the path and the first segment by exactly one slash, even if the path ends with a slash.
                var path = text.utf8.last == UInt8(ascii: "/") ? String(text.dropLast()) : text
                for segment in segments {
                    let encoded = try segment.queryValue.percentEncodedPathSegment()
                    guard !encoded.isEmpty else { throw InvalidValue.emptySegment(of: text) }
                    path += "/" + encoded
                }
                return Path(path)
            } catch {
                return Path("", failure: error)
            }
        }
    }
}

extension HTTPRequest.Path: DescribedMirror {
    /// The URL or path, without its query.
    public var description: String { text.bareAddress }
}

extension HTTPRequest.Path: ExpressibleByStringInterpolation {
    /// Creates a path from a literal without interpolated values.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// Creates a path from a literal with interpolated values.
    public init(stringInterpolation: StringInterpolation) {
        do throws(InvalidValue) {
            self.init(try stringInterpolation.assembled())
        } catch {
            self.init("", failure: error)
        }
    }

    /// The accumulated literals and interpolated values of a path.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        private var text = ""
        /// The ranges of the interpolated values, as UTF-8 offsets in the text.
        private var valueRanges: [Range<Int>] = []
        /// Whether the text so far is only an interpolated `URL`, which may end with a slash.
        private var isBaseURL = false

        /// Creates an empty interpolation.
        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        /// Appends a literal part, unchanged.
        public mutating func appendLiteral(_ literal: String) {
            append(raw: literal)
        }

        /// Appends a string, a number or another convertible value, escaped.
        public mutating func appendInterpolation(_ value: some Query.ValueConvertible) {
            append(value: value.queryValue)
        }

        /// Appends the raw value of an enumeration or another raw-representable type, escaped.
        @_disfavoredOverload
        public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value)
        where Value.RawValue: Query.ValueConvertible {
            append(value: value.rawValue.queryValue)
        }

        /// Appends a URL, which at the beginning of the literal is the base of the path.
        ///
        /// The base is appended unchanged. Elsewhere, the URL is escaped.
        public mutating func appendInterpolation(_ url: URL) {
            guard text.isEmpty else { return append(value: url.absoluteString) }
            append(raw: url.absoluteString)
            isBaseURL = url.query(percentEncoded: true) == nil
        }

        /// Appends a path or a part of a path, unchanged, including its slashes, its query and escaped characters.
        public mutating func appendInterpolation(raw text: String) {
            append(raw: text)
        }

        /// Appends an optional value or, if it is `nil`, a default; both are escaped.
        public mutating func appendInterpolation(_ value: (some Query.ValueConvertible)?, default text: String) {
            append(value: value?.queryValue ?? text)
        }

        private mutating func append(raw part: String) {
            // In `"\(base)/users"`, the base URL may end with a slash, but the path needs only one.
            if isBaseURL, text.utf8.last == UInt8(ascii: "/"), part.utf8.first == UInt8(ascii: "/") {
                text.removeLast()
            }
            isBaseURL = false
            text += part
        }

        private mutating func append(value: String) {
            isBaseURL = false
            // A `%` at the end of a literal part must not form an escape with the beginning of a value.
            while let percent = text.utf8.suffix(2).firstIndex(of: UInt8(ascii: "%")) {
                text.replaceSubrange(percent...percent, with: "%25")
            }
            let start = text.utf8.count
            text += ASCIISet.unreserved.encode(value)
            valueRanges.append(start..<text.utf8.count)
        }

        fileprivate func assembled() throws(InvalidValue) -> String {
            guard !valueRanges.isEmpty else { return text }
            let bytes = Array(text.utf8)
            let pathStart = AddressParts(text)?.schemeAndAuthority.utf8.count ?? 0
            let end = bytes[pathStart...].firstIndex(where: "?#".utf8.contains) ?? bytes.count
            for value in valueRanges where pathStart > 0 && value.lowerBound <= pathStart && !bytes.isLabel(value) {
                let fix = "use the host as the base URL, or `\\(raw:)` for an entire host"
                throw InvalidValue(.url, "has a value in its host that isn't a single label: \(fix)", excerpt: text)
            }
            for value in valueRanges where pathStart <= value.lowerBound && value.upperBound <= end {
                let isBegun = value.lowerBound == 0 || bytes[value.lowerBound - 1] == UInt8(ascii: "/")
                let isEnded = value.upperBound == end || bytes[value.upperBound] == UInt8(ascii: "/")
                // If several values make up an empty segment, each of them has the same bounds as the segment, so
                // checking each value is enough.
                guard !value.isEmpty || !isBegun || !isEnded else { throw InvalidValue.emptySegment(of: text) }
            }
            for segment in bytes[pathStart..<end].split(separator: UInt8(ascii: "/"))
            where valueRanges.contains(where: { $0.overlaps(segment.indices) }) {
                let decoded = segment.percentDecoded()
                // Split at escaped slashes and backslashes, too, because some servers treat them as slashes.
                let parts = decoded.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
                guard !decoded.elementsEqual(".".utf8), !parts.contains(where: { $0.elementsEqual("..".utf8) }) else {
                    let value = String(decoding: decoded, as: UTF8.self).shortened()
                    let reason = "uses the value “\(value)” as a segment, which would change the path"
                    throw InvalidValue(.url, reason, excerpt: text)
                }
            }
            return text
        }
    }
}

extension InvalidValue {
    /// Returns the error for a path in which an empty value is a segment.
    fileprivate static func emptySegment(of text: String) -> InvalidValue {
        let reason = "uses an empty value as a segment, which would change the path"
        let fix = "check the value first, or use `\\(raw:)` if the segment may be empty"
        return InvalidValue(.url, "\(reason): \(fix)", excerpt: text)
    }
}

extension [UInt8] {
    /// Returns whether a range of a URL is exactly one label of the host, or the port, and so can't end the authority.
    fileprivate func isLabel(_ range: Range<Int>) -> Bool {
        guard !range.isEmpty, self[range].allSatisfy(ASCIISet.label.contains) else { return false }
        let isBegun = range.lowerBound == 0 || "/.:@".utf8.contains(self[range.lowerBound - 1])
        let isEnded = range.upperBound == count || "/.:@?#".utf8.contains(self[range.upperBound])
        return isBegun && isEnded
    }

    /// Whether the path has a `..` segment, in any spelling.
    ///
    /// Escaped slashes and backslashes separate segments, too, because some servers treat them as slashes.
    fileprivate var hasParentSegment: Bool {
        percentDecoded().split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
            .contains { $0.elementsEqual("..".utf8) }
    }
}

// MARK: - Path encoding

extension String {
    /// Returns the string, escaped as one segment of a path.
    ///
    /// All characters except unreserved characters are escaped. Neither a `/` nor a `?` nor a `%2F` in the string can
    /// therefore change the structure of the URL.
    ///
    /// - Throws: ``InvalidValue`` for `.` and `..`, which change the path even if they are escaped (RFC 3986, 6.2.2.2).
    ///   An empty string isn't an error.
    /// - Complexity: O(n) in the length of the string.
    package func percentEncodedPathSegment() throws(InvalidValue) -> String {
        guard self != ".", self != ".." else {
            throw InvalidValue(.url, "is a dot segment, and can't be used as a path segment", excerpt: self)
        }
        return ASCIISet.unreserved.encode(self)
    }

    /// Returns the string, escaped as a path of several segments.
    ///
    /// Slashes and each `%XX` are kept. Characters that would end the path are escaped.
    ///
    /// - Throws: ``InvalidValue`` for a `..` segment, escaped or not, because it would lead out of the base URL.
    ///   Escaped slashes and backslashes separate segments here, too, because some servers treat them as slashes. A `.`
    ///   segment isn't an error.
    /// - Complexity: O(n) in the length of the string.
    package func percentEncodedPath() throws(InvalidValue) -> String {
        let mayHaveParentSegment = utf8.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") }
        guard !mayHaveParentSegment || !Array(utf8).hasParentSegment else {
            throw InvalidValue(.url, "has a path with a “..” segment", excerpt: self)
        }
        return ASCIISet.path.encode(self, keepsTriplets: true)
    }
}

// MARK: - Convertible

extension HTTPRequest.Path {
    /// A type that can be used as the path of a request instead of a literal.
    ///
    /// A `URL`, for example from a server, is used unchanged. In an array of values, each value is one segment of a
    /// path. Your own types, such as an enumeration of routes, can conform, too:
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
        /// The value as a path or URL.
        var requestPath: HTTPRequest.Path { get }
    }
}

extension HTTPRequest.Path: HTTPRequest.Path.Convertible {
    /// The path itself.
    public var requestPath: HTTPRequest.Path { self }
}

extension URL: HTTPRequest.Path.Convertible {
    /// The unchanged URL, absolute or relative.
    public var requestPath: HTTPRequest.Path { HTTPRequest.Path(absoluteString) }
}

extension Array: HTTPRequest.Path.Convertible where Element: Query.ValueConvertible {
    /// A path with one segment for each value.
    public var requestPath: HTTPRequest.Path { HTTPRequest.Path("").appending(self) }
}

// A common mistake is `let path = "users/7"` or `"users/" + id`, which would become one segment with an escaped slash.
// Treating the string as a path instead would let an `id` change the path. This conformance exists only for the
// compiler's message, which says what to write.
@available(
    *,
    unavailable,
    message: """
        use "\\(text)" for one segment, "\\(raw: text)" for a path, or pass a URL; \
        a value in a path must conform to Query.ValueConvertible, and must not be optional
        """
)
extension String: HTTPRequest.Path.Convertible {
    /// A path with one segment.
    public var requestPath: HTTPRequest.Path { HTTPRequest.Path("").appending([self]) }
}
