// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct BulletinTests {
    /// The value that is sent next, and the number of listeners; it has been sent when this returns.
    private struct Call: Equatable {
        var value: Int?
        var count: Int
    }

    private func tell(_ bulletin: inout Bulletin<Int>) -> Call? {
        guard let (readers, value) = bulletin.next() else { return nil }
        bulletin.told()
        return Call(value: value, count: readers.count)
    }

    @Test func oneTellsAtATimeAndOnlyTheNewest() {
        var bulletin = Bulletin<Int>()
        _ = bulletin.add { _ in }

        bulletin.post(1)
        let first = bulletin.next()?.value
        bulletin.post(2)
        bulletin.post(3)
        let meanwhile = tell(&bulletin)
        bulletin.told()
        let calls = (tell(&bulletin), tell(&bulletin))

        #expect(first == 1 && meanwhile == nil)
        #expect(calls.0 == Call(value: 3, count: 1) && calls.1 == nil && bulletin.last == 3)
    }

    @Test func onlyANewListenerGetsTheLastValue() {
        var bulletin = Bulletin<Int>()
        _ = bulletin.add { _ in }
        let nothing = tell(&bulletin)
        bulletin.post(1)
        let first = tell(&bulletin)

        _ = bulletin.add { _ in }
        let second = tell(&bulletin)
        bulletin.post(2)
        let third = tell(&bulletin)

        #expect(nothing == nil && first == Call(value: 1, count: 1))
        #expect(second == Call(value: 1, count: 1) && third == Call(value: 2, count: 2))
    }

    @Test func endComesOnceAfterTheLastValue() {
        var bulletin = Bulletin<Int>()
        _ = bulletin.add { _ in }
        bulletin.post(1)
        bulletin.close()
        bulletin.post(2)

        let calls = (1...3).map { _ in tell(&bulletin) }
        _ = bulletin.add { _ in }
        let late = (1...3).map { _ in tell(&bulletin) }

        #expect(calls == [Call(value: 1, count: 1), Call(value: nil, count: 1), nil])
        #expect(late == calls)
    }

    @Test func removedListenerIsNotNotified() {
        var bulletin = Bulletin<Int>()
        let id = bulletin.add { _ in }

        bulletin.remove(id)
        bulletin.post(1)

        let call = tell(&bulletin)
        #expect(call == Call(value: 1, count: 0))
    }
}
