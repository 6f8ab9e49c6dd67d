// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// Limits what a peer can make one call of libcurl do without delivering anything.
///
/// A call reads HTTP/2 frames until the socket is empty or content arrives. A peer that sends other frames as fast as
/// they are read would occupy the thread of all transfers. The budget is processor time, so a busy machine doesn't
/// spend it.
struct CurlBudget {
    /// The maximum processor time without content, in nanoseconds.
    private static let most: UInt64 = 50_000_000
    /// The number of records between two reads of the clock, each of which is a system call.
    private static let stride = 64

    private let clock: @Sendable () -> UInt64
    /// The transfer that received the last record: each transfer has a whole budget in each call.
    private var spender: CurlEasy?
    private var records = 0
    private var start: UInt64 = 0

    /// - Parameter clock: Returns the processor time of the thread, in nanoseconds.
    init(clock: @escaping @Sendable () -> UInt64) {
        self.clock = clock
    }

    /// Starts a new budget, because a call of libcurl begins or content has arrived.
    mutating func renew() { spender = nil }

    /// Records a part of a TLS record that arrived for a transfer; returns whether the budget is spent.
    mutating func countRecord(for easy: CurlEasy) -> Bool {
        if spender != easy { (spender, records) = (easy, 0) }
        records += 1
        guard records % Self.stride == 0 else { return false }
        let now = clock()
        if records == Self.stride { start = now }
        return now &- start >= Self.most
    }
}
#endif
