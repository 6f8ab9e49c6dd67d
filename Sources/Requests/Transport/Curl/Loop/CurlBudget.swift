// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// Limits the work that a peer can cause in one call of libcurl without delivering any content.
///
/// One call reads HTTP/2 frames until the socket is empty or content arrives. A peer that sends other frames as fast as
/// they are read would block the thread of all transfers. The budget is measured in processor time, so that a busy
/// machine doesn't use it up.
struct CurlBudget {
    /// The maximum processor time without content, in nanoseconds.
    private static let maximumTime: UInt64 = 50_000_000
    /// The number of records between two reads of the clock, because each read is a system call.
    private static let recordsPerCheck = 64

    private let clock: @Sendable () -> UInt64
    /// The transfer that received the last record.
    ///
    /// Each transfer has a full budget in each call of libcurl.
    private var currentEasy: CurlEasy?
    private var records = 0
    private var startTime: UInt64 = 0

    /// - Parameter clock: Returns the processor time of the thread, in nanoseconds.
    init(clock: @escaping @Sendable () -> UInt64) {
        self.clock = clock
    }

    /// Resets the budget; called before each libcurl call, and when content has arrived.
    mutating func reset() { currentEasy = nil }

    /// Counts a part of a TLS record that arrived for a transfer; returns whether the budget is used up.
    mutating func countRecord(for easy: CurlEasy) -> Bool {
        if currentEasy != easy { (currentEasy, records) = (easy, 0) }
        records += 1
        guard records % Self.recordsPerCheck == 0 else { return false }
        let now = clock()
        if records == Self.recordsPerCheck { startTime = now }
        return now &- startTime >= Self.maximumTime
    }
}
#endif
