// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The private sessions that run the tasks of injected ones: all of them on Linux, and elsewhere those whose trust isn't
/// just the system's.
///
/// One for each injected session, made from its configuration when it is first used, and gone with it. A session is
/// held weakly: its address alone may come again.
final class PrivateSessions: Sendable {
    private struct Entry {
        weak var session: URLSession?
        let transport: URLSessionTransport
    }

    static let shared = PrivateSessions()
    private let entries = Locked<[ObjectIdentifier: Entry]>([:])

    /// The transport that stands in for a session.
    func transport(for session: URLSession) -> URLSessionTransport {
        let id = ObjectIdentifier(session)
        if let transport = entries.withLock({ $0[id]?.session === session ? $0[id]?.transport : nil }) {
            return transport
        }
        // Made outside the lock; when two threads come at once, the first to store wins.
        let fresh = URLSessionTransport(configuration: session.configuration)
        let (transport, gone) = entries.withLock { entries in
            let gone = entries.filter { $0.value.session == nil }
            for id in gone.keys { entries[id] = nil }
            if let known = entries[id] { return (known.transport, gone) }
            entries[id] = Entry(session: session, transport: fresh)
            return (fresh, gone)
        }
        withExtendedLifetime(gone) {}  // Their sessions are invalidated here, outside the lock.
        return transport
    }
}
