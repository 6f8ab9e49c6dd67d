// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if canImport(Security)
import Foundation
import Security

/// The sessions of a transport for requests with custom trust requirements, one for each combination of origin and
/// requirements.
///
/// A session may reuse a connection even for another host that the certificate names (RFC 9113, 9.1.1), and then
/// doesn't call the delegate to evaluate the certificate. So all requests of a session must have the same requirements.
final class TrustedSessions: Sendable {
    /// A session that is invalidated once this object has been deallocated and the session's last task has ended.
    final class Member: Sendable {
        let session: URLSession
        let delegate: SessionDelegate

        init(_ configuration: URLSessionConfiguration, rules: HostTrust) throws(RequestError) {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            queue.name = "Requests.TrustedSessions"
            delegate = SessionDelegate(queue: queue, trust: try SessionTrust(rules))
            session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
        }

        deinit {
            session.finishTasksAndInvalidate()
        }
    }

    private struct Key: Sendable, Hashable {
        let origin: Origin
        let rules: HostTrust
    }

    // Limited, because redirects may lead to any number of hosts.
    private let members = Locked(LeastRecentlyUsed<Key, Member>(limit: 64))

    /// Returns the session for a request; `nil` if the request has no custom requirements.
    ///
    /// - Throws: A ``RequestError`` if the requirements aren't supported.
    func member(for request: TransportRequest, like session: URLSession) throws(RequestError) -> Member? {
        guard let host = try request.hostWithRules(), let rules = request.hostTrust(for: host) else { return nil }
        guard session.configuration.identifier == nil else {
            let reason = "a background session supports only the system's trust policy"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
        let key = Key(origin: Origin(request.url), rules: rules)
        if let known = members.withLock({ $0.value(for: key) }) { return known }
        let configuration = session.configuration
        // Don't use cached responses, because they may have been received over connections with other requirements.
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        let version: tls_protocol_version_t = rules.minimumVersion == .tls13 ? .TLSv13 : .TLSv12
        if configuration.tlsMinimumSupportedProtocolVersion.rawValue < version.rawValue {
            configuration.tlsMinimumSupportedProtocolVersion = version
        }
        let fresh = try Member(configuration, rules: rules)
        // If two threads create a session simultaneously, the later one is kept. Evicted sessions are released outside
        // of the lock.
        let previous = members.withLock { members in
            defer { members.insert(fresh, for: key, cost: 1) }
            return members
        }
        withExtendedLifetime(previous) {}
        return fresh
    }
}
#endif
