// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The answer to a challenge, for later requests to the same part of a server.
struct CredentialSpace: Sendable {
    /// The way in which requests are answered.
    enum Answer: Sendable {
        case basic(Authorization)
        case digest(DigestSession)

        var isDigest: Bool {
            if case .digest = self { true } else { false }
        }
    }

    /// The sender of a challenge.
    enum Asker: Sendable, Hashable {
        case origin(Origin)
        /// A proxy that receives the requests themselves.
        case proxy(ProxyRoute)
        /// A proxy that is asked for tunnels.
        case tunnel(ProxyRoute)

        var isProxy: Bool {
            if case .origin = self { false } else { true }
        }

        /// The request field of the answer.
        var credential: HTTPField.Name { isProxy ? .proxyAuthorization : .authorization }
    }

    let asker: Asker
    let realm: String
    /// The prefixes of the paths that the credentials apply to.
    let paths: [String]
    var answer: Answer

    /// Makes the space of a challenge to a request.
    ///
    /// For `Basic` it is the path of the request up to its last slash, and everything below (RFC 7617, 2.2). For
    /// `Digest` it is the value of `domain` on the same origin, or else the whole origin (RFC 7616, 3.3).
    init(_ asker: Asker, of challenge: AuthenticationChallenge, to url: URL, answer: Answer) {
        self.asker = asker
        self.answer = answer
        realm = challenge.realm ?? ""
        switch answer {
        case _ where asker.isProxy: paths = [""]
        case .basic:
            let path = url.path(percentEncoded: true)
            paths = [path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""]
        case .digest:
            let domains = (challenge["domain"] ?? "").split(separator: " ")
                .compactMap { URL(string: String($0), relativeTo: url)?.absoluteURL }
                .filter { Origin($0) == Origin(url) }
                .map { $0.path(percentEncoded: true) }
            paths = domains.isEmpty ? [""] : domains
        }
    }

    /// The length of the request's path that the space covers, in bytes; `nil` if the request is outside.
    func match(_ url: URL) -> Int? {
        guard asker.isProxy || asker == .origin(Origin(url)) else { return nil }
        let path = url.path(percentEncoded: true)
        return paths.filter { path.utf8.starts(with: $0.utf8) }.map(\.utf8.count).max()
    }
}

/// The answered spaces of an interceptor, the latest ones last, up to a limit.
struct CredentialSpaces: Sendable {
    /// The maximum number of spaces.
    static let limit = 100
    private var spaces: [CredentialSpace] = []
    /// The askers that have been answered with a digest, the latest ones last.
    private var digestAskers: [CredentialSpace.Asker] = []

    /// Stores a space, which replaces the one with the same realm.
    ///
    /// If a digest is accepted, no password is kept that would be sent unencrypted.
    mutating func insert(_ space: CredentialSpace) {
        spaces.removeAll { former in
            former.asker == space.asker
                && (former.realm == space.realm && former.paths == space.paths
                    || space.answer.isDigest && !former.answer.isDigest)
        }
        spaces.append(space)
        if spaces.count > Self.limit { spaces.removeFirst() }
        guard space.answer.isDigest, !knowsDigest(of: space.asker) else { return }
        digestAskers.append(space.asker)
        if digestAskers.count > Self.limit { digestAskers.removeFirst() }
    }

    /// Whether an asker has been answered with a digest before.
    func knowsDigest(of asker: CredentialSpace.Asker) -> Bool { digestAskers.contains(asker) }

    /// Removes the spaces of a realm, whose credentials were rejected.
    mutating func remove(_ asker: CredentialSpace.Asker, realm: String) {
        spaces.removeAll { $0.asker == asker && $0.realm == realm }
    }

    /// Returns the credentials for a request, and counts it; `nil` if there is no matching space.
    mutating func authorization(for sent: SentTarget, _ asker: CredentialSpace.Asker) -> Authorization? {
        let matching = spaces.indices.filter { spaces[$0].asker == asker }
            .compactMap { index in spaces[index].match(sent.url).map { (index, $0) } }
        guard let index = matching.max(by: { $0.1 < $1.1 })?.0 else { return nil }
        switch spaces[index].answer {
        case .basic(let authorization): return authorization
        case .digest(var session):
            guard let content = sent.content(for: session.protection) else { return nil }
            let answer = session.answer(to: sent.method, sent.target, content: content)
            spaces[index].answer = .digest(session)
            return answer
        }
    }

    /// Renews the nonce of a realm, without a challenge.
    ///
    /// - Parameters:
    ///   - asker: The sender of the nonce.
    ///   - former: The former nonce.
    ///   - nonce: The new one.
    mutating func renew(_ asker: CredentialSpace.Asker, _ former: String, with nonce: String) {
        change(asker, former) { $0.renew(nonce) }
    }

    /// Answers a new challenge of a realm with the same credentials as the former one.
    ///
    /// - Parameters:
    ///   - asker: The sender of the challenge.
    ///   - former: The former nonce.
    ///   - challenge: The new challenge.
    /// - Returns: Whether the nonce was known, and the challenge can be answered.
    mutating func restart(
        _ asker: CredentialSpace.Asker,
        _ former: String,
        by challenge: AuthenticationChallenge
    ) -> Bool {
        change(asker, former) { session in
            guard let next = session.restarted(by: challenge) else { return false }
            session = next
            return true
        } ?? false
    }

    /// Changes the session of a nonce; `nil` if the nonce is unknown.
    @discardableResult
    private mutating func change<Value>(
        _ asker: CredentialSpace.Asker,
        _ nonce: String,
        _ body: (inout DigestSession) -> Value
    ) -> Value? {
        for index in spaces.indices where spaces[index].asker == asker {
            guard case .digest(var session) = spaces[index].answer, session.presentNonce == nonce else { continue }
            defer { spaces[index].answer = .digest(session) }
            return body(&session)
        }
        return nil
    }
}

/// The parts of a request that a `Digest` covers.
struct SentTarget: Sendable {
    let method: HTTPMethod
    let url: URL
    /// The target in the request line.
    let target: String
    private let body: HTTPBody

    /// Makes the target for the sender of a challenge: the request line that it receives, and the content.
    init(_ request: HTTPRequest, for asker: CredentialSpace.Asker) {
        url = request.url
        if case .tunnel = asker {
            method = .connect
            body = .none
            let host = request.url.wireHost ?? ""
            target = (host.contains(":") ? "[\(host)]" : host) + ":\(request.url.port ?? 443)"
            return
        }
        body = request.body
        method = request.method
        let path = request.url.path(percentEncoded: true)
        target = (path.isEmpty ? "/" : path) + (request.url.query(percentEncoded: true).map { "?\($0)" } ?? "")
    }

    /// The content that the protection covers; `nil` if it can't be read before it is sent.
    func content(for protection: DigestSession.Protection?) -> Data? {
        guard protection == .authInt else { return Data() }
        guard let content = try? body.resolved().content else { return nil }
        switch content {
        case .none: return Data()
        case .data(let data): return data
        case .file(let url): return try? Data(contentsOf: url)
        case .stream: return nil
        }
    }
}
