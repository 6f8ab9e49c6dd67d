// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension String {
    /// The text as one segment of a path, whatever it holds.
    ///
    /// Everything but unreserved characters is escaped, so that neither a `/` nor a `?` nor a `%2F` in it can change
    /// the structure of the address.
    ///
    /// - Throws: ``InvalidRequest`` for `.` and `..`, which mean another place even where they are escaped (RFC 3986,
    ///   6.2.2.2). An empty text isn't an error.
    /// - Complexity: O(n).
    package func percentEncodedPathSegment() throws(InvalidRequest) -> String {
        guard self != ".", self != ".." else {
            throw InvalidRequest(.url, "can't be a segment of a path: it means another place", excerpt: self)
        }
        return PercentEncoding.unreserved.encode(self)
    }

    /// The text as a path of several segments: its slashes and each `%XX` stay, all that would end the path is escaped.
    ///
    /// - Throws: ``InvalidRequest`` for a `..`, escaped or not, also between escaped slashes or backslashes, which some
    ///   servers take for slashes: it would climb out of the base address. A `.` is no error.
    /// - Complexity: O(n).
    package func percentEncodedPath() throws(InvalidRequest) -> String {
        guard !climbs else {
            throw InvalidRequest(.url, "has a path that climbs with “..”", excerpt: self)
        }
        return PercentEncoding.path.encode(self, keepsTriplets: true)
    }

    /// Whether a segment is `..` in any spelling.
    private var climbs: Bool {
        guard utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") }) else { return false }
        return Array(utf8).percentDecoded()
            .split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
            .contains { $0.elementsEqual("..".utf8) }
    }
}
