// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A protection space with its credentials, for later requests to the same part of a server (RFC 9110, 11.5).
struct ProtectionSpace: Sendable {
    /// The credentials of a protection space, by scheme.
    enum Credentials: Sendable {
        case basic(Authorization)
        /// The sessions of recent challenges. The first has the newest nonce that the server has accepted.
        case digest([DigestSession])
        /// There are no credentials. The request fails with the error, or with the challenge if there is no error.
        case unavailable((any Error)?)
    }

    /// The sender of challenges.
    enum Challenger: Sendable, Hashable {
        case origin(Origin)
        /// A proxy that receives the requests themselves.
        case proxy(ProxyRoute)
        /// A proxy that opens tunnels.
        case tunnel(ProxyRoute)

        var isProxy: Bool {
            if case .origin = self { false } else { true }
        }

        /// The request field for the credentials.
        var credentialField: HTTPField.Name { isProxy ? .proxyAuthorization : .authorization }

        /// The response field with the next nonce.
        ///
        /// A tunnel has no such field, because responses through it come from the origin.
        var infoField: HTTPField.Name? {
            switch self {
            case .origin: .authenticationInfo
            case .proxy: .proxyAuthenticationInfo
            case .tunnel: nil
            }
        }
    }

    /// The identity of a protection space.
    ///
    /// All challenges in a realm are answered with the same credentials (RFC 9110, 11.5).
    struct ID: Sendable, Hashable {
        let challenger: Challenger
        let realm: String
    }

    /// The maximum number of digest sessions, and of path prefixes.
    private static let maximumCount = 100
    let id: ID
    /// The sequence number of the credentials; newer credentials have higher numbers.
    let generation: Int
    /// The path prefixes that the credentials apply to.
    private var paths: [String]
    private(set) var credentials: Credentials
    /// Whether the challenge had the scheme `Digest`, even if there are no credentials.
    let isDigest: Bool
    /// Whether the server has rejected the credentials.
    ///
    /// Requests that already waited for these credentials still use them, but others don't.
    var isRejected = false

    /// Creates the protection space of a challenge to a request.
    ///
    /// For `Basic`, the space covers the request's path up to the last slash, and everything below (RFC 7617, 2.2). For
    /// `Digest` and for proxies, it covers all paths. The `domain` of a `Digest` challenge (RFC 7616, 3.3) is ignored,
    /// because a digest outside of the domain only identifies the user to the same server.
    init(_ id: ID, of challenge: Authorization.Challenge, to url: URL, credentials: Credentials, generation: Int) {
        self.id = id
        self.credentials = credentials
        self.generation = generation
        isDigest = challenge.isSupportedDigest
        var coversWholeServer = id.challenger.isProxy
        if case .digest = credentials { coversWholeServer = true }
        paths = [coversWholeServer ? "" : Self.directoryPath(of: url)]
    }

