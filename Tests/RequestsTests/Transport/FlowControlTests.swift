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

    @Test func pausesOnFirstReasonResumesOnLast() {
        let flow = FlowControl()
        flow.attach(handle)

        flow.set(.user, true)
        flow.set(.buffer, true)
        flow.set(.user, false)
        flow.set(.user, false)
        flow.set(.buffer, false)

        #expect(handle.calls.elements == ["pause", "resume"])
    }

    @Test func pauseBeforeAttachIsApplied() {
        let flow = FlowControl()
        flow.set(.user, true)
        #expect(handle.calls.count == 0)

        flow.attach(handle)

        #expect(handle.calls.elements == ["pause"])
    }

    @Test func completedTransferIsNotPaused() {
        let flow = FlowControl()
        let isFirst = flow.detach()
        flow.attach(handle)
        flow.set(.user, true)
        let isSecond = flow.detach()

        #expect(handle.calls.count == 0 && isFirst && !isSecond)
    }

    /// A transfer whose resumption blocks its thread.
    private final class Slow: TransferHandle {
        let (isAsked, mayReturn, hasReturned) = (Gate(), Gate(), Gate())
        let calls = Recorder<String>()

        func cancel() {}
        func pause() { calls.record("pause") }
        func resume() {
            calls.record("resume")
            isAsked.open()
            try? mayReturn.wait()
        }
    }

    /// Under load, the system may suspend a thread for some milliseconds at any point: gigabytes may arrive meanwhile.
    @Test func pauseDoesNotWaitForRunningResume() async throws {
        let (flow, transfer) = (FlowControl(), Slow())
        flow.attach(transfer)
        flow.set(.user, true)
        DispatchQueue.global().async {
            flow.set(.user, false)
            transfer.hasReturned.open()
        }
        try await transfer.isAsked.wait()

        flow.set(.user, true)

        #expect(transfer.calls.elements == ["pause", "resume", "pause"])
        transfer.mayReturn.open()
        try await transfer.hasReturned.wait()
        // The resumption may have taken effect after the pause.
        #expect(transfer.calls.elements == ["pause", "resume", "pause", "pause"])
    }
}

@Suite(.bounded) struct FlowControlRaceTests {
    @Test func concurrentPausesSettleOnLastState() async {
        for _ in 0..<Scale.races {
            let (flow, handle) = (FlowControl(), FlowControlTests.Handle())
            flow.attach(handle)
            await withTaskGroup(of: Void.self) { group in
                for reason in [FlowControl.Reasons.user, .buffer] {
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

    @Test func pauseRacesAttach() async {
        for _ in 0..<Scale.races {
            let (flow, handle) = (FlowControl(), FlowControlTests.Handle())
            await withTaskGroup(of: Void.self) { group in
                for reason in [FlowControl.Reasons.user, .buffer] {
                    group.addTask {
                        for _ in 0..<5 {
                            flow.set(reason, true)
                            flow.set(reason, false)
                        }
                    }
                }
                // The transport and the caller attach the transfer, in either order.
                for _ in 0..<2 { group.addTask { flow.attach(handle) } }
            }
            #expect(!handle.isPaused.withLock { $0 })

            flow.set(.user, true)
            #expect(handle.isPaused.withLock { $0 })
        }
    }
}
