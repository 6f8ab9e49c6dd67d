// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Credentials for the `Authorization` and `Proxy-Authorization` fields (RFC 9110, 11.4).
///
/// ```swift
/// let field: HTTPField = .authorization(.bearer("abc"))       // Authorization: Bearer abc
/// let basic = Authorization.basic(username: "Aladdin", password: "open sesame")
/// let other = Authorization("GoogleLogin auth=abc")
/// ```
///
/// Descriptions show only the scheme, and never the credentials.
public struct Authorization: Sendable, Hashable {
    /// The credentials as they appear in the field.
    public let rawValue: String
    /// The reason why the credentials can't be sent; `nil` if they can.
    private let invalidityReason: String?

    /// Creates credentials from the value of a field: a scheme, followed by a token or parameters.
    public init(_ rawValue: String) {
        self.init(rawValue, reason: nil)
    }

    /// Creates credentials from a scheme and a token.
    public init(scheme: String, token: String) {
        let isValidToken = !token.isEmpty && ASCIISet.visible.containsAll(token)
        self.init(
            "\(scheme) \(token)",
            reason: !scheme.isToken
                ? "has an invalid scheme"
                : isValidToken ? nil : "has a token that is empty or contains a space or a control character"
        )
    }

    private init(_ rawValue: String, reason: String?) {
        self.rawValue = rawValue
        self.invalidityReason = reason
    }

    /// Creates credentials with a bearer token (RFC 6750).
    public static func bearer(_ token: String) -> Authorization {
        Authorization(scheme: "Bearer", token: token)
    }

    /// Creates credentials with an OAuth token, for services that use the older scheme `OAuth` instead of `Bearer`.
    public static func oauth(_ token: String) -> Authorization {
        Authorization(scheme: "OAuth", token: token)
    }

    /// Creates credentials from a user name and password, in UTF-8 (RFC 7617).
    ///
    /// A user name with a colon makes the request fail when it is built, because the server would read a different
    /// name. A control character in the user name or password also makes it fail.
    public static func basic(username: String, password: String) -> Authorization {
        let isText = ASCIISet.fieldValue.removing("\t").containsAll(username + password)
        return Authorization(
            "Basic " + Data("\(username):\(password)".utf8).base64EncodedString(),
            reason: username.utf8.contains(UInt8(ascii: ":"))
                ? "has a user name that contains a colon"
                : isText ? nil : "has a user name or password that contains a control character"
        )
    }

    /// The scheme, such as `Bearer`.
    public var scheme: String { String(rawValue.prefix { $0 != " " }) }

    /// The token after the scheme, as with `Bearer`; `nil` if the scheme has parameters or nothing after it.
    public var token: String? {
        guard parameters.isEmpty else { return nil }
        let token = String(rawValue.dropFirst(scheme.count)).trimmedOfBlanks
        return token.isEmpty ? nil : token
    }

    /// The parameters, as with `Digest`; empty if a token follows the scheme.
    public var parameters: [HTTPField.Parameter] {
        Authorization.Challenge.list(parsing: rawValue).first?.parameters ?? []
    }

    /// The part that identifies the user.
    ///
    /// The identity is the entire value, except for `Digest`, whose responses are different each time.
    var identity: String {
        let parameters = parameters
        guard scheme.equalsIgnoringASCIICase("Digest"), !parameters.isEmpty else { return rawValue.trimmedOfBlanks }
        return ["username", "username*", "realm"].map { parameters[named: $0] ?? "" }.joined(separator: "\n")
    }

    /// The user name and password of the scheme `Basic`; `nil` for other schemes, or if they can't be decoded.
    public var basicCredentials: (username: String, password: String)? {
        guard scheme.equalsIgnoringASCIICase("Basic"), let token, let data = Data(base64Encoded: token),
            let text = String(data: data, encoding: .utf8), let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        return (String(text[..<colon]), String(text[text.utf8.index(after: colon)...]))
    }
}

extension Authorization: HTTPField.Value, DescribedMirror {
    /// Returns the credentials if they can be sent, and throws an error otherwise.
    ///
    /// - Throws: ``InvalidValue``, which doesn't reveal the credentials.
    public func validated() throws(InvalidValue) -> Authorization {
        let reason = invalidityReason ?? (rawValue.isFieldValue ? nil : "contains a control character")
        if let reason { throw InvalidValue(in: .authorization, reason) }
        return self
    }

