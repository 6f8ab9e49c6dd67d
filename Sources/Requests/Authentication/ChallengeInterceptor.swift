// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Answers challenges of the schemes `Digest` and `Basic` with a user's name and password (RFC 7616, RFC 7617).
///
/// ```swift
/// environment.interceptors.append(ChallengeInterceptor { challenge, url in
///     await keychain.credential(for: url, realm: challenge.realm)
/// })
/// ```
///
/// If a server offers both schemes, `Digest` is chosen, which never sends the password, and of its algorithms the
/// strongest: MD5 only if the server offers nothing else. It supports MD5, SHA-256,
/// SHA-512 and SHA-512-256, each also as `-sess`, with `auth` and `auth-int`, `userhash` and `nextnonce`. Content that
/// isn't in memory or in a file can't be covered by `auth-int`.
///
/// The closure is called once for a realm of a server, however many requests are challenged at the same time: they wait
/// for its answer, also if that is `nil`. Later requests to that part of the server include the credentials at once,
/// which saves a round trip. If they are rejected, the closure is called again, once for a request, and the next 401 is
/// the failure. A late rejection of credentials that have already been replaced only sends the request again. The
/// closure's task isn't cancelled with one request, but when no request waits for the answer any more.
///
/// Challenges are answered only for the origin of the base URL, or without a base URL for the origin of the
/// request; never for one that a redirect led to. A request with an `Authorization` of its own isn't answered. A stream
/// that can be sent once can't be sent again with the answer: its 401 is the failure.
///
/// An origin that has once asked for `Digest` over plain http gets no `Basic` any more, nor does a proxy: otherwise an
/// attacker on the network could remove the first scheme, and would receive the password. Over https an origin may
/// change the scheme.
///
/// Proxies send challenges in the same way, with a 407. They are answered by a closure of their own, over transports
/// that can send credentials to a proxy (``TransportCapabilities/proxyAuthorization``), such as ``CurlTransport``: for
/// requests over plain http, which the proxy sees, and for tunnels to https origins. The answer is used over the same
/// transport only. Over a `URLSession` the 407 is the failure: the credentials for its proxy belong in its
/// configuration.
///
/// To send a password without a challenge, use ``AuthenticationProvider``. Safe from any thread.
public final class ChallengeInterceptor: HopAuthenticating {
    /// Returns the user's name and password for a challenge, or nil to leave it unanswered.
    public typealias Provider = @Sendable (Authorization.Challenge, URL) async -> URLCredential?

