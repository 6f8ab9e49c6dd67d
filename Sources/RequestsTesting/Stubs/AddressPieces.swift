// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The pieces of an address, in the form in which two that mean the same are equal (RFC 3986, 6.2.2).
struct AddressPieces: Equatable {
    var scheme: String
    var host: String
    /// Nil also for the one that the scheme has by default.
    var port: Int?
    var path: String
    var query: String?

    init(_ url: URL) {
        let components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        scheme = (components?.scheme ?? "").lowercased()
        host = (components?.percentEncodedHost ?? "").lowercased()
        let defaultPort = scheme == "https" ? 443 : scheme == "http" ? 80 : nil
        port = components?.port == defaultPort ? nil : components?.port
        let path = (components?.percentEncodedPath ?? "").withUppercaseTriplets
        self.path = path.isEmpty ? "/" : path
        query = components?.percentEncodedQuery
    }

    /// The address again, without credentials and fragment.
    var text: String {
        "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")\(path)\(query.map { "?\($0)" } ?? "")"
    }
}

extension String {
    /// Whether a path as it is sent is the one that somebody means, who may have written it as it is sent.
    ///
    /// Names are decoded one by one: a `%2F` in one of them divides nothing.
    func isPath(_ path: String) -> Bool {
        if self == path.withUppercaseTriplets { return true }
        let names = split(separator: "/", omittingEmptySubsequences: false).map { $0.removingPercentEncoding }
        return names == path.split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
    }

    /// The text with the digits of each `%XX` in upper case: nobody means another address by `%2f` than by `%2F`.
    var withUppercaseTriplets: String {
        guard contains("%") else { return self }
        var digits = 0
        return String(
            decoding: utf8.map { byte in
                defer { digits = byte == UInt8(ascii: "%") ? 2 : max(0, digits - 1) }
                return digits > 0 && (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte) ? byte & 0xDF : byte
            },
            as: UTF8.self
        )
    }
}
