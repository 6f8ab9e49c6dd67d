// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A server that takes connections, and never says a word.
enum SilentServer {
    /// Takes connections until standard input ends, and tells the client when there are as many as it waits for; what
    /// the other process does.
    static func serve(telling expected: Int) throws {
        let taken = Guarded(0)
        try ServerProcess.takeConnections(backlog: 4096) { _ in
            let count = taken.withLock { taken in
                taken += 1
                return taken
            }
            if count == expected { ServerProcess.tell("\(count)") }
        }
    }
}
