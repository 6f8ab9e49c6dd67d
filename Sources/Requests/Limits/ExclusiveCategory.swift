// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A kind of work of which only one operation may run at a time, whichever queues they are on.
///
/// ```swift
/// queue.addRequest(RenameRequest(file)) …   // with options.exclusivity = ["rename"]
/// queue.addOperation(migration, exclusive: [ExclusiveCategory(Database.self)])
/// ```
///
/// A category is a value, such as a name or the identifier of a document, or a type. Equal values of one type are one
/// category. An operation may be of several: it runs when it is the only one in all of them.
///
/// What waits for its turn takes no place in its queue. The turn comes when everything that the operation depends on is
/// finished, for the highest priority first and among equals for the one that came first; it is over when the operation
/// is finished. An operation has the turns of all its categories or of none, so that two can't wait for each other.
public struct ExclusiveCategory: Sendable, Hashable, CustomStringConvertible {
    private let value: any Hashable & Sendable

    /// The category of a value.
    public init(_ value: some Hashable & Sendable) {
        self.value = value
    }

    /// The category of a type.
    public init(_ type: Any.Type) {
        value = TypeName(id: ObjectIdentifier(type), name: String(describing: type))
    }

    /// The value, or the name of the type.
    public var description: String { String(describing: value).shortened() }

    /// Compares the values, which are of the same type if they are equal.
    public static func == (lhs: ExclusiveCategory, rhs: ExclusiveCategory) -> Bool {
        AnyHashable(lhs.value) == AnyHashable(rhs.value)
    }

    /// Hashes the value.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(AnyHashable(value))
    }

    private struct TypeName: Hashable, Sendable, CustomStringConvertible {
        let id: ObjectIdentifier
        let name: String

        var description: String { name }

        static func == (lhs: TypeName, rhs: TypeName) -> Bool { lhs.id == rhs.id }

        func hash(into hasher: inout Hasher) { hasher.combine(id) }
    }
}

extension ExclusiveCategory: ExpressibleByStringLiteral {
    /// The category of a name.
    public init(stringLiteral value: String) {
        self.init(value)
    }
}

/// Whose turn it is in each category: a line for each, and one holder.
///
/// A turn in all categories of an operation is given at once, to one that is the first in all of their lines, where none
/// of them is held. So nothing holds one category while it waits for another, and one that wants several isn't passed by
/// those that want one of them.
struct ExclusivityTable: Sendable {
    private struct Lane: Sendable {
        var holder: Int?
        var line = WaitingLine()
    }

    private var lanes: [ExclusiveCategory: Lane] = [:]
    /// What those that hold or wait are of.
    private var categories: [Int: Set<ExclusiveCategory>] = [:]
    private var priorities: [Int: Int] = [:]

    /// Whether there is nothing to keep.
    var isEmpty: Bool { lanes.isEmpty && categories.isEmpty }

    /// Joins the lines, under a number that is larger than all before; true if the turn has come at once.
    mutating func join(_ id: Int, _ joined: Set<ExclusiveCategory>, priority: Int) -> Bool {
        categories[id] = joined
        priorities[id] = priority
        for category in joined { lanes[category, default: Lane()].line.add(id, priority: priority) }
        return grant(id)
    }

    /// Leaves the lines, or ends the turn; gives those whose turns have come by that.
    mutating func leave(_ id: Int) -> [Int] {
        guard let left = categories.removeValue(forKey: id) else { return [] }
        priorities[id] = nil
        for category in left {
            if lanes[category]?.holder == id { lanes[category]?.holder = nil }
            lanes[category]?.line.remove(id)
            if let lane = lanes[category], lane.holder == nil, lane.line.isEmpty { lanes[category] = nil }
        }
        return left.compactMap { category in
            guard let next = lanes[category]?.line.first, grant(next) else { return nil }
            return next
        }
    }

    /// Whether the turn has come.
    func isHolder(_ id: Int) -> Bool {
        categories[id]?.allSatisfy { lanes[$0]?.holder == id } ?? false
    }

    /// Those that have to leave before the turn of one that waits: those that have theirs first, and the one that is
    /// directly in front of it last.
    ///
    /// - Complexity: O(n log n) in the length of the lines.
    func ids(before id: Int) -> [Int] {
        let holders = others(than: id) { [$0.holder].compactMap(\.self) }
        let waiting = others(than: id) { $0.line.ids(before: id) }
        return holders.sorted() + waiting.subtracting(holders).sorted { order($0) < order($1) }
    }

    /// What the lines are in the order of.
    private func order(_ id: Int) -> (Int, Int) { (-(priorities[id] ?? 0), id) }

    /// Those whose turns come after that of one that waits.
    ///
    /// - Complexity: O(n) in the length of the lines.
    func ids(behind id: Int) -> Set<Int> {
        others(than: id) { $0.line.ids(behind: id) }
    }

    private func others(than id: Int, in lane: (Lane) -> [Int]) -> Set<Int> {
        guard !isHolder(id), let categories = categories[id] else { return [] }
        return Set(categories.compactMap { lanes[$0] }.flatMap(lane))
    }

    private mutating func grant(_ id: Int) -> Bool {
        guard let wanted = categories[id] else { return false }
        for category in wanted {
            guard lanes[category]?.holder == nil, lanes[category]?.line.first == id else { return false }
        }
        for category in wanted {
            _ = lanes[category]?.line.takeFirst()
            lanes[category]?.holder = id
        }
        return true
    }
}
