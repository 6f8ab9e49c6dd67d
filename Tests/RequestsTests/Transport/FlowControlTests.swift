// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTesting
import TestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct FlowControlTests {
    private final class Handle: Transfer {
        let calls = Recorder<String>()
        let isPaused = Locked(false)

        func cancel() {}
        func pause() {
            calls.record("pause")
            isPaused.withLock { $0 = true }
        }
        func resume() {
            calls.record("resume")
            isPaused.withLock { $0 = false }
        }
    }

    private let handle = Handle()

    @Test func theFirstWishPausesAndTheLastOneThatGoesResumes() {
        let flow = FlowControl()
        flow.attach(handle)

        flow.set(.user, true)
        flow.set(.buffer, true)
        flow.set(.user, false)
        flow.set(.user, false)
        flow.set(.buffer, false)

        #expect(handle.calls.elements == ["pause", "resume"])
    }

    @Test func aWishMayBeOlderThanTheTransfer() {
        let flow = FlowControl(.user)
        #expect(handle.calls.count == 0)

        flow.attach(handle)

        #expect(handle.calls.elements == ["pause"])
    }

    @Test func aTransferThatIsOverIsLeftAlone() {
        let flow = FlowControl()
        let isFirst = flow.detach()
        flow.attach(handle)
        flow.set(.user, true)
        let isSecond = flow.detach()

        #expect(handle.calls.count == 0 && isFirst && !isSecond)
    }

    @Test(.tags(.race)) func thoseWhoComeAtOnceLeaveItAsTheLastWishSays() async {
        for _ in 0..<Scale.races {
            let (flow, handle) = (FlowControl(), Handle())
            flow.attach(handle)
            await withTaskGroup(of: Void.self) { group in
                for reason in [FlowControl.Reasons.user, .buffer, .bandwidth] {
                    group.addTask {
                        for _ in 0..<5 {
                            flow.set(reason, true)
                            flow.set(reason, false)
                        }
                    }
                }
            }
            #expect(!handle.isPaused.withLock { $0 })
        }
    }
}
