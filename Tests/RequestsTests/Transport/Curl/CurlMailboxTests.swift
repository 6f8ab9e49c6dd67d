// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import RequestsTesting
import RequestsTestSupport
import Testing

@testable import Requests

/// A mailbox whose mutating methods can be used in an expectation.
private final class Mailbox {
    private var value = CurlMailbox()

    func put(_ events: [TransferEvent]) -> (schedule: Bool, pause: Bool) { value.put(events) }
    func take() -> ArraySlice<TransferEvent>? { value.take() }
    func release(_ count: Int) -> Bool { value.release(count) }
    func hold(_ isHeld: Bool) { value.hold(isHeld) }
    func putBack(_ rest: ArraySlice<TransferEvent>) -> Bool { value.putBack(rest) }
}

@Suite(.bounded) struct CurlMailboxTests {
    fileprivate static func data(_ count: Int) -> TransferEvent { .data(Data(count: count)) }

    @Test func receiverIsScheduledOnceUntilDrained() {
        let mailbox = Mailbox()

        #expect(mailbox.put([Self.data(1)]).schedule)
        #expect(!mailbox.put([Self.data(1)]).schedule)
        #expect(mailbox.take()?.count == 2)
        #expect(!mailbox.put([.end(nil)]).schedule)
        #expect(mailbox.take()?.count == 1)
        #expect(mailbox.take() == nil)
        #expect(mailbox.put([Self.data(1)]).schedule)
    }

    @Test func eventsKeepTheirOrder() {
        let mailbox = Mailbox()

        _ = mailbox.put([Self.data(1), Self.data(2)])
        _ = mailbox.put([Self.data(3), .end(nil)])

        let sizes = mailbox.take()?.map { if case .data(let data) = $0 { data.count } else { 0 } }
        #expect(sizes == [1, 2, 3, 0])
    }

    @Test func pausesAboveHighAndResumesBelowLowWater() {
        let (high, low, overhead) = (CurlMailbox.highWater, CurlMailbox.lowWater, CurlMailbox.overhead)
        let mailbox = Mailbox()

        #expect(!mailbox.put([Self.data(high - overhead)]).pause)
        #expect(mailbox.put([Self.data(1)]).pause)
        #expect(!mailbox.put([Self.data(1000)]).pause, "it is paused already")
        #expect(!mailbox.release(high - low - overhead))
        #expect(!mailbox.release(1000))
        #expect(mailbox.release(1))
        #expect(!mailbox.release(low), "it goes on already")
    }

    @Test func eventsPutBackKeepTheirOrder() throws {
        let mailbox = Mailbox()
        _ = mailbox.put([Self.data(1), Self.data(2)])
        let taken = try #require(mailbox.take())
        #expect(!mailbox.putBack(taken[1...]), "nothing holds it back")

        mailbox.hold(true)
        #expect(mailbox.putBack(taken[1...]) && mailbox.take() == nil)
        _ = mailbox.put([Self.data(3)])
        mailbox.hold(false)

        let sizes = [mailbox.take(), mailbox.take()].flatMap { events in
            (events ?? []).map { if case .data(let data) = $0 { data.count } else { 0 } }
        }
        #expect(sizes == [2, 3])
    }

    /// A hundred times the pieces take about a hundred times as long; quadratic code would take ten thousand times as
    /// long.
    @Test func pausingAfterEachChunkTakesLinearTime() {
        func time(_ count: Int) -> Duration {
            ProcessorTime.shortest {
                let mailbox = Mailbox()
                _ = mailbox.put((0..<count).map { _ in Self.data(1) })
                while let events = mailbox.take() {
                    mailbox.hold(true)
                    _ = mailbox.putBack(events.dropFirst())
                    mailbox.hold(false)
                }
            }
        }

        #expect(time(20_000) < time(200) * 1000)
    }

    @Test func takenContentCountsUntilReleased() {
        let mailbox = Mailbox()

        #expect(!mailbox.put([Self.data(CurlMailbox.highWater - CurlMailbox.overhead)]).pause)
        _ = mailbox.take()
        #expect(mailbox.put([Self.data(1)]).pause)
    }

    @Test func singleByteChunksPauseTransfer() {
        let mailbox = Mailbox()
        var count = 0

        while count < 100_000, !mailbox.put([Self.data(1)]).pause { count += 1 }

        #expect(count < CurlMailbox.highWater / CurlMailbox.overhead)
    }

    /// Its handle is reused by the time that the transfer could be paused.
    @Test func completedTransferIsNotPaused() {
        let mailbox = Mailbox()

        let put = mailbox.put([Self.data(2 * CurlMailbox.highWater), .end(nil)])

        #expect(put.schedule && !put.pause)
        #expect(mailbox.take()?.count == 2)
        #expect(!mailbox.release(2 * CurlMailbox.highWater), "there is nothing to resume")
    }

    @Test func fastReceiverNeverPausesTransfer() {
        let mailbox = Mailbox()

        for _ in 0..<Scale.pick(200, whole: 10_000) {
            #expect(!mailbox.put([Self.data(16 * 1024)]).pause)
            for case .data(let data) in mailbox.take() ?? [] { #expect(!mailbox.release(data.count)) }
        }
    }
}

@Suite(.bounded) struct CurlMailboxRaceTests {
    /// One worker reports what the peer sends, and another an end from this side.
    @Test func eventsAreTakenOnceByOneWorker() async throws {
        for _ in 0..<Scale.races {
            let mailbox = Locked(CurlMailbox())
            let (sizes, inside, overlaps, done) = (Locked<[Int]>([]), Locked(0), Locked(0), Gate())
            let deliver: @Sendable () -> Void = {
                var isFirstCall = true
                while let events = mailbox.withLock({ $0.take(isFirstCall: isFirstCall) }) {
                    isFirstCall = false
                    let count = inside.withLock { inside in
                        inside += 1
                        return inside
                    }
                    if count > 1 { overlaps.withLock { $0 += 1 } }
                    for event in events {
                        switch event {
                        case .data(let data): sizes.withLock { $0.append(data.count) }
                        case .end: done.open()
                        default: break
                        }
                    }
                    inside.withLock { $0 -= 1 }
                }
            }
            DispatchQueue.concurrentPerform(iterations: 2) { worker in
                for size in 1...20 {
                    guard worker == 0 else {
                        deliver()
                        continue
                    }
                    let events = size == 20 ? [CurlMailboxTests.data(size), .end(nil)] : [CurlMailboxTests.data(size)]
                    if mailbox.withLock({ $0.put(events).schedule }) { DispatchQueue.global().async(execute: deliver) }
                }
            }
            try await done.wait()

            #expect(sizes.withLock { $0 } == Array(1...20))
            #expect(overlaps.withLock { $0 } == 0)
        }
    }
}
#endif
