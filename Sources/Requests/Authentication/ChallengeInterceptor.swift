// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Answers `Digest` and `Basic` challenges with a username and password (RFC 7616, RFC 7617).
///
/// ```swift
/// environment.interceptors.append(ChallengeInterceptor { challenge, url in
///     await keychain.credential(for: url, realm: challenge.realm)
/// })
/// ```
///
/// If a server offers both schemes, the interceptor chooses `Digest`, which never sends the password. Of the offered
/// algorithms, it chooses the strongest, so it uses MD5 only if the server offers nothing better. It supports MD5,
/// SHA-256, SHA-512 and SHA-512-256, each with or without `-sess`, and `auth`, `auth-int`, `userhash` and `nextnonce`.
/// For `auth-int`, the content must be in memory or in a file.
///
/// The closure is called once for each realm of a server. If several requests are challenged at the same time, all wait
/// for the result, even if it is `nil`. Later requests to the same protection space include the credentials from the
/// start, which saves a round trip. If the server rejects the credentials, the closure is called again, at most once
/// for each request; after another 401, the request fails. If a server rejects credentials that have already been
/// replaced, the request is sent again with the new ones. The closure's task is cancelled only when no request waits
/// for the result any longer.
///
/// The interceptor answers challenges only from the origin of the base URL or, without a base URL, from the origin of
/// the request. It never answers a challenge from an origin that a redirect led to, nor a challenge to a request that
/// has its own `Authorization` field. A stream that can only be sent once can't be sent again with credentials, so the
/// request fails with the 401.
///
/// After an origin has requested `Digest` over plain http, it no longer receives `Basic` credentials. The same applies
/// to a proxy. Otherwise, an attacker on the network could remove the `Digest` challenge and receive the password. Over
/// https, an origin may change the scheme.
///
/// Proxies send the same challenges with the status 407. A separate closure provides the credentials for a proxy. The
/// transport must be able to send credentials to a proxy (``TransportCapabilities/proxyAuthorization``), as
/// ``CurlTransport`` is. The credentials are used for requests over plain http, which the proxy sees, and for tunnels
/// to https origins, but only over the same transport. With a `URLSession`, the request fails with the 407, because the
/// credentials for a session's proxy belong in the session's configuration.
///
/// To send a password without a challenge, use ``AuthenticationProvider``. All members may be used from any thread.
public final class ChallengeInterceptor: HopAuthenticating {
    /// Returns the username and password for a challenge, or `nil` to leave the challenge unanswered.
    public typealias Provider = @Sendable (Authorization.Challenge, URL) async -> URLCredential?

    private let credential: Provider
    private let proxyCredential: Provider?
    private let spaces = Locked(ProtectionSpaces())

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - proxy: Returns the username and password for a proxy's challenge to a request with this URL. If the closure
    ///     is `nil`, the default, challenges from proxies are left unanswered.
    ///   - credential: Returns the username and password for a challenge to a request with this URL, or `nil` to leave
    ///     the challenge unanswered.
    public init(proxy: Provider? = nil, _ credential: @escaping Provider) {
        self.credential = credential
        proxyCredential = proxy
    }

    func authenticate(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        proxy: () -> ProxyRoute?,
        send: (HTTPRequest, TransferRecord.Cause?) async throws -> RawResponse
    ) async throws -> RawResponse {
        var hop = Hop(request: request, context: context, challengers: challengers(of: request, proxy, context))
        var outgoing = authorized(&hop)
        var cause: TransferRecord.Cause?
        while true {
            do {
                let response = try await send(outgoing, cause)
                guard let challenger = hop.challenger(of: response.head) else {
                    recordNonces(response.head, to: outgoing, by: hop.challengers)
                    return response
                }
                guard let nextRequest = try await self.requestAfterChallenge(response.head, of: challenger, to: &hop)
                else { return response }
                outgoing = nextRequest
            } catch let error as RequestError {
                // The proxy has challenged the tunnel, so the request itself hasn't been sent.
                guard error.code == .proxyRefused, let head = error.response,
                    head.status == .proxyAuthenticationRequired, let proxy = hop.challenger(isProxy: true),
                    let nextRequest = try await requestAfterChallenge(head, of: proxy, to: &hop)
                else { throw error }
                outgoing = nextRequest
            }
            cause = .challenge
        }
    }

