// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Tells secrets by their names: those of header fields, of parameters, and of members of forms and JSON.
///
/// One rule for all that is done about secrets: what isn't shown isn't sent elsewhere either.
package enum SecretName {
    /// Whether what has that name is most likely a secret, whatever its case and punctuation: `X-Vault-Token`,
    /// `apiKey`, `PRIVATE_TOKEN`.
    ///
    /// - Complexity: O(n).
    package static func matches(_ name: some StringProtocol) -> Bool {
        // There are letters beyond ASCII whose lower case is in it.
        if name.utf8.contains(where: { $0 >= 0x80 }) { return matches(bytes: name.lowercased().utf8) }
        return matches(bytes: name.utf8)
    }

    private static func matches(bytes: some Sequence<UInt8>) -> Bool {
        let letters = String(decoding: bytes.map(ASCII.lowercased).filter(ASCII.isLetter), as: UTF8.self)
        return names.contains(letters) || endings.contains { letters.hasSuffix($0) }
    }

    private static let endings = [
        "token", "key", "secret", "password", "passwd", "passphrase", "pass", "pwd", "signature", "sig", "auth",
        "authorization", "credential", "credentials", "session", "sessionid", "jwt", "cookie",
    ]
    private static let names: Set = ["code", "sid", "otp", "pin", "assertion", "idtokenhint"]
}
