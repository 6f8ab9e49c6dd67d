// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Where a request goes, as far as it is known before the request is built.
enum Address: Sendable {
    /// An address; one without a scheme is appended to a base.
    case url(URL)
    /// A path, and a query if it has one, to be appended to a base; what is escaped in it stays so.
    case reference(String)
    /// Nowhere: what it was made of is no address.
    case invalid(InvalidRequest)

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
        URL(string: text).map(Address.url) ?? .invalid(InvalidRequest(.url, "isn't an address", excerpt: text))
    }

    /// A path of components, each of which is one segment.
    init(components: [String]) {
        do throws(InvalidRequest) {
            var path = ""
            for component in components { path += try "/" + component.percentEncodedPathSegment() }
            self = .reference(path)
        } catch {
            self = .invalid(error)
        }
    }

    /// The address as a URL, for people and for code that has no base: relative where it is.
    var url: URL {
        switch self {
        case .url(let url): url
        case .reference(let reference): URL(string: reference.isEmpty ? "/" : reference) ?? Self.unknown
        case .invalid: Self.unknown
        }
    }

    // The only address that needs no reading, and so can't fail.
    private static let unknown = URL(filePath: "/")
}

extension Address: CustomReflectable {
    /// A mirror without credentials and query, so that `dump` of a request shows no more than its description.
    var customMirror: Mirror {
        Mirror(self, children: ["url": url.redactedDescription])
    }
}
