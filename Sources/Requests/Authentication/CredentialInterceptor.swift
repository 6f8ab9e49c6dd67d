// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Answers challenges of the scheme `Basic` with a user's name and password, when a server asks for them (RFC 7617).
///
/// ```swift
/// environment.interceptors.append(CredentialInterceptor { challenge, url in
///     await keychain.credential(for: url, realm: challenge.realm)
/// })
/// ```
///
/// A server is answered once in an operation; if it rejects the answer, its 401 is the failure. Only the origin of the
/// base URL is answered, or where there is none the one that the request was for; never one that a redirect led to. A
/// request that bears an `Authorization` already isn't answered for: other credentials were rejected.
///
/// To send the password before it is asked for, which spares a round trip, take ``AuthenticationProvider``.
public final class CredentialInterceptor: ChallengeAnswering {
    /// What became of the challenge of an operation.
    private struct Answer: Sendable {
        let origin: Origin
        let authorization: Authorization?
    }

    private let credential: @Sendable (AuthenticationChallenge, URL) async -> URLCredential?

    /// Makes an interceptor.
    ///
    /// - Parameter credential: Gives the user's name and password for a challenge of an address, or nil to leave the
    ///   challenge unanswered. Called for each operation that is challenged.
    public init(_ credential: @escaping @Sendable (AuthenticationChallenge, URL) async -> URLCredential?) {
        self.credential = credential
    }

    /// Adds the answer to the challenge of the attempt before.
    public func adapt(_ request: inout HTTPRequest, context: InterceptorContext) async throws {
        guard let answer = answer(in: context), let authorization = answer.authorization,
            Origin(request.url) == answer.origin
        else { return }
        request.headers.set(.authorization(authorization))
    }

    /// Answers a challenge, and has the request sent again with the answer.
    public func retry(_ error: RequestError, context: InterceptorContext) async -> RetryDecision {
        error.followsRedirect(from: context.request) ? .pass : await answer(error, context: context)
    }

    func answer(_ error: RequestError, context: InterceptorContext) async -> RetryDecision {
        guard error.code == .unacceptableStatus, let response = error.response, response.status == .unauthorized,
            let request = error.request, !request.headers.contains(.authorization),
            request.inherits(from: context.baseURL), !request.hasLeftOrigin,
            answer(in: context) == nil, let challenge = response.basicChallenge
        else { return .pass }
        // Noted even where there is no answer: the user isn't asked twice.
        context.report(.started(.challenge(challenge)))
        let authorization = await credential(challenge, request.url).flatMap { Authorization($0, for: challenge) }
        context.report(.ended(isGranted: authorization != nil))
        context.notes.write(
            Answer(origin: Origin(request.url), authorization: authorization),
            of: ObjectIdentifier(self)
        )
        return authorization == nil ? .pass : .retry
    }

    private func answer(in context: InterceptorContext) -> Answer? {
        context.notes.note(of: ObjectIdentifier(self))
    }
}

extension HTTPResponseHead {
    fileprivate var basicChallenge: AuthenticationChallenge? {
        headers[values: .wwwAuthenticate].lazy
            .flatMap { AuthenticationChallenge.list(parsing: $0) }
            .first { $0.scheme.equalsIgnoringASCIICase("Basic") }
    }
}

extension Authorization {
    /// The answer to a challenge of the scheme `Basic`; nil for a credential that isn't a name and a password.
    ///
    /// In UTF-8, whether the server says that it expects that or says nothing. Where it does, both are normalised, so
    /// that one text typed on two keyboards is one password (RFC 7617, 2.1).
    fileprivate init?(_ credential: URLCredential, for challenge: AuthenticationChallenge) {
        guard let user = credential.user, let password = credential.password else { return nil }
        let isUnicode = challenge["charset"]?.equalsIgnoringASCIICase("UTF-8") == true
        self = .basic(
            username: isUnicode ? user.precomposedStringWithCanonicalMapping : user,
            password: isUnicode ? password.precomposedStringWithCanonicalMapping : password
        )
    }
}
