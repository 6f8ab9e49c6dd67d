// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A server that accepts connections, and never sends a byte.
enum SilentServer {
    /// Accepts connections until standard input ends, and notifies the client when there are `expected` of them.
    ///
    /// Runs in the other process.
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
