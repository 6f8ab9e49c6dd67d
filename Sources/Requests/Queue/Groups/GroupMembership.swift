// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The membership of an operation in a group, as a feature of the operation.
final class GroupMembership: OperationObserver {
    private let reference: Weak<AnyRequestOperation>
    private let member: ObjectIdentifier

    init(of member: Operation, in group: AnyRequestOperation) {
        reference = Weak(group)
        self.member = ObjectIdentifier(member)
    }

    /// The group; `nil` when it was deallocated.
    var group: AnyRequestOperation? { reference.object }

    // Not when `isFinished` is true: Foundation hasn't processed the end by then, and a group that no longer depends on
    // the member would wait for ever.
    func observe(_ step: OperationStep) {
        guard case .finished = step else { return }
        group?.observer(GroupContents.self)?.state.withLock { $0.finish(member) }
    }
}