    /// A request to one URL, and the state of its authentication.
    private struct Hop {
        let request: HTTPRequest
        let context: InterceptorChain.Context
        /// The origin and the proxy, if the interceptor answers their challenges to the request.
        let challengers: [ProtectionSpace.Challenger]
        var states: [ProtectionSpace.Challenger: ProtectionSpaces.ChallengeState] = [:]

        /// Returns the proxy or the origin, if the interceptor answers its challenges.
        func challenger(isProxy: Bool) -> ProtectionSpace.Challenger? { challengers.first { $0.isProxy == isProxy } }

        /// Returns the sender of a challenge; `nil` if the response isn't a challenge that the interceptor answers.
        func challenger(of head: HTTPResponseHead) -> ProtectionSpace.Challenger? {
            switch head.status {
            case .proxyAuthenticationRequired: request.isSeenByProxies ? challenger(isProxy: true) : nil
            case .unauthorized: challenger(isProxy: false)
            default: nil
            }
        }
    }

    // MARK: Before a challenge

    /// Returns the origin and the proxy, if the interceptor may answer their challenges to a request.
    private func challengers(
        of request: HTTPRequest,
        _ proxy: () -> ProxyRoute?,
        _ context: InterceptorChain.Context
    ) -> [ProtectionSpace.Challenger] {
        var challengers: [ProtectionSpace.Challenger] = []
        if !request.headers.contains(.authorization), request.inherits(from: context.baseURL),
            request.fields.notes.originChange == .none
        {
            challengers.append(.origin(Origin(request.url)))
        }
        if proxyCredential != nil, let proxy = proxy(), !request.headers.contains(.proxyAuthorization) {
            challengers.append(request.isSeenByProxies ? .proxy(proxy) : .tunnel(proxy))
        }
        return challengers
    }

    /// Returns the request with credentials: those for the current challenge, and stored ones for other challengers.
    private func authorized(
        _ hop: inout Hop,
        _ credentials: (challenger: ProtectionSpace.Challenger, authorization: Authorization)? = nil
    ) -> HTTPRequest {
        let request = hop.request
        var authorized = request
        if let credentials {
            authorized.headers.set(
                HTTPField(credentials.challenger.credentialField, credentials.authorization.rawValue)
            )
        }
        for challenger in hop.challengers where challenger != credentials?.challenger {
            var state = hop.states[challenger] ?? .init()
            let authorization = spaces.withLock { $0.authorization(for: request, challenger, &state) }
            hop.states[challenger] = state
            if let authorization {
                authorized.headers.set(HTTPField(challenger.credentialField, authorization.rawValue))
            }
        }
        return authorized
    }

    /// Records that the server has accepted the nonce, and stores the next nonce if the server sends one.
    private func recordNonces(
        _ head: HTTPResponseHead,
        to request: HTTPRequest,
        by challengers: [ProtectionSpace.Challenger]
    ) {
        for challenger in challengers {
            let sent = request.headers[challenger.credentialField].map(Authorization.init)
            guard let nonce = sent?.parameters[named: "nonce"] else { continue }
            let info = challenger.infoField.map { head[values: $0] } ?? []
            let next = info.lazy.compactMap { Authorization.Challenge.list(parsing: "Info \($0)").first?["nextnonce"] }
                .first
            spaces.withLock { $0.accept(nonce, by: challenger, next: next) }
        }
    }

    // MARK: After a challenge

    /// Returns the request with credentials, to be sent again; `nil` if the response is final.
    private func requestAfterChallenge(
        _ head: HTTPResponseHead,
        of challenger: ProtectionSpace.Challenger,
        to hop: inout Hop
    ) async throws -> HTTPRequest? {
        let request = hop.request
        guard request.body.isReplayable, let provider = challenger.isProxy ? proxyCredential : credential,
            let challenge = head.challenge(by: challenger),
            challenge.isSupportedDigest || !request.isSentInClear(to: challenger)
                || !spaces.withLock({ $0.hasSeenDigest(from: challenger) })
        else { return nil }
        let id = ProtectionSpace.ID(challenger: challenger, realm: challenge.realm ?? "")
        var state = hop.states[challenger] ?? .init()
        var authorization = try spaces.withLock { try $0.authorization(for: request, to: challenge, of: id, &state) }
        if authorization == nil, !state.hasTriedNewCredentials {
            hop.context.beginAuthentication(.challenge(challenge))
            defer { hop.context.endAuthentication(.challenge(challenge), isGranted: authorization != nil) }
            try await wait(for: id, state, challenge, to: request.url, hop.context, provider)
            authorization = try spaces.withLock { try $0.authorization(for: request, to: challenge, of: id, &state) }
        }
        hop.states[challenger] = state
        return authorization.map { authorized(&hop, (challenger, $0)) }
    }

