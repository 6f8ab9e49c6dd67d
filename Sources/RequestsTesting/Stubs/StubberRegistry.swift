// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// The stubbers that are installed in a configuration, by their identifier; it keeps none of them alive.
enum StubberRegistry {
    private struct Entry {
        weak var stubber: HTTPStubber?
    }

    private static let entries = Locked<[String: Entry]>([:])

    static func add(_ stubber: HTTPStubber) {
        entries.withLock { $0[stubber.identifier] = Entry(stubber: stubber) }
    }

    static func remove(_ identifier: String) {
        _ = entries.withLock { $0.removeValue(forKey: identifier) }
    }

    static func stubber(_ identifier: String) -> HTTPStubber? {
        entries.withLock { $0[identifier]?.stubber }
    }
}
