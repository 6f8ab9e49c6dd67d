// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// An authenticator of bearer tokens, made of closures.
struct TokenAuthenticator: Authenticator {
    var isStale: @Sendable (String) -> Bool = { _ in false }
    var renew: @Sendable (String?) async throws -> String

    func apply(_ token: String, to request: inout HTTPRequest) {
        request.headers.set(.authorization(.bearer(token)))
    }
    func needsRefresh(_ token: String) -> Bool { isStale(token) }
    func refresh(_ token: String?) async throws -> String { try await renew(token) }
}

/// An authenticator that records its refreshes, and ends each on a test's demand.
final class RefreshDesk: Sendable {
    /// The tokens that were to be refreshed.
    let calls = Recorder<String?>()
    private let ends = Recorder<CheckedContinuation<String, any Error>>()

    var authenticator: TokenAuthenticator {
        TokenAuthenticator { [self] token in
            try await withCheckedThrowingContinuation { continuation in
                calls.record(token)
                ends.record(continuation)
            }
        }
    }

    /// Ends a refresh, once it has begun.
    func end(_ number: Int = 1, with result: Result<String, any Error>) async {
        await ends.first(number)[number - 1].resume(with: result)
    }
}
