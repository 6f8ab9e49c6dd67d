// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The members of a group, and the open ones among them.
struct GroupState: Sendable {
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
    /// The members on which the group needn't depend any more.
    private var finished: Set<ObjectIdentifier> = []
    private var task: Task<Void, Never>?
    private var isBuilding = true
    private var isOver = false
    /// The number of members that are being added at this moment.
    private var admissions = 0

    init(parent: any RequestQueue) {
        self.parent = parent
    }

    /// The members without a result.
    var incomplete: [Operation] { members.filter { open.contains(ObjectIdentifier($0)) } }

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

    /// Records that a member has announced its end.
    mutating func finish(_ id: ObjectIdentifier) {
        if ids.contains(id) { finished.insert(id) }
    }

    /// Forgets the finished members once they are the most, and returns them: a group may never end, and its members
    /// come and go.
    mutating func releaseFinished() -> [Operation] {
        guard finished.count >= max(64, members.count / 2), !isOver else { return [] }
        let released = members.filter { finished.contains(ObjectIdentifier($0)) }
        members.removeAll { finished.contains(ObjectIdentifier($0)) }
        ids.subtract(finished)
        finished = []
        return released
    }

    /// Ends the addition that ``admit(_:)`` began; returns whether the group is over meanwhile, and complete.
    mutating func endAdmission() -> Bool {
        admissions -= 1
        return isComplete
    }

    /// Records that a member has its result; returns whether it was the last one.
    mutating func complete(_ id: ObjectIdentifier) -> Bool {
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
        return Rest(members: isOver ? [] : incomplete, task: task, parent: parent)
    }
}
