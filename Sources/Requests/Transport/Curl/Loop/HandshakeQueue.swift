// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// Transfers that are ready to begin, and whose connections may need a handshake.
///
/// The loop begins a few of them in a turn. Origins take turns, so that a crowd of new connections to one of them
/// delays the requests to the others by little; the transfers of an origin begin in their order.
struct HandshakeQueue {
    private var lines: [Origin: FIFO<CurlTransfer>] = [:]
    /// The origins of the lines, in the order of their turns.
    private var origins = FIFO<Origin>()

    var isEmpty: Bool { origins.isEmpty }

    mutating func append(_ transfer: CurlTransfer) {
        let origin = transfer.destination.origin
        if lines[origin] == nil { origins.append(origin) }
        lines[origin, default: FIFO()].append(transfer)
    }

    /// Removes the next transfer that wasn't stopped in the meantime.
    mutating func popFirst() -> CurlTransfer? {
        while let origin = origins.popFirst() {
            // By the index: a change by the key would allocate three times.
            guard let index = lines.index(forKey: origin) else { continue }
            var next = lines.values[index].popFirst()
            while let stopped = next, stopped.isStopped { next = lines.values[index].popFirst() }
            if lines.values[index].isEmpty { lines.remove(at: index) } else { origins.append(origin) }
            if let next { return next }
        }
        return nil
    }
}
#endif