    private let credential: Provider
    private let proxyCredential: Provider?
    private let spaces = Locked(ProtectionSpaces())

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - proxy: Returns the name and the password for a proxy; it is passed the address of the request. `nil`, the
    ///     default, leaves its challenges unanswered.
    ///   - credential: Returns the user's name and password for a challenge of an address, or `nil` to leave the
    ///     challenge unanswered.
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
        var hop = Hop(request: request, context: context, askers: askers(of: request, proxy, context))
        var outgoing = prepared(&hop)
        var cause: TransferRecord.Cause?
        while true {
            do {
                let answer = try await send(outgoing, cause)
                guard let asker = hop.asker(of: answer.head) else {
                    note(answer.head, to: outgoing, by: hop.askers)
                    return answer
                }
                guard let again = try await self.answer(answer.head, of: asker, to: &hop) else { return answer }
                outgoing = again
            } catch let error as RequestError {
                // The request itself hasn't been sent: the proxy asks for credentials for the tunnel.
                guard error.code == .proxyRefused, let head = error.response,
                    head.status == .proxyAuthenticationRequired, let proxy = hop.asker(isProxy: true),
                    let again = try await answer(head, of: proxy, to: &hop)
                else { throw error }
                outgoing = again
            }
            cause = .challenge
        }
    }

    /// A request to one address, with the answers that it was sent with.
    private struct Hop {
        let request: HTTPRequest
        let context: InterceptorChain.Context
        /// Those whose challenges are answered.
        let askers: [ProtectionSpace.Asker]
        var uses: [ProtectionSpace.Asker: ProtectionSpaces.Use] = [:]

        /// The origin or the proxy, if its challenges are answered.
        func asker(isProxy: Bool) -> ProtectionSpace.Asker? { askers.first { $0.isProxy == isProxy } }

        /// The sender of a challenge; `nil` if the response isn't a challenge, or not one to be answered here.
        func asker(of head: HTTPResponseHead) -> ProtectionSpace.Asker? {
            switch head.status {
            case .proxyAuthenticationRequired: request.isSeenByProxies ? asker(isProxy: true) : nil
            case .unauthorized: asker(isProxy: false)
            default: nil
            }
        }
    }

    // MARK: Before a challenge

    /// Returns those whose challenges to a request are answered with the credentials of the application.
    private func askers(
        of request: HTTPRequest,
        _ proxy: () -> ProxyRoute?,
        _ context: InterceptorChain.Context
    ) -> [ProtectionSpace.Asker] {
        var askers: [ProtectionSpace.Asker] = []
        if !request.headers.contains(.authorization), request.inherits(from: context.baseURL),
            request.fields.notes.originChange == .none
        {
            askers.append(.origin(Origin(request.url)))
        }
        if proxyCredential != nil, let proxy = proxy(), !request.headers.contains(.proxyAuthorization) {
            askers.append(request.isSeenByProxies ? .proxy(proxy) : .tunnel(proxy))
        }
        return askers
    }

    /// Adds the answer to a challenge, and those to earlier challenges of others.
    private func prepared(
        _ hop: inout Hop,
        _ answer: (asker: ProtectionSpace.Asker, authorization: Authorization)? = nil
    ) -> HTTPRequest {
        let request = hop.request
        var prepared = request
        if let answer { prepared.headers.set(HTTPField(answer.asker.credential, answer.authorization.rawValue)) }
        for asker in hop.askers where asker != answer?.asker {
            var use = hop.uses[asker] ?? .init()
            let known = spaces.withLock { $0.authorization(for: request, asker, &use) }
            hop.uses[asker] = use
            if let known { prepared.headers.set(HTTPField(asker.credential, known.rawValue)) }
        }
        return prepared
    }

    /// Records that the server has accepted the nonce, and takes the next one, if the server sends one.
    private func note(_ head: HTTPResponseHead, to request: HTTPRequest, by askers: [ProtectionSpace.Asker]) {
        for asker in askers {
            let sent = request.headers[asker.credential].map(Authorization.init)
            guard let nonce = sent?.parameters[named: "nonce"] else { continue }
            let info = asker.info.map { head[values: $0] } ?? []
            let next = info.lazy.compactMap { Authorization.Challenge.list(parsing: "Info \($0)").first?["nextnonce"] }
                .first
            spaces.withLock { $0.accept(nonce, by: asker, next: next) }
        }
    }

    // MARK: After a challenge

    /// Returns the request to send again; `nil` if the response stands.
    private func answer(
        _ head: HTTPResponseHead,
        of asker: ProtectionSpace.Asker,
        to hop: inout Hop
    ) async throws -> HTTPRequest? {
        let request = hop.request
        guard request.body.isReplayable, let provider = asker.isProxy ? proxyCredential : credential,
            let challenge = head.challenge(by: asker),
            challenge.isAnswerableDigest || !request.isReadOnTheWay(to: asker)
                || !spaces.withLock({ $0.knowsDigest(of: asker) })
        else { return nil }
        let id = ProtectionSpace.ID(asker: asker, realm: challenge.realm ?? "")
        var use = hop.uses[asker] ?? .init()
        var known = try spaces.withLock { try $0.authorization(for: request, to: challenge, of: id, &use) }
        if known == nil, !use.isAnswered {
            hop.context.beginAuthentication(.challenge(challenge))
            defer { hop.context.endAuthentication(.challenge(challenge), isGranted: known != nil) }
            try await wait(for: id, use, challenge, to: request.url, hop.context, provider)
            known = try spaces.withLock { try $0.authorization(for: request, to: challenge, of: id, &use) }
        }
        hop.uses[asker] = use
        return known.map { prepared(&hop, (asker, $0)) }
    }

    /// Waits for the answer to a challenge, and calls the closure if no other request waits for it already.
    private func wait(
        for id: ProtectionSpace.ID,
        _ use: ProtectionSpaces.Use,
        _ challenge: Authorization.Challenge,
        to url: URL,
        _ context: InterceptorChain.Context,
        _ provider: @escaping Provider
    ) async throws {
        _ = try await RefreshDeadlockDetector.wait(context.refreshing, for: ObjectIdentifier(self)) {
            try await Suspension.wait { resume in
                guard let (number, isFirst) = spaces.withLock({ $0.wait(for: id, use, resume) }) else {
                    resume()
                    return {}
                }
                if isFirst { ask(challenge, of: url, number, of: id, context, provider) }
                return { self.spaces.withLock { $0.withdraw(number, from: id) }?.cancel() }
            }
        }
    }

    /// Calls the closure, and resumes the waiting requests with its answer.
    private func ask(
        _ challenge: Authorization.Challenge,
        of url: URL,
        _ number: Int,
        of id: ProtectionSpace.ID,
        _ context: InterceptorChain.Context,
        _ provider: @escaping Provider
    ) {
        let scope = NestingContext(refreshBy: self, within: context.scope)
        let task = RunExecutor.task {
            let credential = await scope.run { await provider(challenge, url) }
            scope.end()
            let answer = credential?.answer(to: challenge) ?? .refused(nil)
            let waiters = self.spaces.withLock { $0.end(number, of: id, with: answer, to: challenge, of: url) }
            for resume in waiters { resume() }
        }
        spaces.withLock { $0.start(task, of: id, number) }
    }
}

extension HTTPRequest {
    /// Whether a proxy receives the fields of the request.
    ///
    /// Through a tunnel the origin would receive the proxy's fields.
    fileprivate var isSeenByProxies: Bool { url.scheme?.lowercasedASCII == "http" }

    /// Whether a third party can read and change the messages: connections to proxies hardly ever use TLS.
    fileprivate func isReadOnTheWay(to asker: ProtectionSpace.Asker) -> Bool { asker.isProxy || isSeenByProxies }
}

extension HTTPResponseHead {
    /// The challenge to answer: that of `Digest` with the strongest supported algorithm, otherwise one of `Basic`.
    ///
    /// Of several with that algorithm, the first counts.
    fileprivate func challenge(by asker: ProtectionSpace.Asker) -> Authorization.Challenge? {
        let challenges = headers[values: asker.isProxy ? .proxyAuthenticate : .wwwAuthenticate]
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
    /// The answer to a challenge; a refusal for a credential without a name or a password.
    ///
    /// It is in UTF-8, whether or not the server asks for that.
    fileprivate func answer(to challenge: Authorization.Challenge) -> ProtectionSpace.Answer {
        guard let user, let password else { return .refused(nil) }
        guard challenge.scheme.equalsIgnoringASCIICase("Basic") else {
            let clientNonce = (0..<16).map { _ in UInt8.random(in: 0...255) }.hexadecimal
            return DigestSession(challenge, user: user, password: password, clientNonce: clientNonce)
                .map { .digest([$0]) } ?? .refused(nil)
        }
        let authorization = Authorization.basic(
            username: challenge.normalized(user),
            password: challenge.normalized(password)
        )
        do { return .basic(try authorization.validated()) } catch { return .refused(error) }
    }
}
