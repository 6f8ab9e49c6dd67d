// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if canImport(Security)
import Foundation
import Security

/// The sessions of a transport that ask for more, or for less, than the system does: one for each origin and what is
/// asked of it.
///
/// A session uses its connections again, for another host too where the certificate names both (RFC 9113, 9.1.1), and
/// nobody is asked about the certificate then. So whatever a session has connected to was asked the same by all.
final class TrustedSessions: Sendable {
    /// A session, which ends when nobody holds this any more and its last task is done.
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

    // Redirects may lead to any number of hosts.
    private let members = Locked(LeastRecentlyUsed<Key, Member>(limit: 64))

    /// The session for a request; nil where an ordinary one will do.
    ///
    /// - Throws: A ``RequestError`` where what is asked can't be done.
    func member(for request: TransportRequest, like session: URLSession) throws(RequestError) -> Member? {
        guard let host = try request.hostWithRules(), let rules = request.hostTrust(for: host) else { return nil }
        guard session.configuration.identifier == nil else {
            let reason = "a session in the background goes by the trust of the system only"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
        let key = Key(origin: Origin(request.url), rules: rules)
        if let known = members.withLock({ $0.value(for: key) }) { return known }
        let configuration = session.configuration
        // A stored response came over a connection of which something else may have been asked.
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        let version: tls_protocol_version_t = rules.minimumVersion == .tls13 ? .TLSv13 : .TLSv12
        if configuration.tlsMinimumSupportedProtocolVersion.rawValue < version.rawValue {
            configuration.tlsMinimumSupportedProtocolVersion = version
        }
        let fresh = try Member(configuration, rules: rules)
        // Two that come at once each have their own, and the later is kept. What makes room goes outside the lock.
        let former = members.withLock { members in
            defer { members.insert(fresh, for: key, cost: 1) }
            return members
        }
        withExtendedLifetime(former) {}
        return fresh
    }
}
#endif
