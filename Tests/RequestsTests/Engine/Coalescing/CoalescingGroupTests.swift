// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// The transfers that a request may join, and those that are unneeded.
@Suite(.bounded) struct CoalescingGroupTests {
    private final class Transfer: Sendable {}

    private let limits = ResponseLimits(head: 1, content: 1)
    private let seats = (0..<3).map { _ in Transfer() }

    private func id(_ seat: Int) -> ObjectIdentifier { ObjectIdentifier(seats[seat]) }

    private func identity(_ number: Int = 0) throws -> RequestFingerprint {
        let request = HTTPRequest(url: home, headers: ["X-Number": "\(number)"])
        let configuration = RunConfiguration(RequestOptions(), [], in: RequestEnvironment())
        return try #require(RequestFingerprint(request, configuration))
    }

    @Test func replacedTransferIsDroppedWithLastMember() throws {
        var group = CoalescingGroup<Transfer>()
        let (narrow, wide) = (Transfer(), Transfer())
        group.register(id(0), limits)
        _ = group.join(try identity(), id(0), or: narrow, group.limits)
        group.register(id(1), ResponseLimits(head: 9, content: 9))

        let second = group.join(try identity(), id(1), or: wide, group.limits)

        #expect(second?.transfer === wide && second?.unneeded.isEmpty == true)
        #expect(group.leave(narrow, id(0)).map { $0.transfer === narrow } == [true])
    }

    @Test func participantJoinsEndedTransferOnce() throws {
        var group = CoalescingGroup<Transfer>()
        let transfer = Transfer()
        for seat in 0..<2 { group.register(id(seat), limits) }
        _ = group.join(try identity(), id(0), or: transfer, limits)
        group.didEnd(transfer)
        group.register(id(2), limits)

        #expect(group.join(try identity(), id(1)) === transfer)
        #expect(group.join(try identity(), id(1)) == nil)
        #expect(group.join(try identity(), id(2)) == nil)
    }

    @Test func renewedParticipantSkipsEarlierTransfers() throws {
        var group = CoalescingGroup<Transfer>()
        for seat in 0..<2 { group.register(id(seat), limits) }
        _ = group.join(try identity(), id(0), or: Transfer(), limits)

        group.excludeExistingTransfers(id(1))

        #expect(group.join(try identity(), id(1)) == nil)
    }

    @Test func transferIsDroppedWithLastParticipant() throws {
        var group = CoalescingGroup<Transfer>()
        let transfer = Transfer()
        for seat in 0..<2 { group.register(id(seat), limits) }
        _ = group.join(try identity(), id(0), or: transfer, limits)
        _ = group.join(try identity(), id(1))

        #expect(group.leave(id(0)).isEmpty)
        #expect(group.leave(id(1)).map { $0.transfer === transfer } == [true])
        #expect(group.leave(transfer, id(1)).isEmpty && group.isEmpty)
    }

    @Test func endedTransfersAreBounded() throws {
        var group = CoalescingGroup<Transfer>()
        let kept = Locked(0)
        group.register(id(0), limits)
        for number in 0..<100 {
            let transfer = Transfer()
            group.register(id(1), limits)
            _ = group.join(try identity(number), id(1), or: transfer, limits)
            group.didEnd(transfer)
            let unneeded = group.leave(transfer, id(1)).count + group.leave(id(1)).count
            kept.withLock { $0 += 1 - unneeded }
        }

        #expect(kept.withLock { $0 } == CoalescingGroup<Transfer>.maximumEndedTransfers)
        #expect(!group.leave(id(0)).isEmpty && group.isEmpty)
    }
}
