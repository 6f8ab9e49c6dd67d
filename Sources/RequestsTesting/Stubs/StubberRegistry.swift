// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// Which protocol class belongs to which stubber and session; it keeps no stubber alive.
enum StubberRegistry {
    struct Entry {
        weak var stubber: HTTPStubber?
        let session: StubbedSession
    }

    private struct State {
        var lastNumber = 0
        var entries: [ObjectIdentifier: Entry] = [:]
    }

    private static let state = Locked(State())

    /// A protocol class that hands the requests of a session to a stubber.
    static func add(_ stubber: HTTPStubber, for session: StubbedSession) -> StubProtocol.Type {
        state.withLock { state in
            state.entries = state.entries.filter { $0.value.stubber != nil }
            state.lastNumber += 1
            let protocolClass = StubProtocol.numbered(state.lastNumber)
            state.entries[ObjectIdentifier(protocolClass)] = Entry(stubber: stubber, session: session)
            return protocolClass
        }
    }

    static func entry(of protocolClass: StubProtocol.Type) -> Entry? {
        state.withLock { $0.entries[ObjectIdentifier(protocolClass)] }
    }
}
