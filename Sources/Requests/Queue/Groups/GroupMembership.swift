// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The membership of an operation in a group, attached to the operation as an observer.
final class GroupMembership: OperationObserver {
    private let weakGroup: Weak<AnyRequestOperation>
    private let memberID: ObjectIdentifier

    init(of member: Operation, in group: AnyRequestOperation) {
        weakGroup = Weak(group)
        self.memberID = ObjectIdentifier(member)
    }

    /// The group; `nil` once it is deallocated.
    var group: AnyRequestOperation? { weakGroup.object }

    // The observer waits for the step `finished` instead of checking `isFinished`, because Foundation handles a
    // finished operation only after `isFinished` becomes true. A group that removed its dependency before that would
    // wait forever.
    func observe(_ step: OperationStep) {
        guard case .finished = step else { return }
        group?.observer(GroupContents.self)?.state.withLock { $0.memberFinished(memberID) }
    }
}