    private static func directoryPath(of url: URL) -> String {
        let path = url.path(percentEncoded: true)
        return path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    /// Returns the length in bytes of the longest path prefix that matches; `nil` if the URL is outside of the space.
    func matchedPathLength(_ url: URL) -> Int? {
        let path = url.path(percentEncoded: true)
        return paths.filter { path.utf8.starts(with: $0.utf8) }.map(\.utf8.count).max()
    }

    /// Returns the credentials for a request, and increments the nonce count.
    ///
    /// A digest for a challenge uses the nonce of that challenge. No other request uses the nonce until the server has
    /// accepted it, because it may be valid only once.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - challenge: The challenge to the request; `nil` if there is none yet.
    /// - Returns: The credentials; `nil` if they aren't available.
    mutating func authorization(
        for request: HTTPRequest,
        to challenge: Authorization.Challenge? = nil
    ) -> Authorization? {
        switch credentials {
        case .unavailable: return nil
        case .basic(let authorization):
            guard let challenge else { return authorization }
            guard !challenge.isSupportedDigest else { return nil }
            if matchedPathLength(request.url) == nil {
                paths = paths.suffix(Self.maximumCount - 1) + [Self.directoryPath(of: request.url)]
            }
            return authorization
        case .digest(var sessions):
            var index = 0
            if let challenge {
                guard let session = sessions[0].restarted(by: challenge) else { return nil }
                if let existing = sessions.firstIndex(where: { $0.nonce == session.nonce }) {
                    index = existing
                } else {
                    if sessions.count == Self.maximumCount { sessions.remove(at: 1) }
                    index = sessions.count
                    sessions.append(session)
                }
            }
            let coversContent = sessions[index].qualityOfProtection == .authInt
            guard let content = coversContent ? request.content(for: id.challenger) : Data() else { return nil }
            defer { credentials = .digest(sessions) }
            let (method, target) = request.requestLine(for: id.challenger)
            return sessions[index].authorization(for: method, target, content: content)
        }
    }

    /// Records that the server has accepted a nonce.
    ///
    /// - Parameters:
    ///   - nonce: The nonce.
    ///   - next: The nonce that the server requires from now on (RFC 7616, 3.5).
    /// - Returns: Whether the nonce belongs to this space.
    mutating func accept(_ nonce: String, next: String?) -> Bool {
        guard case .digest(var sessions) = credentials,
            let index = sessions.firstIndex(where: { $0.nonce == next })
                ?? sessions.firstIndex(where: { $0.nonce == nonce })
        else { return false }
        var session = sessions.remove(at: index)
        if let next { session.renew(next) }
        credentials = .digest([session] + sessions)
        return true
    }
}

/// The protection spaces of an interceptor (from the oldest to the newest, up to a limit), and its running provider
/// calls.
struct ProtectionSpaces: Sendable {
    /// The credentials that a request has tried for one challenger.
    struct ChallengeState: Sendable {
        /// The generation of the credentials in the last transfer; `nil` if the transfer had no credentials.
        fileprivate var sentGeneration: Int?
        /// The value of `lastNumber` when the request was last sent.
        ///
        /// Credentials with a later generation are newer than that transfer.
        fileprivate var newestGeneration = 0
        /// The generation of the credentials that were already resent with a new nonce.
        fileprivate var renewedGeneration: Int?
        /// Whether stored credentials of the realm have been tried, although the request's path was outside of their
        /// protection space.
        fileprivate var hasExtendedSpace = false
        /// Whether credentials that are newer than the transfer have been tried.
        fileprivate(set) var hasTriedNewCredentials = false
    }

    /// A running call to the provider, and the requests that wait for its result.
    private struct ProviderCall: Sendable {
        let waitID: Int
        var waiters: [Int: @Sendable () -> Void]
        var task: Task<Void, Never>?
    }

    /// The maximum number of protection spaces.
    static let maximumCount = 100
    private var spaces: [ProtectionSpace] = []
    private var providerCalls: [ProtectionSpace.ID: ProviderCall] = [:]
    /// The last sequence number, which is shared by generations and waiter IDs.
    private var lastNumber = 0

    /// Returns whether a challenger has sent a `Digest` challenge before.
    func hasSeenDigest(from challenger: ProtectionSpace.Challenger) -> Bool {
        spaces.contains { $0.isDigest && $0.id.challenger == challenger }
    }

    // MARK: Credentials

    /// Returns the credentials for a request, and increments their nonce count; `nil` if no protection space matches.
    mutating func authorization(
        for request: HTTPRequest,
        _ challenger: ProtectionSpace.Challenger,
        _ state: inout ChallengeState
    ) -> Authorization? {
        (state.sentGeneration, state.newestGeneration) = (nil, lastNumber)
        let matching = spaces.indices.filter { spaces[$0].id.challenger == challenger && !spaces[$0].isRejected }
            .compactMap { index in spaces[index].matchedPathLength(request.url).map { (index, $0) } }
        guard let index = matching.max(by: { $0.1 < $1.1 })?.0,
            let authorization = spaces[index].authorization(for: request)
        else { return nil }
        state.sentGeneration = spaces[index].generation
        return authorization
    }

    /// Returns the stored credentials for a challenged request; `nil` if the provider must be called.
    ///
    /// If the request was sent with the current credentials of the realm, they count as rejected, unless only their
    /// nonce was too old. If they have been replaced since, the method returns the new credentials.
    ///
    /// - Throws: The error that made the credentials unavailable.
    mutating func authorization(
        for request: HTTPRequest,
        to challenge: Authorization.Challenge,
        of id: ProtectionSpace.ID,
        _ state: inout ChallengeState
    ) throws -> Authorization? {
        guard let index = spaces.firstIndex(where: { $0.id == id }) else { return nil }
        if spaces[index].generation == state.sentGeneration {
            guard challenge.isStale, state.renewedGeneration != state.sentGeneration else {
                spaces[index].isRejected = true
                return nil
            }
            state.renewedGeneration = state.sentGeneration
        } else if spaces[index].generation > state.newestGeneration {
            guard !state.hasTriedNewCredentials else { return nil }
            state.hasTriedNewCredentials = true
            if case .unavailable(let error?) = spaces[index].credentials { throw error }
        } else {
            guard !state.hasExtendedSpace, !spaces[index].isRejected else { return nil }
            state.hasExtendedSpace = true
        }
        guard let authorization = spaces[index].authorization(for: request, to: challenge) else { return nil }
        (state.sentGeneration, state.newestGeneration) = (spaces[index].generation, lastNumber)
        return authorization
    }

