// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The answer to the challenges of a realm, for later requests to the same part of a server.
struct ProtectionSpace: Sendable {
    /// The way in which requests are answered.
    enum Answer: Sendable {
        case basic(Authorization)
        /// The sessions of recent challenges; the first is that of the newest nonce that the server has accepted.
        case digest([DigestSession])
        /// The challenge isn't answered, or fails the request.
        case refused((any Error)?)
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

        /// The response field with the next nonce; the fields of a response through a tunnel are those of the origin.
        var info: HTTPField.Name? {
            switch self {
            case .origin: .authenticationInfo
            case .proxy: .proxyAuthenticationInfo
            case .tunnel: nil
            }
        }
    }

    /// The identity of a space: challenges of one realm have one answer (RFC 9110, 11.5).
    struct ID: Sendable, Hashable {
        let asker: Asker
        let realm: String
    }

    /// The maximum number of sessions, and of paths.
    private static let limit = 100
    let id: ID
    /// The number of the answer, which is greater than those of earlier answers.
    let generation: Int
    /// The prefixes of the paths that the credentials apply to.
    private var paths: [String]
    private(set) var answer: Answer
    /// Whether the scheme of the challenge was `Digest`, whatever the answer is.
    let isDigest: Bool
    /// Whether the server has rejected the credentials: only requests that were waiting for them try them still.
    var isRejected = false

    /// Makes the space of a challenge to a request.
    ///
    /// For `Basic` it is the path of the request up to its last slash, and everything below (RFC 7617, 2.2). For
    /// `Digest`, and for proxies, it is everything: a `domain` of a challenge (RFC 7616, 3.3) is ignored, since an
    /// answer outside of it only identifies the user to the same server.
    init(_ id: ID, of challenge: Authorization.Challenge, to url: URL, answer: Answer, generation: Int) {
        self.id = id
        self.answer = answer
        self.generation = generation
        isDigest = challenge.isAnswerableDigest
        var isEverywhere = id.asker.isProxy
        if case .digest = answer { isEverywhere = true }
        paths = [isEverywhere ? "" : Self.folder(of: url)]
    }

    private static func folder(of url: URL) -> String {
        let path = url.path(percentEncoded: true)
        return path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    /// The length of the request's path that the space covers, in bytes; `nil` if the request is outside.
    func match(_ url: URL) -> Int? {
        let path = url.path(percentEncoded: true)
        return paths.filter { path.utf8.starts(with: $0.utf8) }.map(\.utf8.count).max()
    }

    /// Counts a request, and returns the credentials for it.
    ///
    /// A challenge is answered with its own nonce, which no other request gets before the server has accepted it: it
    /// may be valid only once.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - challenge: The challenge to the request; `nil` if there was none yet.
    /// - Returns: The credentials; `nil` if they can't be made.
    mutating func authorization(
        for request: HTTPRequest,
        to challenge: Authorization.Challenge? = nil
    ) -> Authorization? {
        switch answer {
        case .refused: return nil
        case .basic(let authorization):
            guard let challenge else { return authorization }
            guard !challenge.isAnswerableDigest else { return nil }
            if match(request.url) == nil { paths = paths.suffix(Self.limit - 1) + [Self.folder(of: request.url)] }
            return authorization
        case .digest(var sessions):
            var index = 0
            if let challenge {
                guard let session = sessions[0].restarted(by: challenge) else { return nil }
                if let known = sessions.firstIndex(where: { $0.nonce == session.nonce }) {
                    index = known
                } else {
                    if sessions.count == Self.limit { sessions.remove(at: 1) }
                    index = sessions.count
                    sessions.append(session)
                }
            }
            let coversContent = sessions[index].qualityOfProtection == .authInt
            guard let content = coversContent ? request.content(for: id.asker) : Data() else { return nil }
            defer { answer = .digest(sessions) }
            let (method, target) = request.line(for: id.asker)
            return sessions[index].authorization(for: method, target, content: content)
        }
    }

    /// Records that the server has accepted a nonce.
    ///
    /// - Parameters:
    ///   - nonce: The nonce.
    ///   - next: The nonce that the server requires from now on (RFC 7616, 3.5).
    /// - Returns: Whether the nonce is one of the space.
    mutating func accept(_ nonce: String, next: String?) -> Bool {
        guard case .digest(var sessions) = answer,
            let index = sessions.firstIndex(where: { $0.nonce == next })
                ?? sessions.firstIndex(where: { $0.nonce == nonce })
        else { return false }
        var session = sessions.remove(at: index)
        if let next { session.renew(next) }
        answer = .digest([session] + sessions)
        return true
    }
}

/// The answered spaces of an interceptor, the latest ones last, up to a limit; and the questions for answers.
struct ProtectionSpaces: Sendable {
    /// The answers that a request was sent with, for one asker.
    struct Use: Sendable {
        /// The number of the answer that it was last sent with; `nil` if it was sent without one.
        fileprivate var generation: Int?
        /// The number of the newest answer when it was last sent: later ones are those to questions that include it.
        fileprivate var start = 0
        /// The number of the answer whose nonce was renewed.
        fileprivate var renewed: Int?
        /// Whether an answer of an earlier question has been tried, which wasn't meant for its path.
        fileprivate var isExtended = false
        /// Whether the question has been answered.
        fileprivate(set) var isAnswered = false
    }

    /// A question that requests wait for.
    private struct Question: Sendable {
        let number: Int
        var waiters: [Int: @Sendable () -> Void]
        var task: Task<Void, Never>?
    }

    /// The maximum number of spaces.
    static let limit = 100
    private var spaces: [ProtectionSpace] = []
    private var questions: [ProtectionSpace.ID: Question] = [:]
    /// The number of the last answer or wait.
    private var count = 0