    /// Waits for the closure's result for a challenge, and calls the closure unless such a call is already running.
    private func wait(
        for id: ProtectionSpace.ID,
        _ state: ProtectionSpaces.ChallengeState,
        _ challenge: Authorization.Challenge,
        to url: URL,
        _ context: InterceptorChain.Context,
        _ provider: @escaping Provider
    ) async throws {
        _ = try await RefreshDeadlockDetector.wait(context.enclosingRefreshes, for: ObjectIdentifier(self)) {
            try await Suspension.wait { resume in
                guard let (waitID, isFirst) = spaces.withLock({ $0.addWaiter(for: id, state, resume) }) else {
                    resume()
                    return {}
                }
                if isFirst { callProvider(challenge, of: url, waitID, of: id, context, provider) }
                return { self.spaces.withLock { $0.removeWaiter(waitID, from: id) }?.cancel() }
            }
        }
    }

    /// Calls the closure, stores its result, and resumes the waiting requests.
    private func callProvider(
        _ challenge: Authorization.Challenge,
        of url: URL,
        _ waitID: Int,
        of id: ProtectionSpace.ID,
        _ context: InterceptorChain.Context,
        _ provider: @escaping Provider
    ) {
        let scope = NestingContext(refreshBy: self, within: context.scope)
        let task = RunExecutor.task {
            let credential = await scope.run { await provider(challenge, url) }
            scope.end()
            let credentials = credential?.credentials(for: challenge) ?? .unavailable(nil)
            let waiters = self.spaces.withLock {
                $0.completeCall(waitID, of: id, with: credentials, to: challenge, of: url)
            }
            for resume in waiters { resume() }
        }
        spaces.withLock { $0.setTask(task, of: id, waitID) }
    }
}

extension HTTPRequest {
    /// Whether a proxy can read the header fields of the request.
    ///
    /// Inside a tunnel, fields for the proxy would reach the origin instead.
    fileprivate var isSeenByProxies: Bool { url.scheme?.lowercasedASCII == "http" }

    /// Returns whether a third party can read and modify the messages.
    ///
    /// This includes every connection to a proxy, because these connections rarely use TLS.
    fileprivate func isSentInClear(to challenger: ProtectionSpace.Challenger) -> Bool {
        challenger.isProxy || isSeenByProxies
    }
}

extension HTTPResponseHead {
    /// Returns the challenge to answer: `Digest` with the strongest supported algorithm, otherwise `Basic`.
    ///
    /// If several challenges have that algorithm, the first is chosen.
    fileprivate func challenge(by challenger: ProtectionSpace.Challenger) -> Authorization.Challenge? {
        let challenges = headers[values: challenger.isProxy ? .proxyAuthenticate : .wwwAuthenticate]
            .flatMap { Authorization.Challenge.list(parsing: $0) }
        let digests = challenges.compactMap { challenge in
            DigestSession.strength(of: challenge).map { (challenge, strength: $0) }
        }
        let strongest = digests.map(\.strength).max()
        return digests.first { $0.strength == strongest }?.0
            ?? challenges.first { $0.scheme.equalsIgnoringASCIICase("Basic") }
    }
}

extension URLCredential {
    /// Returns the credentials for a challenge; `unavailable` if the username or the password is missing.
    ///
    /// The credentials are encoded in UTF-8, whether or not the server requests that.
    fileprivate func credentials(for challenge: Authorization.Challenge) -> ProtectionSpace.Credentials {
        guard let user, let password else { return .unavailable(nil) }
        guard challenge.scheme.equalsIgnoringASCIICase("Basic") else {
            let clientNonce = (0..<16).map { _ in UInt8.random(in: 0...255) }.hexadecimal
            return DigestSession(challenge, user: user, password: password, clientNonce: clientNonce)
                .map { .digest([$0]) } ?? .unavailable(nil)
        }
        let authorization = Authorization.basic(
            username: challenge.normalized(user),
            password: challenge.normalized(password)
        )
        do { return .basic(try authorization.validated()) } catch { return .unavailable(error) }
    }
}
