// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct BroadcasterTests {
    /// The value that is sent next, and the number of listeners; it has been sent when this returns.
    private struct Call: Equatable {
        var value: Int?
        var count: Int
    }

    private func notify(_ broadcaster: inout Broadcaster<Int>) -> Call? {
        guard let notification = broadcaster.next() else { return nil }
        broadcaster.didNotify()
        return Call(value: notification.value, count: notification.observers.count)
    }

    @Test func notifiesSeriallyWithLatestValue() {
        var broadcaster = Broadcaster<Int>()
        _ = broadcaster.add { _ in }

        broadcaster.publish(1)
        let first = broadcaster.next()?.value
        broadcaster.publish(2)
        broadcaster.publish(3)
        let meanwhile = notify(&broadcaster)
        broadcaster.didNotify()
        let calls = (notify(&broadcaster), notify(&broadcaster))

        #expect(first == 1 && meanwhile == nil)
        #expect(calls.0 == Call(value: 3, count: 1) && calls.1 == nil && broadcaster.latest == 3)
    }

    @Test func onlyNewObserverGetsLatestValueAgain() {
        var broadcaster = Broadcaster<Int>()
        _ = broadcaster.add { _ in }
        let nothing = notify(&broadcaster)
        broadcaster.publish(1)
        let first = notify(&broadcaster)

        _ = broadcaster.add { _ in }
        let second = notify(&broadcaster)
        broadcaster.publish(2)
        let third = notify(&broadcaster)

        #expect(nothing == nil && first == Call(value: 1, count: 1))
        #expect(second == Call(value: 1, count: 1) && third == Call(value: 2, count: 2))
    }

    @Test func endFollowsLastValueOnce() {
        var broadcaster = Broadcaster<Int>()
        _ = broadcaster.add { _ in }
        broadcaster.publish(1)
        broadcaster.close()
        broadcaster.publish(2)

        let calls = (1...3).map { _ in notify(&broadcaster) }
        _ = broadcaster.add { _ in }
        let late = (1...3).map { _ in notify(&broadcaster) }

        #expect(calls == [Call(value: 1, count: 1), Call(value: nil, count: 1), nil])
        #expect(late == calls)
    }

    @Test func removedObserverIsNotNotified() {
        var broadcaster = Broadcaster<Int>()
        let id = broadcaster.add { _ in }

        broadcaster.remove(id)
        broadcaster.publish(1)

        let call = notify(&broadcaster)
        #expect(call == Call(value: 1, count: 0))
    }
}
