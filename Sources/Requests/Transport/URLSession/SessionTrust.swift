// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if canImport(Security)
import Foundation
import Security

/// What a session's delegate answers when it is asked about a server, or about this side.
final class SessionTrust: Sendable {
    /// What to do about a challenge.
    enum Answer: Sendable {
        /// What the system does without us.
        case system
        /// Go on, with this.
        case use(URLCredential)
        /// End the connection.
        case refuse(Distrust)
    }

    private let rules: HostTrust
    private let credential: URLCredential?
    private let hasApproved = Locked(false)

    /// - Throws: A ``RequestError`` where the client's certificate can't be used.
    init(_ rules: HostTrust) throws(RequestError) {
        self.rules = rules
        credential = try rules.identity?.makeCredential()
    }

    /// Whether a server was found good in this session; what is over a connection that was never asked about isn't.
    var isProven: Bool { hasApproved.withLock { $0 } }

    func answer(to challenge: URLAuthenticationChallenge) -> Answer {
        let space = challenge.protectionSpace
        guard !space.isProxy() else { return .system }
        switch space.authenticationMethod {
        case NSURLAuthenticationMethodServerTrust:
            return space.serverTrust.map { answer(to: $0, of: space.host) } ?? .refuse(.badCertificate)
        case NSURLAuthenticationMethodClientCertificate:
            guard let credential else { return .system }
            return challenge.previousFailureCount == 0 ? .use(credential) : .refuse(.ownCertificateRejected)
        default:
            return .system
        }
    }

    private func answer(to trust: SecTrust, of host: String) -> Answer {
        let verdict = trust.verdict(of: rules, for: host)
        if case .refuse(let distrust) = verdict { return .refuse(distrust) }
        hasApproved.withLock { $0 = true }
        return verdict == .accept ? .use(URLCredential(trust: trust)) : .system
    }
}
#endif
