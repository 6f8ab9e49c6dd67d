// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension URLRequest {
    /// The header fields, in alphabetical order.
    ///
    /// Foundation doesn't keep the original order, and joins repeated fields. Invalid fields aren't dropped here, but
    /// make the request fail when this library runs it.
    public var headers: HTTPHeaders {
        get { HTTPHeaders(allHTTPHeaderFields ?? [:]) }
        set { allHTTPHeaderFields = newValue.dictionary }
    }

    /// The method; `GET` if none is set.
    public var method: HTTPMethod {
        get { HTTPMethod(httpMethod ?? "GET") }
        set { httpMethod = newValue.rawValue }
    }
}

extension HTTPURLResponse {
    /// The header fields.
    ///
    /// Foundation loses their order and joins repeated fields.
    public var headers: HTTPHeaders { HTTPHeaders(self) }
}

extension HTTPHeaders {
    /// Creates headers from a Foundation response.
    ///
    /// Foundation joins repeated fields with commas. `Set-Cookie` must not be joined (RFC 9110, 5.3), because its dates
    /// also contain commas, so this initializer splits it at each comma before a name and `=`. It also splits `Age`,
    /// `Content-Range` and `Content-Type`, which can have only one value.
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

    /// Creates headers from only those fields of a Foundation response that have the given name.
    init(_ response: HTTPURLResponse, only name: HTTPField.Name) {
        self.init(response.value(forHTTPHeaderField: name.rawValue).map { Self.fields(name, $0) } ?? [])
    }

    private static func fields(_ name: HTTPField.Name, _ value: String) -> [HTTPField] {
        switch name {
        case .setCookie: value.splitCookies.map { HTTPField(name, $0) }
        // A comma outside of quotes means that the field was repeated by mistake, because no valid value contains one.
        case .age, .contentRange, .contentType: FieldScanner.elements(of: value).map { HTTPField(name, $0) }
        default: [HTTPField(name, value)]
        }
    }
}

extension String {
    /// The values of several `Set-Cookie` fields that were joined with commas.
    fileprivate var splitCookies: [String] {
        var cookies: [Substring] = []
        for part in utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map(Substring.init) {
            if let last = cookies.last, !part.beginsWithCookie {
                cookies[cookies.endIndex - 1] = self[last.startIndex..<part.endIndex]
            } else {
                cookies.append(part)
            }
        }
        return cookies.map { String($0.trimmedOfBlanks) }
    }
}

extension Substring {
    /// Whether the string starts with a name and `=`, unlike the rest of a date or of a quoted value.
    fileprivate var beginsWithCookie: Bool {
        let text = utf8.drop { $0 == UInt8(ascii: " ") }
        let name = text.prefix { $0 > 0x20 && $0 != 0x7F && !";,=".utf8.contains($0) }
        return !name.isEmpty && text[name.endIndex...].first == UInt8(ascii: "=")
    }
}

// MARK: - HTTPHeaders

extension URLSessionConfiguration {
    /// The header fields that the session adds to every request, in alphabetical order.
    ///
    /// Foundation loses their order and joins repeated fields.
    public var headers: HTTPHeaders {
        get {
            let fields = (httpAdditionalHeaders ?? [:]).map { ("\($0.key)", "\($0.value)") }
            return HTTPHeaders(Dictionary(fields) { first, _ in first })
        }
        set { httpAdditionalHeaders = newValue.isEmpty ? nil : newValue.dictionary }
    }
}
