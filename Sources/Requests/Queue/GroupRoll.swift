// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The members of a group, and the open ones among them.
struct GroupRoll: Sendable {
    /// The work to cancel when a group ends.
    struct Rest: Sendable {
        let members: [Operation]
        let task: Task<Void, Never>?
        /// Released outside the lock, since this may be the last reference.
        let parent: (any RequestQueue)?

        func cancel() {
            task?.cancel()
            for member in members { member.cancel() }
        }
    }

    private(set) var parent: (any RequestQueue)?
    private(set) var members: [Operation] = []
    private(set) var ids: Set<ObjectIdentifier> = []
    private(set) var isCancelled = false
    private var open: Set<ObjectIdentifier> = []
    private var task: Task<Void, Never>?
    private var isBuilding = true
    private var isOver = false
    /// The number of members that are being added at this moment.
    private var admissions = 0

    init(parent: any RequestQueue) {
        self.parent = parent
    }

    /// The members without a result.
    var unsettled: [Operation] { members.filter { open.contains(ObjectIdentifier($0)) } }

    /// Whether the group is over, and depends on all its members.
    var isComplete: Bool { isOver && admissions == 0 }

    /// Adds a member, and returns the queue that runs it; `nil` if the group is over.
    mutating func admit(_ operation: Operation) -> (any RequestQueue)? {
        guard !isOver, let parent, ids.insert(ObjectIdentifier(operation)).inserted else { return nil }
        open.insert(ObjectIdentifier(operation))
        members.append(operation)
        admissions += 1
        return parent
    }

    /// Ends the addition that ``admit(_:)`` began; returns whether the group is over meanwhile, and complete.
    mutating func endAdmission() -> Bool {
        admissions -= 1
        return isComplete
    }

    /// Records that a member has its result; returns whether it was the last one.
    mutating func settle(_ id: ObjectIdentifier) -> Bool {
        open.remove(id) != nil && open.isEmpty && !isBuilding
    }

    /// Records that the group's own members have been added; returns whether all members have results.
    mutating func endBuilding() -> Bool {
        isBuilding = false
        return open.isEmpty
    }

    /// Stores a task; returns `false` if the group is over.
    mutating func keep(_ task: Task<Void, Never>) -> Bool {
        if !isOver { self.task = task }
        return !isOver
    }

    mutating func cancel() -> Rest {
        isCancelled = true
        return end()
    }

    /// Ends the group, and returns the work to cancel.
    mutating func end() -> Rest {
        defer { (isOver, parent, task) = (true, nil, nil) }
        return Rest(members: isOver ? [] : unsettled, task: task, parent: parent)
    }
}

/// The request type of a group's operation, which is never sent.
public struct GroupRequest<Success: Sendable>: Request {
    /// A unique name.
    public let identifier = UUID().uuidString
    let typeName: String
}

/// A queue inside another.
protocol NestedQueue: RequestQueue {
    var parent: (any RequestQueue)? { get }
    /// The members, including finished ones.
    var memberIDs: Set<ObjectIdentifier> { get }
    /// The places of the group, and of those that contain it, in the lines of their categories.
    var places: [ExclusivePlace] { get }
    /// The observers of the members' progress.
    var followers: [QueueFollower] { get }
    /// The unfinished members, and theirs.
    var nestedOperations: [Operation] { get }
}

extension NestedQueue {
    /// The gates that must open before a member runs.
    var turns: [OperationGate] { places.map(\.gate) }
}

/// An operation that reports its failure to its group.
protocol GroupMember: AsynchronousOperation {
    /// Calls `body` once with the failure, if it is one, when the completions of the result have been enqueued.
    func whenSettled(_ body: @escaping @Sendable ((any Error)?) -> Void)
}

extension RequestOperation: GroupMember {
    final func whenSettled(_ body: @escaping @Sendable ((any Error)?) -> Void) {
        observe { outcome in
            if case .failure(let error) = outcome { body(error) } else { body(nil) }
        }
    }
}
