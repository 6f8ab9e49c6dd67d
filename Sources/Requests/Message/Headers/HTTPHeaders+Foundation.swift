// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension URLRequest {
    /// The header fields, in alphabetical order; Foundation keeps neither theirs nor fields of the same name apart.
    ///
    /// Invalid fields aren't dropped here; they are refused when this library runs the request.
    public var headers: HTTPHeaders {
        get { HTTPHeaders(allHTTPHeaderFields ?? [:]) }
        set { allHTTPHeaderFields = newValue.dictionary }
    }

    /// The method, `GET` where none is set.
    public var method: HTTPMethod {
        get { HTTPMethod(httpMethod ?? "GET") }
        set { httpMethod = newValue.rawValue }
    }
}

extension HTTPURLResponse {
    /// The header fields; Foundation keeps neither their order nor fields of the same name apart.
    public var headers: HTTPHeaders { HTTPHeaders(self) }
}

extension HTTPHeaders {
    /// Takes over the header fields of a Foundation response.
    ///
    /// Foundation joins fields of the same name with commas. `Set-Cookie` alone may not be joined (RFC 9110, 5.3),
    /// since the dates in it have commas too; it is taken apart again where a comma is followed by a name and `=`. So
    /// are `Age`, `Content-Range` and `Content-Type`, which have one value.
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
        switch name {
        case .setCookie: value.joinedCookies.map { HTTPField(name, $0) }
        // Repeated by mistake: no valid value has a comma outside of quotes.
        case .age, .contentRange, .contentType: FieldScanner.elements(of: value).map { HTTPField(name, $0) }
        default: [HTTPField(name, value)]
        }
    }
}

extension String {
    /// The values of several `Set-Cookie` fields that were joined with commas.
    fileprivate var joinedCookies: [String] {
        var cookies: [Substring] = []
        for piece in utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map(Substring.init) {
            if let last = cookies.last, !piece.beginsWithCookie {
                cookies[cookies.endIndex - 1] = self[last.startIndex..<piece.endIndex]
            } else {
                cookies.append(piece)
            }
        }
        return cookies.map { String($0.trimmedOfBlanks) }
    }
}

extension Substring {
    /// Whether a name and `=` come first: the rest of a date, and that of a quoted value, have none.
    fileprivate var beginsWithCookie: Bool {
        let text = utf8.drop { $0 == UInt8(ascii: " ") }
        let name = text.prefix { $0 > 0x20 && $0 != 0x7F && !";,=".utf8.contains($0) }
        return !name.isEmpty && text[name.endIndex...].first == UInt8(ascii: "=")
    }
}

// MARK: - HTTPHeaders

extension URLSessionConfiguration {
    /// The header fields of every request of the session, in alphabetical order; Foundation keeps neither theirs nor
    /// fields of the same name apart.
    public var headers: HTTPHeaders {
        get {
            let fields = (httpAdditionalHeaders ?? [:]).map { ("\($0.key)", "\($0.value)") }
            return HTTPHeaders(Dictionary(fields) { first, _ in first })
        }
        set { httpAdditionalHeaders = newValue.isEmpty ? nil : newValue.dictionary }
    }
}
