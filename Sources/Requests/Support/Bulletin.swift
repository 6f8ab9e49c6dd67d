// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// News of one thing for all who want it, in their order, whichever threads they come from.
///
/// One thread at a time tells, outside every lock, and goes on until there is nothing more to tell; the others leave
/// their news to it. What is overtaken by newer news isn't told: only the newest counts.
struct Bulletin<Value: Sendable>: Sendable {
    /// Takes each piece of news; nil, once, when there are no more.
    typealias Reader = @Sendable (Value?) -> Void

    /// What was told last, to all who were there.
    private(set) var last: Value?
    /// Whether it is over.
    private(set) var isOver = false

    private var news: Value?
    private var readers: [(id: Int, read: Reader)] = []
    /// Those that have been told nothing yet.
    private var newcomers: [(id: Int, read: Reader)] = []
    private var nextID = 0
    private var isTelling = false

    /// Whether nobody reads.
    var isEmpty: Bool { readers.isEmpty && newcomers.isEmpty }

    /// Has something told.
    mutating func post(_ value: Value) {
        if !isOver { news = value }
    }

    /// Ends it, behind what was posted.
    mutating func close() {
        isOver = true
    }

    /// Adds somebody, who is told the last news first; gives the number to remove them by.
    mutating func add(_ reader: @escaping Reader) -> Int {
        nextID += 1
        newcomers.append((nextID, reader))
        return nextID
    }

    /// Tells somebody no more.
    mutating func remove(_ id: Int) {
        newcomers.removeAll { $0.id == id }
        readers.removeAll { $0.id == id }
    }

    /// Who is to be told what, by the caller, who then says so with ``told()`` and asks again; nil where there is
    /// nothing to tell, or somebody is telling.
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

    /// Notes that what ``next()`` gave is told.
    mutating func told() {
        isTelling = false
    }

    private mutating func welcome() {
        readers += newcomers
        newcomers = []
    }
}
