// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct FlowControlTests {
    fileprivate final class Handle: TransferHandle {
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

    @Test func firstWishPausesAndTheEndOfTheLastResumes() {
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

    /// A transfer whose resumption blocks its thread.
    private final class Slow: WishedTransfer {
        let (isAsked, mayReturn) = (Gate(), Gate())
        let known = Locked(PauseWish())

        func cancel() {}
        func follow(_ wish: PauseWish) {
            if !wish.isPaused {
                isAsked.open()
                mayReturn.wait()
            }
            _ = known.withLock { $0.update(to: wish) }
        }
    }

    /// Under load, the system may suspend a thread for some milliseconds at any point: gigabytes may arrive meanwhile.
    @Test func pauseWaitsForNoThreadThatIsResuming() async {
        let (flow, transfer) = (FlowControl(), Slow())
        flow.attach(transfer)
        flow.set(.user, true)
        DispatchQueue.global().async { flow.set(.user, false) }
        await transfer.isAsked.wait()

        flow.set(.user, true)

        #expect(transfer.known.withLock { $0.isPaused })
        transfer.mayReturn.open()
        #expect(transfer.known.withLock { $0.isPaused })
    }

    @Test func lateWishOfTheBufferChangesNothing() throws {
        let (flow, handle) = (FlowControl(), Handle())
        flow.attach(handle)
        var wishes = PauseWish()
        let (first, second) = (wishes.change(to: true), wishes.change(to: false))
        let (pause, resume) = try (#require(first), #require(second))

        flow.setBuffer(resume)
        flow.setBuffer(pause)

        #expect(handle.calls.count == 0)
    }
}

@Suite(.bounded) struct FlowControlRaceTests {
    /// A transfer that several threads pause and resume, in any order.
    private final class Wished: WishedTransfer {
        let known = Locked(PauseWish())

        func cancel() {}
        func follow(_ wish: PauseWish) { _ = known.withLock { $0.update(to: wish) } }
    }

    @Test func concurrentWishesEndAsTheLastOne() async {
        for _ in 0..<Scale.races {
            let (flow, handle) = (FlowControl(), FlowControlTests.Handle())
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

    @Test func wishesThatOvertakeEachOtherLeaveItAsTheLastOneSays() async {
        for _ in 0..<Scale.races {
            let (flow, transfer) = (FlowControl(), Wished())
            await withTaskGroup(of: Void.self) { group in
                for reason in [FlowControl.Reasons.user, .bandwidth] {
                    group.addTask {
                        for _ in 0..<5 {
                            flow.set(reason, true)
                            flow.set(reason, false)
                        }
                    }
                }
                // The transport and the caller attach the transfer, in either order.
                for _ in 0..<2 { group.addTask { flow.attach(transfer) } }
            }
            #expect(!transfer.known.withLock { $0.isPaused })

            flow.set(.user, true)
            #expect(transfer.known.withLock { $0.isPaused })
        }
    }
}
