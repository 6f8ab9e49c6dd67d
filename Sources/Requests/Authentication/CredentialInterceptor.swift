// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Answers challenges of the schemes `Digest` and `Basic` with a user's name and password (RFC 7616, RFC 7617).
///
/// ```swift
/// environment.interceptors.append(CredentialInterceptor { challenge, url in
///     await keychain.credential(for: url, realm: challenge.realm)
/// })
/// ```
///
/// If a server offers both schemes, `Digest` is chosen, which never sends the password. It supports MD5, SHA-256,
/// SHA-512 and SHA-512-256, each also as `-sess`, with `auth` and `auth-int`, `userhash` and `nextnonce`. Content that
/// isn't in memory or in a file can't be covered by `auth-int`.
///
/// The closure is called once for a part of a server; later requests to that part include the credentials at once,
/// which saves a round trip. If they are rejected, it is called again, once for a request, and the next 401 is the
/// failure. Challenges are answered only for the origin of the base URL, or without a base URL for the origin of the
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
/// transport only. Over a `URLSession` the 407 is the failure: the credentials for its proxy belong into its
/// configuration.
///
/// To send a password without a challenge, use ``AuthenticationProvider``. Safe from any thread.
public final class CredentialInterceptor: HopAuthenticating {
    /// Returns the user's name and password for a challenge, or nil to leave it unanswered.
    public typealias Provider = @Sendable (AuthenticationChallenge, URL) async -> URLCredential?

    private let credential: Provider
    private let proxyCredential: Provider?
    private let spaces = Locked(CredentialSpaces())

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
        at position: Int,
        context: InterceptorContext,
        send: (HTTPRequest, Attempt.Cause?) async throws -> HTTPResponse<ResponseContent>
    ) async throws -> HTTPResponse<ResponseContent> {
        var outgoing = prepared(request, in: context)
        var hop = Hop(request: request, position: position, context: context)
        var cause: Attempt.Cause?
        while true {
            do {
                let answer = try await send(outgoing, cause)
                note(answer.head, to: outgoing, by: hop.proxy)
                guard let asker = self.asker(of: answer.head, to: hop),
                    let again = try await self.answer(answer.head, of: asker, to: outgoing, of: &hop)
                else { return answer }
                outgoing = again
            } catch let error as RequestError {
                // The request itself hasn't been sent: the proxy asks for credentials for the tunnel.
                guard error.code == .proxyRefused, let head = error.response,
                    head.status == .proxyAuthenticationRequired,
                    let tunnel = hop.proxy.map(CredentialSpace.Asker.tunnel),
                    let again = try await self.answer(head, of: tunnel, to: outgoing, of: &hop)
                else { throw error }
                outgoing = again
            }
            cause = .answer
        }
    }

    /// A request to one address, with the answers that it carries: for the origin, and for the proxy.
    private struct Hop {
        let request: HTTPRequest
        let position: Int
        let context: InterceptorContext
        var asked: Set<CredentialSpace.Asker> = []
        var renewed: Set<CredentialSpace.Asker> = []

        /// The way to the proxy; `nil` if it can't be answered.
        var proxy: ProxyRoute? { context.source.proxyRoute }
    }

    // MARK: Before a challenge

    /// Whether the credentials of the application apply to a request.
    private func concerns(_ request: HTTPRequest, in context: InterceptorContext) -> Bool {
        !request.headers.contains(.authorization) && request.inherits(from: context.baseURL) && !request.hasLeftOrigin
    }

    /// Adds the answers to earlier challenges.
    private func prepared(_ request: HTTPRequest, in context: InterceptorContext) -> HTTPRequest {
        var prepared = request
        var askers: [CredentialSpace.Asker] = concerns(request, in: context) ? [.origin(Origin(request.url))] : []
        if proxyCredential != nil, let proxy = context.source.proxyRoute,
            !request.headers.contains(.proxyAuthorization)
        {
            askers.append(request.isSeenByProxies ? .proxy(proxy) : .tunnel(proxy))
        }
        for asker in askers {
            let sent = SentTarget(request, for: asker)
            guard let known = spaces.withLock({ $0.authorization(for: sent, asker) }) else { continue }
            prepared.headers.set(HTTPField(asker.credential, known.rawValue))
        }
        return prepared
    }

    /// Takes the nonce for the next request, if the server sends one.
    private func note(_ head: HTTPResponseHead, to request: HTTPRequest, by proxy: ProxyRoute?) {
        var sides: [(HTTPField.Name, CredentialSpace.Asker)] = [
            (.authenticationInfo, .origin(Origin(request.url)))
        ]
        if let proxy { sides.append((.proxyAuthenticationInfo, .proxy(proxy))) }
        for (name, asker) in sides {
            guard let info = head[name],
                let next = AuthenticationChallenge.list(parsing: "Info \(info)").first?["nextnonce"],
                let former = request.headers[asker.credential].flatMap({ Authorization($0).parameters[named: "nonce"] })
            else { continue }
            spaces.withLock { $0.renew(asker, former, with: next) }
        }
    }

    // MARK: After a challenge

    /// The sender of a challenge; `nil` if the response isn't a challenge, or not one to be answered here.
    private func asker(of head: HTTPResponseHead, to hop: Hop) -> CredentialSpace.Asker? {
        switch head.status {
        case .proxyAuthenticationRequired: hop.request.isSeenByProxies ? hop.proxy.map { .proxy($0) } : nil
        case .unauthorized: concerns(hop.request, in: hop.context) ? .origin(Origin(hop.request.url)) : nil
        default: nil
        }
    }

    /// Returns the request to send again; `nil` if the response stands.
    private func answer(
        _ head: HTTPResponseHead,
        of asker: CredentialSpace.Asker,
        to outgoing: HTTPRequest,
        of hop: inout Hop
    ) async throws -> HTTPRequest? {
        let (request, context) = (hop.request, hop.context)
        guard request.body.isReplayable, let provider = asker.isProxy ? proxyCredential : credential,
            let challenge = head.challenge(by: asker),
            challenge.isAnswerableDigest || !request.isReadOnTheWay(to: asker)
                || !spaces.withLock({ $0.knowsDigest(of: asker) })
        else { return nil }
        let sent = outgoing.headers[asker.credential].map(Authorization.init)
        // The password was right, and only the nonce too old: the closure isn't called again.
        if challenge.isStale, let former = sent?.parameters[named: "nonce"],
            hop.renewed.insert(asker).inserted,
            spaces.withLock({ $0.restart(asker, former, by: challenge) })
        {
            return prepared(request, in: context)
        }
        if sent != nil { spaces.withLock { $0.remove(asker, realm: challenge.realm ?? "") } }
        guard hop.asked.insert(asker).inserted else { return nil }
        context.report(.started(.challenge(challenge)))
        let credential = await CallScope.run(self, at: hop.position, within: context.source.scope) {
            await provider(challenge, request.url)
        }
        let answer = credential?.answer(to: challenge)
        context.report(.ended(isGranted: answer != nil))
        guard let answer else { return nil }
        if case .basic(let authorization) = answer { _ = try authorization.validated() }
        let space = CredentialSpace(asker, of: challenge, to: request.url, answer: answer)
        spaces.withLock { $0.insert(space) }
        let again = prepared(request, in: context)
        return again.headers == outgoing.headers ? nil : again
    }
}

