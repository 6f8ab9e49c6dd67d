// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// What a server wants to see before it answers, from `WWW-Authenticate` or `Proxy-Authenticate` (RFC 9110, 11.6.1).
///
/// ```swift
/// let challenges = AuthenticationChallenge.list(parsing: response.headers[.wwwAuthenticate] ?? "")
/// if challenges.contains(where: { $0["error"] == "invalid_token" }) { … }
/// ```
public struct AuthenticationChallenge: Sendable, Hashable, CustomStringConvertible {
    /// The scheme, such as `Basic` or `Bearer`.
    public let scheme: String
    /// What stands behind the scheme where that isn't parameters, such as the blob of `Negotiate`.
    public let token: String?
    /// The parameters, in their order.
    public let parameters: [HTTPField.Parameter]

    /// Makes a challenge.
    public init(_ scheme: String, token: String? = nil, parameters: [HTTPField.Parameter] = []) {
        self.scheme = scheme
        self.token = token
        self.parameters = parameters
    }

    /// The value of the first parameter of a name, or nil where there is none.
    public subscript(name: String) -> String? { parameters[named: name] }

    /// The part of the server that the credentials are for.
    public var realm: String? { self["realm"] }

    /// Reads the challenges of a field, of which there may be several; what isn't one is passed over.
    ///
    /// - Complexity: O(n) in the length of the text.
    public static func list(parsing text: String) -> [AuthenticationChallenge] {
        // The commas between challenges are those between parameters too: only what stands before a parameter tells.
        var challenges: [AuthenticationChallenge] = []
        var scheme: String?
        var token: String?
        var parameters: [HTTPField.Parameter] = []
        func finish() {
            if let scheme { challenges.append(AuthenticationChallenge(scheme, token: token, parameters: parameters)) }
            (scheme, token, parameters) = (nil, nil, [])
        }
        for element in FieldScanner.elements(of: text) {
            var scanner = FieldScanner(element)
            if let parameter = scanner.parameter() {
                parameters.append(parameter)
                continue
            }
            scanner = FieldScanner(element)
            let name = scanner.token()
            guard !name.isEmpty, scanner.isAtEnd || scanner.next == UInt8(ascii: " ") else { continue }
            finish()
            scheme = name
            scanner.skipBlanks()
            guard !scanner.isAtEnd else { continue }
            var rest = scanner
            if let parameter = rest.parameter() {
                parameters.append(parameter)
            } else {
                token = scanner.text(upTo: " ")
            }
        }
        finish()
        return challenges
    }

    /// The challenge as it stands in the field.
    public var description: String {
        let pieces = [token].compactMap(\.self) + parameters.map(\.description)
        return pieces.isEmpty ? scheme : "\(scheme) \(pieces.joined(separator: ", "))"
    }
}

extension FieldScanner {
    /// Reads `name=value`; nil where something else is next, such as a token with padding at its end (`abc==`).
    fileprivate mutating func parameter() -> HTTPField.Parameter? {
        let name = token()
        skipBlanks()
        guard !name.isEmpty, skip("=") else { return nil }
        skipBlanks()
        guard let next, next != UInt8(ascii: "=") else { return nil }
        return HTTPField.Parameter(name, parameterValue(upTo: ","))
    }
}
