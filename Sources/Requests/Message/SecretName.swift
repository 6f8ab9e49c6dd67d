// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Recognizes secrets by their names: those of header fields, of parameters, and of members of forms and JSON.
///
/// One rule decides for all uses: a value that isn't shown isn't sent to another origin either.
package enum SecretName {
    /// Whether a value of that name is most likely a secret, in any case and punctuation: `X-Vault-Token`, `apiKey`,
    /// `PRIVATE_TOKEN`.
    ///
    /// - Complexity: O(n).
    package static func matches(_ name: some StringProtocol) -> Bool {
        let letters = letters(of: name)
        return names.contains(letters) || endings.contains { letters.hasSuffix($0) }
    }

    /// Whether a value of that name is certainly a credential, in the singular or the plural.
    ///
    /// Recorded content is to be replayed, and a `code` or a `key` in it is hardly ever a secret.
    static func isCredential(_ name: some StringProtocol) -> Bool {
        let letters = singular(name)
        return letters == "otp" || credentials.contains { letters.hasSuffix($0) }
    }

    /// Whether a credential of that name may be a number.
    static func isCode(_ name: some StringProtocol) -> Bool {
        let letters = singular(name)
        return letters == "otp" || letters.hasSuffix("passcode")
    }

    /// Whether a name that matches is also a common word of a text.
    static func isCommonWord(_ name: some StringProtocol) -> Bool { commonWords.contains(name.lowercased()) }

    private static func letters(of name: some StringProtocol) -> String {
        // Some letters beyond ASCII have a lower case in ASCII.
        if name.utf8.contains(where: { $0 >= 0x80 }) {
            return name.lowercased().filter { $0.asciiValue.map(ASCII.isLetter) ?? false }
        }
        return String(decoding: name.utf8.lazy.map(ASCII.lowercased).filter(ASCII.isLetter), as: UTF8.self)
    }

    private static func singular(_ name: some StringProtocol) -> String {
        let letters = letters(of: name)
        return letters.hasSuffix("s") && !letters.hasSuffix("ss") ? String(letters.dropLast()) : letters
    }

    private static let credentials = [
        "token", "secret", "password", "passwd", "passphrase", "passcode", "pwd", "jwt", "apikey", "accesskey",
        "privatekey", "secretkey", "authorization", "credential", "sessionid",
    ]
    private static let endings =
        credentials + [
            "key", "pass", "signature", "sig", "auth", "authentication", "credentials", "session", "cookie", "bearer",
            "assertion", "otp", "passwordconfirmation", "verifier", "devicecode", "otpcode", "verificationcode",
            "samlresponse", "sessid", "passwords", "secrets", "apikeys",
        ]
    private static let names: Set = ["code", "sid", "pin", "dpop", "idtokenhint"]
    private static let commonWords: Set = [
        "code", "key", "pin", "pass", "session", "cookie", "signature", "assertion",
    ]
}
