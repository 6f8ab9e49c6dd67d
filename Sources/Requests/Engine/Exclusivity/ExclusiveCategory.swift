// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A category of operations of which only one may run at a time, on all queues together.
///
/// ```swift
/// queue.addRequest(RenameRequest(file)) …   // with options.exclusivity = ["rename"]
/// queue.addOperation(migration, exclusive: [ExclusiveCategory(Database.self)])
/// ```
///
/// A category is a value, such as a name or the identifier of a document, or a type. Equal values of one type are one
/// category. An operation may be in several: it runs when it is the only one in all of them.
///
/// A waiting operation takes no place in its queue. It joins the lines when all its dependencies are finished; several
/// operations that waited for the same one join in no particular order. The highest priority comes first, as it is at
/// the time of joining, and among equals the one that joined first. A turn is over when the operation is finished, or
/// cancelled before its start. An operation gets the turns of all its categories together, so that two can't wait for
/// each other.
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
    }
}

extension ExclusiveCategory: ExpressibleByStringInterpolation {
    /// The category of a name, such as `"document \(id)"`.
    public init(stringLiteral value: String) {
        self.init(value)
    }
}

/// The lines of the categories: one for each, with one holder.
///
/// An operation gets the turn in all its categories at once: when it is the first in all their lines, and none of them
/// is held. So no operation holds one category while it waits for another, and one with several categories isn't
/// overtaken by those with one of them.
struct ExclusivityTable: Sendable {
    private struct Lane: Sendable {
        var holder: Int?
        var line = WaitingLine()
    }

    private var lanes: [ExclusiveCategory: Lane] = [:]
    /// The categories of the operations that hold a turn or wait.
    private var categories: [Int: Set<ExclusiveCategory>] = [:]
    private var priorities: [Int: Int] = [:]

    /// Whether no state is left.
    var isEmpty: Bool { lanes.isEmpty && categories.isEmpty }

    /// Joins the lines, with a number that is larger than all before; returns whether the turn has come at once.
    mutating func join(_ id: Int, _ joined: Set<ExclusiveCategory>, priority: Int) -> Bool {
        categories[id] = joined
        priorities[id] = priority
        for category in joined {
            lanes[category, default: Lane()].line.add(id, priority: priority)
        }
        return grant(id)
    }

    /// Leaves the lines, or ends the turn; returns the operations whose turns come then.
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

    /// For each waiting operation, those directly in front of it: one in each of its lines.
    ///
    /// - Complexity: O(n log n) in the number of waiting operations.
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

    /// The sort key of the lines.
    private func order(_ id: Int) -> (Int, Int) { (-(priorities[id] ?? 0), id) }

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