    /// Records that a server has accepted a nonce, and which nonce it requires next.
    mutating func accept(_ nonce: String, by challenger: ProtectionSpace.Challenger, next: String?) {
        for index in spaces.indices where spaces[index].id.challenger == challenger {
            if spaces[index].accept(nonce, next: next) { return }
        }
    }

    // MARK: Provider calls

    /// Adds a request to those that wait for the provider's result.
    ///
    /// - Returns: The waiter's ID, and whether it is the first; if so, the caller must call the provider. Returns `nil`
    ///   if the provider has returned a result since the request was sent.
    mutating func addWaiter(
        for id: ProtectionSpace.ID,
        _ state: ChallengeState,
        _ resume: @escaping @Sendable () -> Void
    ) -> (waitID: Int, isFirst: Bool)? {
        guard !spaces.contains(where: { $0.id == id && $0.generation > state.newestGeneration }) else { return nil }
        lastNumber += 1
        let isFirst = providerCalls[id] == nil
        providerCalls[id, default: ProviderCall(waitID: lastNumber, waiters: [:])].waiters[lastNumber] = resume
        return (lastNumber, isFirst)
    }

    /// Stores the task of a provider call, unless the call has ended.
    mutating func setTask(_ task: Task<Void, Never>, of id: ProtectionSpace.ID, _ waitID: Int) {
        if providerCalls[id]?.waitID == waitID { providerCalls[id]?.task = task }
    }

    /// Removes a waiting request, and returns the task of its provider call if no other request waits for that call.
    mutating func removeWaiter(_ waitID: Int, from id: ProtectionSpace.ID) -> Task<Void, Never>? {
        providerCalls[id]?.waiters[waitID] = nil
        guard let call = providerCalls[id], call.waiters.isEmpty else { return nil }
        providerCalls[id] = nil
        return call.task
    }

    /// Replaces the stored result of a realm with that of a provider call, and returns the waiting requests.
    ///
    /// After a `Digest` result, `Basic` credentials of the same challenger are removed, because they would send the
    /// password unencrypted.
    mutating func completeCall(
        _ waitID: Int,
        of id: ProtectionSpace.ID,
        with credentials: ProtectionSpace.Credentials,
        to challenge: Authorization.Challenge,
        of url: URL
    ) -> [@Sendable () -> Void] {
        // A call without waiting requests was cancelled, and another call may have started.
        guard providerCalls[id]?.waitID == waitID, let call = providerCalls.removeValue(forKey: id) else { return [] }
        lastNumber += 1
        var isAccepted = false
        if case .digest = credentials { isAccepted = true }
        spaces.removeAll { $0.id == id || isAccepted && $0.id.challenger == id.challenger && !$0.isDigest }
        spaces.append(ProtectionSpace(id, of: challenge, to: url, credentials: credentials, generation: lastNumber))
        if spaces.count > Self.maximumCount { spaces.removeFirst() }
        return Array(call.waiters.values)
    }
}

extension HTTPRequest {
    /// Returns the method and the target in the request line that the challenger receives.
    fileprivate func requestLine(for challenger: ProtectionSpace.Challenger) -> (method: HTTPMethod, target: String) {
        if case .tunnel = challenger {
            let host = url.wireHost ?? ""
            return (.connect, (host.contains(":") ? "[\(host)]" : host) + ":\(url.port ?? 443)")
        }
        let path = url.path(percentEncoded: true)
        return (method, (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?\($0)" } ?? ""))
    }

    /// Returns the content that the challenger receives; `nil` if it can't be read before it is sent.
    fileprivate func content(for challenger: ProtectionSpace.Challenger) -> Data? {
        if case .tunnel = challenger { return Data() }
        guard let content = try? body.resolved().content else { return nil }
        switch content {
        case .none: return Data()
        case .data(let data): return data
        case .file(let url): return try? Data(contentsOf: url)
        case .stream: return nil
        }
    }
}
