// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// The exchanges of a recorder in the order in which they were sent, whichever ends first.
struct ExchangeLedger: Sendable {
    /// An exchange, or how to learn what there is of one that isn't over.
    enum Entry: Sendable {
        case over(RecordedExchange)
        case underWay(@Sendable () -> RecordedExchange)
    }

    private(set) var entries: [Entry] = []
    /// How many were forgotten before the first of the entries.
    private var forgotten = 0

    /// The exchanges that are over.
    var exchanges: [RecordedExchange] {
        entries.compactMap { entry in
            if case .over(let exchange) = entry { exchange } else { nil }
        }
    }

    /// Notes that an exchange begins, with what tells what there is of it; returns its number.
    mutating func begin(_ current: @escaping @Sendable () -> RecordedExchange) -> Int {
        entries.append(.underWay(current))
        return forgotten + entries.count - 1
    }

    /// Notes an exchange that is over; one that was forgotten meanwhile stays so.
    mutating func end(_ number: Int, _ exchange: RecordedExchange) {
        guard number >= forgotten else { return }
        entries[number - forgotten] = .over(exchange)
    }

    /// Forgets every exchange, those that aren't over as well.
    mutating func reset() {
        forgotten += entries.count
        entries = []
    }
}
