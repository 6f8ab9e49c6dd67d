// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Values that are published to several readers, in their order, from any thread.
///
/// One thread at a time notifies the readers, outside every lock, until there is nothing more to report; the others
/// leave their values to it. An older value that hasn't been reported is skipped: only the newest counts.
struct Bulletin<Value: Sendable>: Sendable {
    /// Receives each value; `nil`, once, at the end.
    typealias Reader = @Sendable (Value?) -> Void

    /// The last value that was reported to all readers at that time.
    private(set) var last: Value?
    /// Whether the bulletin is closed.
    private(set) var isOver = false

    private var news: Value?
    private var readers: [(id: Int, read: Reader)] = []
    /// The readers that haven't received a value yet.
    private var newcomers: [(id: Int, read: Reader)] = []
    private var nextID = 0
    private var isTelling = false

    /// Whether there are no readers.
    var isEmpty: Bool { readers.isEmpty && newcomers.isEmpty }

    /// Posts a value.
    mutating func post(_ value: Value) {
        if !isOver { news = value }
    }

    /// Closes the bulletin, after the posted value.
    mutating func close() {
        isOver = true
    }

    /// Adds a reader, which first receives the last value; returns the number with which it is removed.
    mutating func add(_ reader: @escaping Reader) -> Int {
        nextID += 1
        newcomers.append((nextID, reader))
        return nextID
    }

    /// Removes a reader.
    mutating func remove(_ id: Int) {
        newcomers.removeAll { $0.id == id }
        readers.removeAll { $0.id == id }
    }

    /// Returns the next notification, for the caller to perform, and to call ``told()`` and this method again; `nil` if
    /// there is nothing to report, or another thread is reporting.
    mutating func next() -> (readers: [Reader], value: Value?)? {
        guard !isTelling else { return nil }
        if let value = news {
            welcome()
            (news, last, isTelling) = (nil, value, true)
            return (readers.map(\.read), value)
        }
        if let last, !newcomers.isEmpty {
            let fresh = newcomers.map(\.read)
            welcome()
            isTelling = true
            return (fresh, last)
        }
        welcome()
        guard isOver, !readers.isEmpty else { return nil }
        defer { readers = [] }
        isTelling = true
        return (readers.map(\.read), nil)
    }

    /// Records that the notification of ``next()`` was performed.
    mutating func told() {
        isTelling = false
    }

    private mutating func welcome() {
        readers += newcomers
        newcomers = []
    }
}