    /// The scheme, without the secret.
    public var description: String {
        // A string that doesn't start with a scheme may be the secret itself.
        let isScheme = scheme != rawValue && ASCIISet.label.containsAll(scheme)
        return isScheme ? "\(scheme.shortened(to: 16)) <redacted>" : "<redacted>"
    }
}

extension Authorization {
    /// A server's or proxy's challenge, from `WWW-Authenticate` or `Proxy-Authenticate` (RFC 9110, 11.6.1).
    ///
    /// ```swift
    /// let challenges = response.headers[values: .wwwAuthenticate].flatMap(Authorization.Challenge.list(parsing:))
    /// if challenges.contains(where: { $0["error"] == "invalid_token" }) { … }
    /// ```
    public struct Challenge: Sendable, Hashable, CustomStringConvertible {
        /// The scheme, such as `Basic` or `Bearer`.
        public let scheme: String
        /// The token after the scheme, as with `Negotiate`; `nil` if the scheme has parameters or nothing after it.
        public let token: String?
        /// The parameters, in the order in which they were sent.
        public let parameters: [HTTPField.Parameter]

        /// Creates a challenge.
        public init(_ scheme: String, token: String? = nil, parameters: [HTTPField.Parameter] = []) {
            self.scheme = scheme
            self.token = token
            self.parameters = parameters
        }

        /// The value of the first parameter with this name, or `nil` if the challenge doesn't have it.
        public subscript(name: String) -> String? { parameters[named: name] }

        /// The protection space on the server that the credentials are valid for.
        public var realm: String? { self["realm"] }

        /// Parses the challenges in the value of a field, and skips invalid challenges.
        ///
        /// A challenge with an unterminated quote is invalid, and so is everything after it in the field. This way,
        /// text that a server quotes can never become a challenge. If the field is repeated, parse each value
        /// separately.
        ///
        /// - Complexity: O(n) in the length of the string.
        public static func list(parsing text: String) -> [Challenge] {
            // Commas separate challenges as well as parameters. Only the text before a parameter distinguishes the two
            // cases.
            var challenges: [Challenge] = []
            var scheme: String?
            var token: String?
            var parameters: [HTTPField.Parameter] = []
            func finish() {
                if let scheme { challenges.append(Challenge(scheme, token: token, parameters: parameters)) }
                (scheme, token, parameters) = (nil, nil, [])
            }
            let (members, unread) = FieldScanner.split(text)
            for element in members {
                var scanner = FieldScanner(element)
                if let parameter = scanner.parameter() {
                    parameters.append(parameter)
                    continue
                }
                guard let name = FieldScanner(element).scheme() else { continue }
                finish()
                scheme = name
                scanner = FieldScanner(String(element.dropFirst(name.count)))
                scanner.skipBlanks()
                guard !scanner.isAtEnd else { continue }
                var rest = scanner
                if let parameter = rest.parameter() {
                    parameters.append(parameter)
                } else {
                    let text = scanner.text { $0 > UInt8(ascii: " ") && $0 != UInt8(ascii: "\"") && $0 != 0x7F }
                    token = text.isEmpty ? nil : text
                }
            }
            // Drop a challenge if a parameter, such as its algorithm, has an unterminated quote, because the challenge
            // would have a different meaning without that parameter.
            var rest = unread.map { FieldScanner($0) }
            if rest?.parameter() == nil { finish() }
            return challenges
        }

        /// The challenge as it appears in the field.
        public var description: String {
            let parts = [token].compactMap(\.self) + parameters.map(\.description)
            return parts.isEmpty ? scheme : "\(scheme) \(parts.joined(separator: ", "))"
        }
    }
}

extension FieldScanner {
    /// Returns the scheme at the start of a challenge; `nil` if something else comes next.
    fileprivate func scheme() -> String? {
        var scanner = self
        let name = scanner.token()
        return name.isEmpty || !scanner.isAtEnd && scanner.next != UInt8(ascii: " ") ? nil : name
    }

    /// Reads `name=value`; returns `nil` if something else comes next, such as a token that ends with padding
    /// (`abc==`).
    fileprivate mutating func parameter() -> HTTPField.Parameter? {
        let name = token()
        skipBlanks()
        guard !name.isEmpty, skip("=") else { return nil }
        skipBlanks()
        guard let next, next != UInt8(ascii: "=") else { return nil }
        return HTTPField.Parameter(name, parameterValue(upTo: ","))
    }
}
