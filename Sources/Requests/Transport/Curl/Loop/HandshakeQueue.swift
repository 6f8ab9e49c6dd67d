// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// The transfers that are ready to start, but whose connections may need a handshake.
///
/// The loop starts a few of them per iteration. It serves the origins round-robin, so that many new connections to one
/// origin hardly delay requests to the others. Transfers to the same origin start in order.
struct HandshakeQueue {
    private var queues: [Origin: FIFO<CurlTransfer>] = [:]
    /// The origins of the queues, in round-robin order.
    private var origins = FIFO<Origin>()

    var isEmpty: Bool { origins.isEmpty }

    mutating func append(_ transfer: CurlTransfer) {
        let origin = transfer.destination.origin
        if queues[origin] == nil { origins.append(origin) }
        queues[origin, default: FIFO()].append(transfer)
    }

    /// Removes and returns the next transfer that wasn't stopped in the meantime.
    mutating func popFirst() -> CurlTransfer? {
        while let origin = origins.popFirst() {
            // Accessed by index, because a change by key would allocate three times.
            guard let index = queues.index(forKey: origin) else { continue }
            var next = queues.values[index].popFirst()
            while let stopped = next, stopped.isStopped { next = queues.values[index].popFirst() }
            if queues.values[index].isEmpty { queues.remove(at: index) } else { origins.append(origin) }
            if let next { return next }
        }
        return nil
    }
}
#endif
