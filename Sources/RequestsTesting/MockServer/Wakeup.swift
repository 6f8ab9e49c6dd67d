// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A signal that a thread in `poll` hears: a pipe that becomes readable, and stays so until it is cleared.
///
/// The descriptors live as long as the object. A signal that comes late, from a gate that is just being opened, holds
/// the object, and so never writes into a descriptor that belongs to someone else by then.
final class Wakeup: Sendable {
    private let reading: Int32
    private let writing: Int32

    init() throws(MockServerError) {
        var ends: [Int32] = [-1, -1]
        guard makePipe(&ends) == 0 else { throw .system(call: "pipe", code: errno) }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        closeDescriptor(reading)
        closeDescriptor(writing)
    }

    /// Wakes whoever polls, now and later.
    func signal() {
        writeByte(to: writing)
    }

    /// Takes back every signal so far; for the one thread that listens.
    func clear() {
        while readByte(from: reading) {}
    }

    /// What a thread adds to its `poll`.
    var pollDescriptor: pollfd {
        pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
    }
}
