// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The address of a request, as far as it is known before the request is built.
enum Address: Sendable {
    /// An absolute address.
    case url(URL)
    /// A path, and a query if it has one, to be appended to a base; escaped characters stay escaped.
    case reference(String)
    /// No address: the text or path that it was made of is invalid.
    case invalid(InvalidValue)

    /// Takes an address; one without a scheme is appended to a base.
    init(_ url: URL) {
        guard url.scheme == nil else {
            self = .url(url)
            return
        }
        let reference = url.relativeString
        self = .reference(reference.hasPrefix("./") ? String(reference.dropFirst(2)) : reference)
    }

    /// Reads an address as it is written: absolute, or a path with a query if it has one.
    init(_ text: String) {
        guard AddressParts(text) != nil else {
            self = .reference(text)
            return
        }
        self = Self.absolute(text)
    }

    /// An absolute address.
    static func absolute(_ text: String) -> Address {
        URL(lenient: text).map(Address.url) ?? .invalid(InvalidValue(.url, "isn't an address", excerpt: text))
    }

    /// The address of a path.
    init(_ path: HTTPRequest.Path) {
        self = path.failure.map(Address.invalid) ?? Address(path.text)
    }

    /// The address as a URL, for display and for code that has no base; relative if the address is.
    var url: URL {
        switch self {
        case .url(let url): url
        case .reference(let reference): URL(lenient: Self.path(of: reference)) ?? Self.unknown
        case .invalid: Self.unknown
        }
    }

    /// Returns a reference with at most one leading slash: two would begin a host, and a reference has none.
    private static func path(of reference: String) -> String {
        guard reference.isEmpty || reference.hasPrefix("/") else {
            return reference.hasColonInFirstSegment ? "./" + reference : reference
        }
        return "/" + reference.drop { $0 == "/" }
    }

    // The only address that needs no parsing, and so can't fail.
    private static let unknown = URL(filePath: "/")
}

extension Address: CustomReflectable {
    /// A mirror without credentials and query, so that `dump` of a request shows no more than its description.
    var customMirror: Mirror {
        Mirror(self, children: ["url": url.redactedDescription])
    }
}

/// An absolute address, split at the delimiters of RFC 3986, 3; its parts are neither decoded nor checked.
struct AddressParts {
    /// Scheme, credentials, host and port: everything before the path.
    let root: Substring
    /// Credentials, host and port.
    let authority: Substring
    /// The path, empty or with a slash in front.
    let path: Substring
    /// The query without its `?`, or `nil` if there is no query.
    let query: Substring?
    private let rest: Substring

    /// Splits an address; `nil` if it has no scheme or no authority.
    ///
    /// - Complexity: O(n).
    init?(_ address: String) {
        var address = address
        guard let ends = address.withUTF8(Self.ends) else { return nil }
        func index(_ offset: Int) -> String.Index { address.utf8.index(address.startIndex, offsetBy: offset) }
        let (pathStart, fragmentStart) = (index(ends.authority), index(ends.query))
        root = address[..<pathStart]
        authority = address[index(ends.scheme + 3)..<pathStart]
        path = address[pathStart..<index(ends.path)]
        query = ends.path < ends.query ? address[index(ends.path + 1)..<fragmentStart] : nil
        rest = address[pathStart...]
    }

    /// Returns where the parts of an address end; `nil` if it has no scheme or no authority.
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

    /// Path, query and fragment, unchanged.
    var reference: String { String(rest) }
}

extension StringProtocol {
    /// The reference without its fragment: the path, and the query without its `?`, if there is one.
    var splitAtQuery: (path: String, query: String?) {
        let end = utf8.firstIndex(of: UInt8(ascii: "#")) ?? endIndex
        guard let mark = utf8[..<end].firstIndex(of: UInt8(ascii: "?")) else {
            return (end == endIndex ? String(self) : String(self[..<end]), nil)
        }
        return (String(self[..<mark]), String(self[mark..<end].dropFirst()))
    }

    /// Whether the text is a valid scheme of an address (RFC 3986, 3.1).
    var isScheme: Bool {
        (utf8.first.map(ASCII.isLetter) ?? false) && ASCIISet.scheme.containsAll(self)
    }
}

// MARK: - International hosts

/// The names of hosts beyond ASCII, in the form that they have on the wire: `xn--bcher-kva.example` for
/// `bücher.example` (RFC 5890).
///
/// Foundation converts the host to this form when it reads an address, by the rules of UTS 46, and decodes it when
/// `host` is read. To compare or send a host, use the form on the wire, or one host would have two names.
extension URL {
    /// The host as it goes on the wire; `nil` if there is no host.
    package var wireHost: String? {
        guard let host = host(percentEncoded: true) else { return nil }
        guard host.utf8.contains(UInt8(ascii: "%")), !host.utf8.contains(UInt8(ascii: ":")) else { return host }
        return AddressParts(absoluteString).map { String($0.host) } ?? host
    }
}

extension String {
    /// The name of a host as it goes on the wire; unchanged if it is ASCII or can't be a host.
    package var wireHost: String {
        guard utf8.contains(where: { $0 >= 0x80 }), utf8.allSatisfy({ !"/?#@:[]".utf8.contains($0) }) else {
            return self
        }
        return URL(string: "http://\(self)/")?.wireHost ?? self
    }
}

extension AddressParts {
    /// The host, without credentials and port.
    fileprivate var host: Substring {
        let bytes = authority.utf8
        let start = bytes.lastIndex(of: UInt8(ascii: "@")).map { bytes.index(after: $0) } ?? bytes.startIndex
        let bracket = bytes[start...].lastIndex(of: UInt8(ascii: "]")) ?? start
        return authority[start..<(bytes[bracket...].firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex)]
    }
}
