// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The credentials for one `Digest` challenge (RFC 7616): a username, a password, a nonce and its use count.
struct DigestSession: Sendable {
    /// The parts of a request that the digest covers (`qop` of RFC 7616).
    enum QualityOfProtection: String, Sendable {
        case auth
        /// The digest also covers the content of the request.
        case authInt = "auth-int"
    }

    let challenge: Authorization.Challenge
    /// The quality of protection of each digest; `nil` if the server supports only RFC 2069.
    let qualityOfProtection: QualityOfProtection?
    private let algorithm: Algorithm
    /// Whether the digests use a session key (`-sess`).
    private let usesSessionKey: Bool
    private let user: String
    private let password: String
    private let clientNonce: String
    /// The nonce of the next digest.
    private(set) var nonce: String
    private var nonceCount: UInt32 = 0

    /// Creates a session for a challenge; `nil` if the challenge has another scheme or unsupported requirements.
    ///
    /// - Parameters:
    ///   - challenge: The challenge.
    ///   - user: The username.
    ///   - password: The password.
    ///   - clientNonce: A string that makes the digests differ from those of other clients.
    init?(_ challenge: Authorization.Challenge, user: String, password: String, clientNonce: String) {
        let supportedQualities = challenge["qop"].map(Self.supportedQualities)
        guard challenge.scheme.equalsIgnoringASCIICase("Digest"), let nonce = challenge["nonce"],
            challenge.realm != nil, let (algorithm, usesSessionKey) = Self.algorithm(of: challenge),
            supportedQualities?.isEmpty != true
        else { return nil }
        self.challenge = challenge
        self.algorithm = algorithm
        self.usesSessionKey = usesSessionKey
        self.nonce = nonce
        self.clientNonce = clientNonce
        self.user = challenge.normalized(user)
        self.password = challenge.normalized(password)
        qualityOfProtection = supportedQualities?.first
    }

    /// Returns the rank of a challenge's algorithm, where a stronger algorithm has a higher rank; `nil` if the
    /// challenge isn't supported.
    static func strength(of challenge: Authorization.Challenge) -> Int? {
        guard challenge.isSupportedDigest, let (algorithm, _) = algorithm(of: challenge) else { return nil }
        return Algorithm.allCases.firstIndex(of: algorithm)
    }

    /// Returns the algorithm of a challenge, and whether its name ends in `-sess`.
    private static func algorithm(of challenge: Authorization.Challenge) -> (Algorithm, usesSessionKey: Bool)? {
        let name = challenge["algorithm"] ?? Algorithm.md5.rawValue
        for algorithm in Algorithm.allCases {
            if name.equalsIgnoringASCIICase(algorithm.rawValue) { return (algorithm, false) }
            if name.equalsIgnoringASCIICase(algorithm.rawValue + "-sess") { return (algorithm, true) }
        }
        return nil
    }

    /// Returns the supported values of a `qop` list.
    ///
    /// `auth` comes first, because it doesn't need the content.
    private static func supportedQualities(in list: String) -> [QualityOfProtection] {
        let names = FieldScanner.members(of: [list]).map(\.lowercasedASCII)
        return [.auth, .authInt].filter { names.contains($0.rawValue) }
    }

    /// Replaces the nonce with the one that a server requires for the next digest (RFC 7616, 3.5).
    ///
    /// This isn't a new challenge, so the session continues with the same key (RFC 7616, 3.4.2 and 3.6).
    mutating func renew(_ nonce: String) {
        guard nonce != self.nonce else { return }
        (self.nonce, nonceCount) = (nonce, 0)
    }

    /// Returns a new session for another challenge of the same realm; `nil` if the challenge isn't supported.
    func restarted(by challenge: Authorization.Challenge) -> DigestSession? {
        guard challenge.realm == self.challenge.realm else { return nil }
        return DigestSession(challenge, user: user, password: password, clientNonce: clientNonce)
    }

    /// Returns the credentials for a request, and increments the nonce count.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - target: The target of the request: path and query, or host and port of a tunnel.
    ///   - content: The content of the request, if the digest covers it.
    /// - Returns: The value of `Authorization` or `Proxy-Authorization`.
    mutating func authorization(for method: HTTPMethod, _ target: String, content: Data?) -> Authorization {
        nonceCount += 1
        let counter = String(format: "%08x", nonceCount)
        let realm = challenge.realm ?? ""
        var secret = algorithm.digest("\(user):\(realm):\(password)")
        // The session key always uses the nonce of the challenge, even after the server has sent other nonces.
        if usesSessionKey { secret = algorithm.digest("\(secret):\(challenge["nonce"] ?? ""):\(clientNonce)") }
        var request = "\(method.rawValue):\(target)"
        if qualityOfProtection == .authInt { request += ":\(algorithm.digest(content ?? Data()))" }
        let use = qualityOfProtection.map { "\(counter):\(clientNonce):\($0.rawValue):" } ?? ""
        let response = algorithm.digest("\(secret):\(nonce):\(use)\(algorithm.digest(request))")

        var parameters = usernameParameters(in: realm)
        parameters += [
            "realm=\(realm.quoted)", "nonce=\(nonce.quoted)", "uri=\(target.quoted)", "response=\"\(response)\"",
        ]
        if let algorithm = challenge["algorithm"] { parameters.append("algorithm=\(algorithm)") }
        if let opaque = challenge["opaque"] { parameters.append("opaque=\(opaque.quoted)") }
        if let qualityOfProtection { parameters += ["qop=\(qualityOfProtection.rawValue)", "nc=\(counter)"] }
        if qualityOfProtection != nil || usesSessionKey { parameters.append("cnonce=\(clientNonce.quoted)") }
        return Authorization("Digest " + parameters.joined(separator: ", "))
    }

    /// Returns the parameters for the username in the form that the server requires: hashed, in the encoding for
    /// non-ASCII characters, or plain.
    private func usernameParameters(in realm: String) -> [String] {
        if challenge["userhash"]?.equalsIgnoringASCIICase("true") == true {
            return ["username=\"\(algorithm.digest("\(user):\(realm)"))\"", "userhash=true"]
        }
        guard user.utf8.contains(where: { $0 >= 0x80 }), challenge["charset"] != nil else {
            return ["username=\(user.quoted)"]
        }
        return ["username*=UTF-8''\(ASCIISet.extendedValue.encode(user))"]
    }
}

extension DigestSession: CustomReflectable {
    /// A mirror without the password.
    var customMirror: Mirror { Mirror(self, children: ["challenge": challenge]) }
}

extension Authorization.Challenge {
    /// Whether ``DigestSession`` supports the challenge.
    var isSupportedDigest: Bool { DigestSession(self, user: "", password: "", clientNonce: "") != nil }

    /// Returns a username or a password in the form that the server expects.
    ///
    /// If the server requests UTF-8, the string is normalized, so that the bytes don't depend on the user's keyboard
    /// (RFC 7616, 4; RFC 7617, 2.1).
    func normalized(_ secret: String) -> String {
        guard self["charset"]?.equalsIgnoringASCIICase("UTF-8") == true else { return secret }
        return secret.precomposedStringWithCanonicalMapping
    }

    /// Whether the server rejected the request only because its nonce was too old.
    var isStale: Bool { self["stale"]?.equalsIgnoringASCIICase("true") == true }
}
