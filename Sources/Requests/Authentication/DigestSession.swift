// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The answers to one challenge of the scheme `Digest` (RFC 7616): a user's name and password, and a count.
struct DigestSession: Sendable {
    /// The parts of a request that the digest covers.
    enum Protection: String, Sendable {
        case auth
        /// The content of the request too.
        case authInt = "auth-int"
    }

    /// The challenge.
    let challenge: Authorization.Challenge
    /// The qualityOfProtection of each answer; `nil` for servers of RFC 2069.
    let qualityOfProtection: Protection?
    private let algorithm: Algorithm
    /// Whether the session has a key of its own.
    private let hasKey: Bool
    private let user: String
    private let password: String
    private let clientNonce: String
    /// The nonce of the next answer.
    private(set) var nonce: String
    private var count: UInt32 = 0

    /// Begins to answer a challenge; `nil` if it has another scheme, or unknown requirements.
    ///
    /// - Parameters:
    ///   - challenge: The challenge.
    ///   - user: The user's name.
    ///   - password: The password.
    ///   - clientNonce: A text that makes the answers differ from those to another client.
    init?(_ challenge: Authorization.Challenge, user: String, password: String, clientNonce: String) {
        let protections = challenge["qop"].map(Self.protections)
        guard challenge.scheme.equalsIgnoringASCIICase("Digest"), let nonce = challenge["nonce"],
            challenge.realm != nil, let (algorithm, hasKey) = Self.algorithm(of: challenge),
            protections?.isEmpty != true
        else { return nil }
        self.challenge = challenge
        self.algorithm = algorithm
        self.hasKey = hasKey
        self.nonce = nonce
        self.clientNonce = clientNonce
        self.user = challenge.normalized(user)
        self.password = challenge.normalized(password)
        qualityOfProtection = protections?.first
    }

    /// The strength of the algorithm that a challenge names, for comparison; `nil` if the challenge can't be answered.
    static func strength(of challenge: Authorization.Challenge) -> Int? {
        guard challenge.isAnswerableDigest, let (algorithm, _) = algorithm(of: challenge) else { return nil }
        return Algorithm.allCases.firstIndex(of: algorithm)
    }

    /// The algorithm that a challenge names, and whether it ends in `-sess`.
    private static func algorithm(of challenge: Authorization.Challenge) -> (Algorithm, hasKey: Bool)? {
        let name = challenge["algorithm"] ?? Algorithm.md5.rawValue
        for algorithm in Algorithm.allCases {
            if name.equalsIgnoringASCIICase(algorithm.rawValue) { return (algorithm, false) }
            if name.equalsIgnoringASCIICase(algorithm.rawValue + "-sess") { return (algorithm, true) }
        }
        return nil
    }

    /// The known protections of a list; the one without the content first, since it costs nothing.
    private static func protections(in list: String) -> [Protection] {
        let names = FieldScanner.members(of: [list]).map(\.lowercasedASCII)
        return [.auth, .authInt].filter { names.contains($0.rawValue) }
    }

    /// Takes the nonce that a server requires for the next answer (RFC 7616, 3.5).
    ///
    /// That is no challenge, and the session continues: its key stays the same (RFC 7616, 3.4.2 and 3.6).
    mutating func renew(_ nonce: String) {
        guard nonce != self.nonce else { return }
        (self.nonce, count) = (nonce, 0)
    }

    /// Returns the session that another challenge of the same realm begins; `nil` if it can't be answered.
    func restarted(by challenge: Authorization.Challenge) -> DigestSession? {
        guard challenge.realm == self.challenge.realm else { return nil }
        return DigestSession(challenge, user: user, password: password, clientNonce: clientNonce)
    }

    /// Returns the answer for a request, and counts it.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - target: The target of the request: path and query, or host and port of a tunnel.
    ///   - content: The content of the request, if the answer covers it.
    /// - Returns: The value of `Authorization` or `Proxy-Authorization`.
    mutating func answer(to method: HTTPMethod, _ target: String, content: Data?) -> Authorization {
        count += 1
        let counter = String(format: "%08x", count)
        let realm = challenge.realm ?? ""
        var secret = algorithm.digest("\(user):\(realm):\(password)")
        // The session's key is made from the nonce of the challenge, whatever nonces follow.
        if hasKey { secret = algorithm.digest("\(secret):\(challenge["nonce"] ?? ""):\(clientNonce)") }
        var request = "\(method.rawValue):\(target)"
        if qualityOfProtection == .authInt { request += ":\(algorithm.digest(content ?? Data()))" }
        let use = qualityOfProtection.map { "\(counter):\(clientNonce):\($0.rawValue):" } ?? ""
        let response = algorithm.digest("\(secret):\(nonce):\(use)\(algorithm.digest(request))")

        var parts = name(in: realm)
        parts += ["realm=\(realm.quoted)", "nonce=\(nonce.quoted)", "uri=\(target.quoted)", "response=\"\(response)\""]
        if let algorithm = challenge["algorithm"] { parts.append("algorithm=\(algorithm)") }
        if let opaque = challenge["opaque"] { parts.append("opaque=\(opaque.quoted)") }
        if let qualityOfProtection { parts += ["qop=\(qualityOfProtection.rawValue)", "nc=\(counter)"] }
        if qualityOfProtection != nil || hasKey { parts.append("cnonce=\(clientNonce.quoted)") }
        return Authorization("Digest " + parts.joined(separator: ", "))
    }

    /// The user's name in the form that the server requires: as a digest, in the encoding for non-ASCII letters, or
    /// plain.
    private func name(in realm: String) -> [String] {
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
    /// Whether the challenge can be answered with ``DigestSession``.
    var isAnswerableDigest: Bool { DigestSession(self, user: "", password: "", clientNonce: "") != nil }

    /// Returns a name or a password as the server expects it: normalised if it asks for UTF-8, so that the bytes of a
    /// password don't depend on the keyboard it was typed on (RFC 7616, 4; RFC 7617, 2.1).
    func normalized(_ secret: String) -> String {
        guard self["charset"]?.equalsIgnoringASCIICase("UTF-8") == true else { return secret }
        return secret.precomposedStringWithCanonicalMapping
    }

    /// Whether only the nonce of the answer was too old, and not the password wrong.
    var isStale: Bool { self["stale"]?.equalsIgnoringASCIICase("true") == true }
}
