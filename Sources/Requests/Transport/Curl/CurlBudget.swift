// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// The work that a peer may cause inside one call of libcurl without delivering anything.
///
/// A call reads HTTP/2 frames until the socket is empty or content comes: a peer that sends other frames as fast as
/// they are read would keep the thread of all transfers. Processor time is what counts, because a peer that delivers
/// content isn't to suffer from a busy machine.
struct CurlBudget {
    /// The processor time without content, in nanoseconds.
    private static let most: UInt64 = 50_000_000
    /// The number of records between two looks at the clock, which is a system call.
    private static let stride = 64

    private let clock: @Sendable () -> UInt64
    /// The transfer that the last record came for: each of those in a call has the whole budget.
    private var spender: CurlEasy?
    private var records = 0
    private var start: UInt64 = 0

    /// - Parameter clock: Returns the processor time of the thread, in nanoseconds.
    init(clock: @escaping @Sendable () -> UInt64) {
        self.clock = clock
    }

    /// Begins again: a call of libcurl begins, or content has come.
    mutating func renew() { spender = nil }

    /// Records that a part of a TLS record has come for a transfer; returns whether the budget is spent.
    mutating func takeRecord(for easy: CurlEasy) -> Bool {
        if spender != easy { (spender, records) = (easy, 0) }
        records += 1
        guard records % Self.stride == 0 else { return false }
        let now = clock()
        if records == Self.stride { start = now }
        return now &- start >= Self.most
    }
}
#endif
