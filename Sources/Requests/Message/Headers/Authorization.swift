// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The credentials of a caller, for `Authorization` and `Proxy-Authorization` (RFC 9110, 11.4).
///
/// ```swift
/// let field: HTTPField = .authorization(.bearer("abc"))       // Authorization: Bearer abc
/// let basic = Authorization.basic(username: "Aladdin", password: "open sesame")
/// let other = Authorization("GoogleLogin auth=abc")
/// ```
///
/// No description shows the credentials, only their scheme.
public struct Authorization: Sendable, Hashable {
    /// The credentials as they stand in the field.
    public let rawValue: String
    /// The reason why they can't be sent.
    private let reason: String?

    /// Takes credentials as they stand in the field: a scheme, and a token or parameters.
    public init(_ rawValue: String) {
        self.init(rawValue, reason: nil)
    }

    /// Makes credentials of a scheme and a token.
    public init(scheme: String, token: String) {
        let isSendable = !token.isEmpty && ASCIISet.visible.containsAll(token)
        self.init(
            "\(scheme) \(token)",
            reason: !scheme.isToken
                ? "has an invalid scheme"
                : isSendable ? nil : "has a token that is empty, or has a space or a control character"
        )
    }

    private init(_ rawValue: String, reason: String?) {
        self.rawValue = rawValue
        self.reason = reason
    }

    /// A bearer token (RFC 6750).
    public static func bearer(_ token: String) -> Authorization {
        Authorization(scheme: "Bearer", token: token)
    }

    /// An OAuth token with the scheme that services used before `Bearer`.
    public static func oauth(_ token: String) -> Authorization {
        Authorization(scheme: "OAuth", token: token)
    }

    /// A user's name and password, in UTF-8 (RFC 7617).
    ///
    /// A name with a colon, or a control character in either, is refused when the request is built: the server would
    /// read a different name.
    public static func basic(username: String, password: String) -> Authorization {
        let isText = ASCIISet.fieldValue.removing("\t").containsAll(username + password)
        return Authorization(
            "Basic " + Data("\(username):\(password)".utf8).base64EncodedString(),
            reason: username.utf8.contains(UInt8(ascii: ":"))
                ? "has a user's name with a colon"
                : isText ? nil : "has a control character in the name or the password"
        )
    }

    /// The scheme, such as `Bearer`.
    public var scheme: String { String(rawValue.prefix { $0 != " " }) }

    /// The token behind the scheme, such as that of `Bearer`; `nil` if parameters or nothing follow the scheme.
    public var token: String? {
        guard parameters.isEmpty else { return nil }
        let token = String(rawValue.dropFirst(scheme.count)).trimmedOfBlanks
        return token.isEmpty ? nil : token
    }

    /// The parameters, such as those of `Digest`; empty if a token follows the scheme.
    public var parameters: [HTTPField.Parameter] {
        Authorization.Challenge.list(parsing: rawValue).first?.parameters ?? []
    }

    /// The part that identifies the user: all of it, except for `Digest`, whose responses differ each time.
    var identity: String {
        let parameters = parameters
        guard scheme.equalsIgnoringASCIICase("Digest"), !parameters.isEmpty else { return rawValue.trimmedOfBlanks }
        return ["username", "username*", "realm"].map { parameters[named: $0] ?? "" }.joined(separator: "\n")
    }

    /// The user's name and password of the scheme `Basic`; `nil` for other schemes, or if they can't be read.
    public var basicCredentials: (username: String, password: String)? {
        guard scheme.equalsIgnoringASCIICase("Basic"), let token, let data = Data(base64Encoded: token),
            let text = String(data: data, encoding: .utf8), let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        return (String(text[..<colon]), String(text[text.utf8.index(after: colon)...]))
    }
}

extension Authorization: HTTPField.Value, DescribedMirror {
    /// The credentials themselves, if they can be sent.
    ///
    /// - Throws: ``InvalidValue``, which doesn't show them.
    public func validated() throws(InvalidValue) -> Authorization {
        let reason = reason ?? (rawValue.isFieldValue ? nil : "has a control character")
        if let reason { throw InvalidValue(.headerValue, "of Authorization \(reason)") }
        return self
    }

    /// The scheme, without the secret.
    public var description: String {
        // A text that doesn't look like a scheme may be the secret itself.
        let isScheme = scheme != rawValue && ASCIISet.label.containsAll(scheme)
        return isScheme ? "\(scheme.shortened(to: 16)) <redacted>" : "<redacted>"
    }
}

extension Authorization {
    /// A request for credentials by a server, from `WWW-Authenticate` or `Proxy-Authenticate` (RFC 9110, 11.6.1).
    ///
    /// ```swift
    /// let challenges = response.headers[values: .wwwAuthenticate].flatMap(Authorization.Challenge.list(parsing:))
    /// if challenges.contains(where: { $0["error"] == "invalid_token" }) { … }
    /// ```
    public struct Challenge: Sendable, Hashable, CustomStringConvertible {
        /// The scheme, such as `Basic` or `Bearer`.
        public let scheme: String
        /// The token behind the scheme, such as the blob of `Negotiate`; `nil` if parameters or nothing follow the
        /// scheme.
        public let token: String?
        /// The parameters, in their order.
        public let parameters: [HTTPField.Parameter]

        /// Makes a challenge.
        public init(_ scheme: String, token: String? = nil, parameters: [HTTPField.Parameter] = []) {
            self.scheme = scheme
            self.token = token
            self.parameters = parameters
        }

        /// The value of the first parameter of a name, or `nil` if the challenge doesn't have it.
        public subscript(name: String) -> String? { parameters[named: name] }

        /// The part of the server that the credentials are for.
        public var realm: String? { self["realm"] }

        /// Reads the challenges of a field, of which there may be several; invalid ones are skipped.
        ///
        /// A challenge in which a quote is left open is invalid, and ends the field: a text that a server only quotes never
        /// becomes a challenge. Read repeated fields one by one.
        ///
        /// - Complexity: O(n) in the length of the text.
        public static func list(parsing text: String) -> [Challenge] {
            // Commas separate both challenges and parameters: only the text before a parameter tells which.
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
            // The challenge with the open quote is invalid: without its algorithm, for example, it would be another one.
            var rest = unread.map { FieldScanner($0) }
            if rest?.parameter() == nil { finish() }
            return challenges
        }

        /// The challenge as it stands in the field.
        public var description: String {
            let parts = [token].compactMap(\.self) + parameters.map(\.description)
            return parts.isEmpty ? scheme : "\(scheme) \(parts.joined(separator: ", "))"
        }
    }
}

extension FieldScanner {
    /// Returns the scheme with which a challenge begins; `nil` if something else is next.
    fileprivate func scheme() -> String? {
        var scanner = self
        let name = scanner.token()
        return name.isEmpty || !scanner.isAtEnd && scanner.next != UInt8(ascii: " ") ? nil : name
    }

    /// Reads `name=value`; `nil` if something else is next, such as a token with padding at its end (`abc==`).
    fileprivate mutating func parameter() -> HTTPField.Parameter? {
        let name = token()
        skipBlanks()
        guard !name.isEmpty, skip("=") else { return nil }
        skipBlanks()
        guard let next, next != UInt8(ascii: "=") else { return nil }
        return HTTPField.Parameter(name, parameterValue(upTo: ","))
    }
}
