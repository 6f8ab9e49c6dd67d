// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// Which protocol class belongs to which stubber; it keeps no stubber alive.
enum StubberRegistry {
    private struct Entry {
        weak var stubber: HTTPStubber?
    }

    private struct State {
        var lastNumber = 0
        var entries: [ObjectIdentifier: Entry] = [:]
    }

    private static let state = Locked(State())

    /// A number for a stubber, which no other has.
    static func makeNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    static func add(_ stubber: HTTPStubber, for protocolClass: StubProtocol.Type) {
        state.withLock { state in
            state.entries = state.entries.filter { $0.value.stubber != nil }
            state.entries[ObjectIdentifier(protocolClass)] = Entry(stubber: stubber)
        }
    }

    static func stubber(of protocolClass: StubProtocol.Type) -> HTTPStubber? {
        state.withLock { $0.entries[ObjectIdentifier(protocolClass)]?.stubber }
    }
}
