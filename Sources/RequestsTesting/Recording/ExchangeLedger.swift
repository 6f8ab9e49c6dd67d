// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// The exchanges of a recorder in the order in which they were sent, whichever ends first.
struct ExchangeLedger: Sendable {
    /// Nil for an exchange that isn't over.
    private var entries: [RecordedExchange?] = []
    /// How many were forgotten before the first of the entries.
    private var forgotten = 0

    /// The exchanges that are over.
    var exchanges: [RecordedExchange] { entries.compactMap { $0 } }

    /// Notes that an exchange begins; returns its number.
    mutating func begin() -> Int {
        entries.append(nil)
        return forgotten + entries.count - 1
    }

    /// Notes an exchange that is over; one that was forgotten meanwhile stays so.
    mutating func end(_ number: Int, _ exchange: RecordedExchange) {
        guard number >= forgotten else { return }
        entries[number - forgotten] = exchange
    }

    /// Forgets every exchange, those that aren't over as well.
    mutating func reset() {
        forgotten += entries.count
        entries = []
    }
}
