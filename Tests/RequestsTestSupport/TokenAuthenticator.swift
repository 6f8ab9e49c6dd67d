// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// An authenticator of bearer tokens, made of closures.
package struct TokenAuthenticator: Authenticator {
    package var isStale: @Sendable (String) -> Bool
    package var renew: @Sendable (String?) async throws -> String

    package init(
        isStale: @escaping @Sendable (String) -> Bool = { _ in false },
        renew: @escaping @Sendable (String?) async throws -> String
    ) {
        self.isStale = isStale
        self.renew = renew
    }

    package func apply(_ token: String, to request: inout HTTPRequest) {
        request.headers.set(.authorization(.bearer(token)))
    }
    package func needsRefresh(_ token: String) -> Bool { isStale(token) }
    package func refresh(_ token: String?) async throws -> String { try await renew(token) }
}

/// An authenticator that records its refreshes, and ends each on a test's demand.
package final class RefreshDesk: Sendable {
    package init() {}

    /// The tokens that were to be refreshed.
    package let calls = Recorder<String?>()
    private let ends = Recorder<CheckedContinuation<String, any Error>>()

    package var authenticator: TokenAuthenticator {
        TokenAuthenticator { [self] token in
            try await withCheckedThrowingContinuation { continuation in
                calls.record(token)
                ends.record(continuation)
            }
        }
    }

    /// Ends a refresh, once it has begun.
    package func end(_ number: Int = 1, with result: Result<String, any Error>) async {
        await ends.first(number)[number - 1].resume(with: result)
    }
}