    /// Whether an asker has asked for a digest before.
    func knowsDigest(of asker: ProtectionSpace.Asker) -> Bool {
        spaces.contains { $0.isDigest && $0.id.asker == asker }
    }

    // MARK: Answers

    /// Returns the credentials for a request, and counts it; `nil` if there is no matching space.
    mutating func authorization(
        for request: HTTPRequest,
        _ asker: ProtectionSpace.Asker,
        _ use: inout Use
    ) -> Authorization? {
        (use.generation, use.start) = (nil, count)
        let matching = spaces.indices.filter { spaces[$0].id.asker == asker && !spaces[$0].isRejected }
            .compactMap { index in spaces[index].match(request.url).map { (index, $0) } }
        guard let index = matching.max(by: { $0.1 < $1.1 })?.0,
            let authorization = spaces[index].authorization(for: request)
        else { return nil }
        use.generation = spaces[index].generation
        return authorization
    }

    /// Returns the known credentials for a request that was challenged; `nil` if the question has to be asked.
    ///
    /// If the request was sent with the credentials of the realm, these are rejected, unless only their nonce was too
    /// old. Those that have replaced them since are the answer.
    ///
    /// - Throws: The error that is the answer.
    mutating func authorization(
        for request: HTTPRequest,
        to challenge: Authorization.Challenge,
        of id: ProtectionSpace.ID,
        _ use: inout Use
    ) throws -> Authorization? {
        guard let index = spaces.firstIndex(where: { $0.id == id }) else { return nil }
        if spaces[index].generation == use.generation {
            guard challenge.isStale, use.renewed != use.generation else {
                spaces[index].isRejected = true
                return nil
            }
            use.renewed = use.generation
        } else if spaces[index].generation > use.start {
            guard !use.isAnswered else { return nil }
            use.isAnswered = true
            if case .refused(let error?) = spaces[index].answer { throw error }
        } else {
            guard !use.isExtended, !spaces[index].isRejected else { return nil }
            use.isExtended = true
        }
        guard let authorization = spaces[index].authorization(for: request, to: challenge) else { return nil }
        (use.generation, use.start) = (spaces[index].generation, count)
        return authorization
    }

    /// Records that a server has accepted a nonce, and which one it requires next.
    mutating func accept(_ nonce: String, by asker: ProtectionSpace.Asker, next: String?) {
        for index in spaces.indices where spaces[index].id.asker == asker {
            if spaces[index].accept(nonce, next: next) { return }
        }
    }

    // MARK: Questions

    /// Adds a request to those that wait for an answer.
    ///
    /// - Returns: The number of the wait, and whether it is the first one, for which the question has to be asked;
    ///   `nil` if the question has been answered since the request was sent.
    mutating func wait(
        for id: ProtectionSpace.ID,
        _ use: Use,
        _ resume: @escaping @Sendable () -> Void
    ) -> (number: Int, isFirst: Bool)? {
        guard !spaces.contains(where: { $0.id == id && $0.generation > use.start }) else { return nil }
        count += 1
        let isFirst = questions[id] == nil
        questions[id, default: Question(number: count, waiters: [:])].waiters[count] = resume
        return (count, isFirst)
    }

    /// Records the task of a question, unless it has been answered.
    mutating func start(_ task: Task<Void, Never>, of id: ProtectionSpace.ID, _ number: Int) {
        if questions[id]?.number == number { questions[id]?.task = task }
    }

    /// Removes a request that no longer waits; returns the task of a question that no request waits for any more.
    mutating func withdraw(_ number: Int, from id: ProtectionSpace.ID) -> Task<Void, Never>? {
        questions[id]?.waiters[number] = nil
        guard let question = questions[id], question.waiters.isEmpty else { return nil }
        questions[id] = nil
        return question.task
    }

    /// Stores the answer to a question, which replaces the one with the same realm; returns the waiting requests.
    ///
    /// If a digest is accepted, no password is kept that would be sent unencrypted.
    mutating func end(
        _ number: Int,
        of id: ProtectionSpace.ID,
        with answer: ProtectionSpace.Answer,
        to challenge: Authorization.Challenge,
        of url: URL
    ) -> [@Sendable () -> Void] {
        // A question that no request waited for any more was cancelled, and may have been asked again.
        guard questions[id]?.number == number, let question = questions.removeValue(forKey: id) else { return [] }
        count += 1
        var isAccepted = false
        if case .digest = answer { isAccepted = true }
        spaces.removeAll { $0.id == id || isAccepted && $0.id.asker == id.asker && !$0.isDigest }
        spaces.append(ProtectionSpace(id, of: challenge, to: url, answer: answer, generation: count))
        if spaces.count > Self.limit { spaces.removeFirst() }
        return Array(question.waiters.values)
    }
}

extension HTTPRequest {
    /// The method and the target in the request line that the sender of a challenge receives.
    fileprivate func line(for asker: ProtectionSpace.Asker) -> (method: HTTPMethod, target: String) {
        if case .tunnel = asker {
            let host = url.wireHost ?? ""
            return (.connect, (host.contains(":") ? "[\(host)]" : host) + ":\(url.port ?? 443)")
        }
        let path = url.path(percentEncoded: true)
        return (method, (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?\($0)" } ?? ""))
    }

    /// The content that the sender of a challenge receives; `nil` if it can't be read before it is sent.
    fileprivate func content(for asker: ProtectionSpace.Asker) -> Data? {
        if case .tunnel = asker { return Data() }
        guard let content = try? body.resolved().content else { return nil }
        switch content {
        case .none: return Data()
        case .data(let data): return data
        case .file(let url): return try? Data(contentsOf: url)
        case .stream: return nil
        }
    }
}
