// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension URLRequest {
    /// The header fields; Foundation keeps neither their order nor fields of the same name apart.
    ///
    /// Invalid fields aren't dropped here; they are refused when this library runs the request.
    public var headers: HTTPHeaders {
        get { HTTPHeaders(self) }
        set { allHTTPHeaderFields = newValue.dictionary }
    }

    /// The method, `GET` where none is set.
    public var method: HTTPMethod {
        get { HTTPMethod(httpMethod ?? "GET") }
        set { httpMethod = newValue.rawValue }
    }
}

extension HTTPHeaders {
    /// Takes over the header fields of a Foundation request, in alphabetical order.
    public init(_ request: URLRequest) {
        self.init(request.allHTTPHeaderFields ?? [:])
    }
}

// MARK: - HTTPHeaders

extension HTTPURLResponse {
    /// The header fields; Foundation keeps neither their order nor fields of the same name apart.
    public var headers: HTTPHeaders { HTTPHeaders(self) }
}

extension HTTPHeaders {
    /// Takes over the header fields of a Foundation response.
    ///
    /// Foundation joins fields of the same name with commas. `Set-Cookie` alone may not be joined (RFC 9110, 5.3), since
    /// the dates in it have commas too; it is taken apart again where a comma is followed by a name and `=`.
    ///
    /// - Complexity: O(n) in the size of the fields.
    public init(_ response: HTTPURLResponse) {
        self.init(
            response.allHeaderFields.flatMap { key, value -> [HTTPField] in
                guard let name = (key as? String).map({ HTTPField.Name($0) }) else { return [] }
                return Self.fields(name, value as? String ?? "\(value)")
            }
        )
    }

    /// Takes over the header fields of one name of a Foundation response.
    init(_ response: HTTPURLResponse, only name: HTTPField.Name) {
        self.init(response.value(forHTTPHeaderField: name.rawValue).map { Self.fields(name, $0) } ?? [])
    }

    private static func fields(_ name: HTTPField.Name, _ value: String) -> [HTTPField] {
        guard name == .setCookie else { return [HTTPField(name, value)] }
        return value.joinedCookies.map { HTTPField(name, $0) }
    }
}

extension String {
    /// The values of several `Set-Cookie` fields that were joined with commas.
    fileprivate var joinedCookies: [String] {
        var (cookies, start) = ([String](), utf8.startIndex)
        var comma = utf8.firstIndex(of: UInt8(ascii: ","))
        while let end = comma {
            let next = utf8.index(after: end)
            if utf8[next...].beginsWithCookie {
                cookies.append(String(self[start..<end]))
                start = next
            }
            comma = utf8[next...].firstIndex(of: UInt8(ascii: ","))
        }
        cookies.append(String(self[start...]))
        return cookies.map(\.trimmedOfBlanks)
    }
}

extension Substring.UTF8View {
    /// Whether a name and `=` come first: the rest of a date, and that of a quoted value, have none.
    fileprivate var beginsWithCookie: Bool {
        let name = drop { $0 == UInt8(ascii: " ") }
        guard let end = name.firstIndex(where: { $0 <= 0x20 || $0 == 0x7F || $0.isCookieSeparator }) else {
            return false
        }
        return end != name.startIndex && name[end] == UInt8(ascii: "=")
    }
}

extension UInt8 {
    fileprivate var isCookieSeparator: Bool {
        self == UInt8(ascii: ";") || self == UInt8(ascii: ",") || self == UInt8(ascii: "=")
    }
}

// MARK: - HTTPHeaders

extension URLSessionConfiguration {
    /// The header fields of every request of the session; Foundation keeps neither their order nor fields of the same
    /// name apart.
    public var headers: HTTPHeaders {
        get { HTTPHeaders(self) }
        set { httpAdditionalHeaders = newValue.isEmpty ? nil : newValue.dictionary }
    }
}

extension HTTPHeaders {
    /// Takes over the additional header fields of a session, in alphabetical order.
    public init(_ configuration: URLSessionConfiguration) {
        let fields = configuration.httpAdditionalHeaders ?? [:]
        self.init(Dictionary(fields.map { ("\($0.key)", "\($0.value)") }) { first, _ in first })
    }
}
