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
    private var readers: [(id: Int, isNew: Bool, read: Reader)] = []
    private var nextID = 0
    private var isTelling = false

    /// Posts a value, and returns the one that is skipped for it, to be released outside of the lock.
    @discardableResult
    mutating func post(_ value: Value) -> Value? {
        guard !isOver else { return nil }
        defer { news = value }
        return news
    }

    /// Closes the bulletin, after the posted value.
    mutating func close() {
        isOver = true
    }

    /// Adds a reader, which first receives the last value; returns the number with which it is removed.
    mutating func add(_ reader: @escaping Reader) -> Int {
        nextID += 1
        readers.append((nextID, true, reader))
        return nextID
    }

    /// Removes a reader.
    mutating func remove(_ id: Int) {
        readers.removeAll { $0.id == id }
    }

    /// Returns the next notification, for the caller to perform, and to call ``told()`` and this method again; `nil` if
    /// there is nothing to report, or another thread is reporting.
    mutating func next() -> (readers: [Reader], value: Value?)? {
        guard !isTelling else { return nil }
        let fresh = readers.filter(\.isNew)
        for index in readers.indices { readers[index].isNew = false }
        if let value = news {
            (news, last, isTelling) = (nil, value, true)
            return (readers.map(\.read), value)
        }
        if let last, !fresh.isEmpty {
            isTelling = true
            return (fresh.map(\.read), last)
        }
        guard isOver, !readers.isEmpty else { return nil }
        defer { readers = [] }
        isTelling = true
        return (readers.map(\.read), nil)
    }

    /// Records that the notification of ``next()`` was performed.
    mutating func told() {
        isTelling = false
    }
}

/// A state behind a lock, with a bulletin that publishes its changes.
protocol Published: Sendable {
    associatedtype News: Sendable
    var bulletin: Bulletin<News> { get set }
}

extension Locked where Value: Published {
    /// Notifies the readers of the bulletin, outside of the lock, until there is nothing more to report.
    ///
    /// The previous value is also released outside of the lock, because its deinitializer may call back.
    func tell() {
        while let (former, (readers, news)) = withLock({ state in
            let former = state.bulletin.last
            return state.bulletin.next().map { (former, $0) }
        }) {
            withExtendedLifetime(former) {
                for read in readers { read(news) }
            }
            withLock { $0.bulletin.told() }
        }
    }
}
