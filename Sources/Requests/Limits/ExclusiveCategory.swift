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
/// What waits for its turn takes no place in its queue. It joins the lines when everything that the operation depends on is
/// finished; of several that one operation held up, in no certain order. The turn comes for the highest priority first, which
/// is that of the moment of joining, and among equals for the one that joined first. It is over when the operation is
/// finished, or cancelled before its start. An operation has the turns of all its categories or of none, so that two can't wait for each other.
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

    /// Compares the types and the values: 1 as an `Int` and 1 as an `Int64` are two categories.
    public static func == (lhs: ExclusiveCategory, rhs: ExclusiveCategory) -> Bool {
        type(of: lhs.value) == type(of: rhs.value) && AnyHashable(lhs.value) == AnyHashable(rhs.value)
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

extension ExclusiveCategory: ExpressibleByStringInterpolation {
    /// The category of a name, as `"document \(id)"`.
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
        /// How many wait, by priority.
        var counts: [Int: Int] = [:]
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
        for category in joined {
            lanes[category, default: Lane()].line.add(id, priority: priority)
            lanes[category]?.counts[priority, default: 0] += 1
        }
        return grant(id)
    }

    /// Leaves the lines, or ends the turn; gives those whose turns have come by that.
    mutating func leave(_ id: Int) -> [Int] {
        guard let left = categories.removeValue(forKey: id) else { return [] }
        let priority = priorities.removeValue(forKey: id) ?? 0
        for category in left {
            if lanes[category]?.holder == id { lanes[category]?.holder = nil }
            if lanes[category]?.line.remove(id) == true { lanes[category]?.counts[priority, default: 1] -= 1 }
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

    /// For each that waits, those that are directly in front of it: one in each of its lines.
    ///
    /// - Complexity: O(n log n) in the number of those that wait.
    func predecessors() -> [Int: [Int]] {
        var predecessors: [Int: Set<Int>] = [:]
        for lane in lanes.values {
            var last = lane.holder
            for id in lane.line.ids.sorted(by: { order($0) < order($1) }) {
                if let last { predecessors[id, default: []].insert(last) }
                last = id
            }
        }
        return predecessors.mapValues { $0.sorted() }
    }

    /// What the lines are in the order of.
    private func order(_ id: Int) -> (Int, Int) { (-(priorities[id] ?? 0), id) }

    /// Those whose turns come after that of one that waits.
    ///
    /// - Complexity: O(1) where it is the last one, else O(n) in the length of the lines.
    func ids(behind id: Int) -> Set<Int> {
        guard !isHolder(id), let categories = categories[id], let priority = priorities[id] else { return [] }
        let overtaken = categories.compactMap { lanes[$0] }
            .filter { lane in lane.counts.contains { $0.key < priority && $0.value > 0 } }
        return Set(overtaken.flatMap { $0.line.ids(behind: id) })
    }

    private mutating func grant(_ id: Int) -> Bool {
        guard let wanted = categories[id] else { return false }
        for category in wanted {
            guard lanes[category]?.holder == nil, lanes[category]?.line.first == id else { return false }
        }
        for category in wanted {
            _ = lanes[category]?.line.takeFirst()
            lanes[category]?.counts[priorities[id] ?? 0, default: 1] -= 1
            lanes[category]?.holder = id
        }
        return true
    }
}