extension HTTPRequest {
    /// Whether a proxy receives the fields of the request.
    ///
    /// Through a tunnel the origin would receive the proxy's fields.
    fileprivate var isSeenByProxies: Bool { url.scheme?.lowercasedASCII == "http" }

    /// Whether a third party can read and change the messages: connections to proxies hardly ever use TLS.
    fileprivate func isReadOnTheWay(to asker: CredentialSpace.Asker) -> Bool { asker.isProxy || isSeenByProxies }
}

extension HTTPResponseHead {
    /// The challenge to answer: the first of `Digest` with a supported algorithm, else one of `Basic`.
    fileprivate func challenge(by asker: CredentialSpace.Asker) -> AuthenticationChallenge? {
        let challenges = headers[values: asker.isProxy ? .proxyAuthenticate : .wwwAuthenticate]
            .flatMap { AuthenticationChallenge.list(parsing: $0) }
        return challenges.first(where: \.isAnswerableDigest)
            ?? challenges.first { $0.scheme.equalsIgnoringASCIICase("Basic") }
    }
}

extension URLCredential {
    /// The answer to a challenge; `nil` for a credential without a name or a password.
    ///
    /// It is in UTF-8, whether or not the server asks for that. If it does, both are normalised, so that a password
    /// doesn't depend on the keyboard it was typed on (RFC 7617, 2.1).
    fileprivate func answer(to challenge: AuthenticationChallenge) -> CredentialSpace.Answer? {
        guard let user, let password else { return nil }
        guard challenge.scheme.equalsIgnoringASCIICase("Basic") else {
            let clientNonce = (0..<16).map { _ in UInt8.random(in: 0...255) }.hexadecimal
            return DigestSession(challenge, user: user, password: password, clientNonce: clientNonce)
                .map { .digest($0) }
        }
        let isUnicode = challenge["charset"]?.equalsIgnoringASCIICase("UTF-8") == true
        return .basic(
            .basic(
                username: isUnicode ? user.precomposedStringWithCanonicalMapping : user,
                password: isUnicode ? password.precomposedStringWithCanonicalMapping : password
            )
        )
    }
}
