// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The URL of a request before the request is built, when the base URL may still be unknown.
enum Address: Sendable {
    /// An absolute URL.
    case url(URL)
    /// A path with an optional query, which will be appended to the base URL; escaped characters stay escaped.
    case reference(String)
    /// An error, because the string or path from which the address was created is invalid.
    case invalid(InvalidValue)

    /// Creates an address from a URL; a URL without a scheme will be appended to the base URL.
    init(_ url: URL) {
        guard url.scheme == nil else {
            self = .url(url)
            return
        }
        let reference = url.relativeString
        self = .reference(reference.hasPrefix("./") ? String(reference.dropFirst(2)) : reference)
    }

    /// Creates an address by parsing a string: an absolute URL, or a path with an optional query.
    init(_ text: String) {
        guard AddressParts(text) != nil else {
            self = .reference(text)
            return
        }
        self = Self.absolute(text)
    }

    /// Parses an absolute URL.
    static func absolute(_ text: String) -> Address {
        URL(lenient: text).map(Address.url) ?? .invalid(InvalidValue(.url, "is malformed", excerpt: text))
    }

    /// Creates an address from a path; if the path is invalid, the address contains the error of the path.
    init(_ path: HTTPRequest.Path) {
        self = path.failure.map(Address.invalid) ?? Address(path.text)
    }

    /// The address as a URL, for display and for code without a base URL; relative if the address is.
    var url: URL {
        switch self {
        case .url(let url): url
        case .reference(let reference): URL(lenient: Self.pathReference(of: reference)) ?? Self.placeholder
        case .invalid: Self.placeholder
        }
    }

    /// Returns the reference in a form that is always parsed as a path.
    ///
    /// Multiple leading slashes become one, because two would begin an authority. If the first segment contains a
    /// colon, `./` is prepended, because otherwise the segment would be parsed as a scheme.
    private static func pathReference(of reference: String) -> String {
        guard reference.isEmpty || reference.hasPrefix("/") else {
            return reference.hasColonInFirstSegment ? "./" + reference : reference
        }
        return "/" + reference.drop { $0 == "/" }
    }

    // A file URL, because its initializer can't fail.
    private static let placeholder = URL(filePath: "/")
}

extension Address: CustomReflectable {
    /// A mirror of the URL without credentials or query, so that `dump` shows no more than the request's description.
    var customMirror: Mirror {
        Mirror(self, children: ["url": url.redactedDescription])
    }
}

/// The components of an absolute URL, split at the delimiters (RFC 3986, 3) without decoding or validation.
struct AddressParts {
    /// Everything before the path, that is, scheme, credentials, host and port.
    let schemeAndAuthority: Substring
    /// Credentials, host and port.
    let authority: Substring
    /// The path, which is empty or begins with a slash.
    let path: Substring
    /// The query without its `?`, or `nil` if there is no query.
    let query: Substring?
    private let rest: Substring

    /// Splits a URL; fails if the URL has no scheme or no authority.
    ///
    /// - Complexity: O(n) in the length of the URL.
    init?(_ address: String) {
        var address = address
        guard let ends = address.withUTF8(Self.ends) else { return nil }
        func index(_ offset: Int) -> String.Index { address.utf8.index(address.startIndex, offsetBy: offset) }
        let (pathStart, fragmentStart) = (index(ends.authority), index(ends.query))
        schemeAndAuthority = address[..<pathStart]
        authority = address[index(ends.scheme + 3)..<pathStart]
        path = address[pathStart..<index(ends.path)]
        query = ends.path < ends.query ? address[index(ends.path + 1)..<fragmentStart] : nil
        rest = address[pathStart...]
    }

    /// Returns the end offset of each component, or `nil` if the URL has no scheme or no authority.
    private static func ends(
        of bytes: UnsafeBufferPointer<UInt8>
    ) -> (scheme: Int, authority: Int, path: Int, query: Int)? {
        func end(from start: Int, where isEnd: (UInt8) -> Bool) -> Int {
            var index = start
            while index < bytes.count, !isEnd(bytes[index]) { index += 1 }
            return index
        }
        let scheme = end(from: 0) { $0 == UInt8(ascii: ":") }
        guard scheme + 3 <= bytes.count, bytes[scheme + 1] == UInt8(ascii: "/"), bytes[scheme + 2] == UInt8(ascii: "/"),
            ASCII.isLetter(bytes[0]), end(from: 0, where: { !ASCIISet.scheme.contains($0) }) == scheme
        else { return nil }
        let authority = end(from: scheme + 3) {
            $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
        }
        let query = end(from: authority) { $0 == UInt8(ascii: "#") }
        let path = min(query, end(from: authority) { $0 == UInt8(ascii: "?") })
        return (scheme, authority, path, query)
    }

    /// The URL without its scheme and authority, that is, the unchanged path, query and fragment.
    var reference: String { String(rest) }
}

extension StringProtocol {
    /// The path and the query of the reference, without `?` and without a fragment; the query is `nil` if there is
    /// none.
    var splitAtQuery: (path: String, query: String?) {
        let end = utf8.firstIndex(of: UInt8(ascii: "#")) ?? endIndex
        guard let mark = utf8[..<end].firstIndex(of: UInt8(ascii: "?")) else {
            return (end == endIndex ? String(self) : String(self[..<end]), nil)
        }
        return (String(self[..<mark]), String(self[mark..<end].dropFirst()))
    }

    /// Whether the string is a valid URL scheme (RFC 3986, 3.1).
    var isScheme: Bool {
        (utf8.first.map(ASCII.isLetter) ?? false) && ASCIISet.scheme.containsAll(self)
    }
}

// MARK: - International hosts

/// The wire form (RFC 5890) of host names with non-ASCII characters: `xn--bcher-kva.example` for `bücher.example`.
///
/// Foundation converts the host to this form when it parses a URL, by the rules of UTS 46, and decodes it again in
/// `host`. Always compare and send the wire form, because otherwise one host would have two names.
extension URL {
    /// The host in its wire form, or `nil` if there is no host.
    package var wireHost: String? {
        guard let host = host(percentEncoded: true) else { return nil }
        guard host.utf8.contains(UInt8(ascii: "%")), !host.utf8.contains(UInt8(ascii: ":")) else { return host }
        return AddressParts(absoluteString).map { String($0.host) } ?? host
    }
}

extension String {
    /// The wire form of a host name; unchanged if the name is ASCII or isn't a valid host.
    package var wireHost: String {
        guard utf8.contains(where: { $0 >= 0x80 }), utf8.allSatisfy({ !"/?#@:[]".utf8.contains($0) }) else {
            return self
        }
        return URL(string: "http://\(self)/")?.wireHost ?? self
    }
}

extension AddressParts {
    /// The host, without credentials or port.
    fileprivate var host: Substring {
        let bytes = authority.utf8
        let start = bytes.lastIndex(of: UInt8(ascii: "@")).map { bytes.index(after: $0) } ?? bytes.startIndex
        let bracket = bytes[start...].lastIndex(of: UInt8(ascii: "]")) ?? start
        return authority[start..<(bytes[bracket...].firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex)]
    }
}
