// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct BandwidthTests {
    private let clock = TestClock()

    /// A transfer that records when it is paused and resumed.
    private final class Paused: TransferHandle {
        let states = Recorder<Bool>()
        func cancel() {}
        func pause() { states.record(true) }
        func resume() { states.record(false) }
    }

    private struct Throttled {
        let throttle: TransferThrottle
        let flow = FlowControl()

        func note(_ report: TransferReport) { throttle.note(report, flow) }
    }

    private func throttle(_ limiter: BandwidthLimiter) -> (Throttled, Paused) {
        let (throttled, transfer) = (Throttled(throttle: TransferThrottle(limiter)), Paused())
        throttled.flow.attach(transfer)
        return (throttled, transfer)
    }

    private func data(_ count: Int) -> TransferReport { .arrived(count) }

    @Test func aTransferPausesForAsLongAsItOwes() async {
        let (throttle, transfer) = throttle(BandwidthLimiter(bytesPerSecond: 1000, burst: 100, clock: clock))

        throttle.note(data(99))
        #expect(transfer.states.count == 0)
        throttle.note(data(1000))
        #expect(await clock.sleeps.first(1) == [.seconds(1)])
        #expect(transfer.states.elements == [true])
        clock.advance(by: .seconds(1))

        #expect(await transfer.states.first(2) == [true, false])
    }

    @Test func contentDuringAPauseExtendsIt() async {
        let (throttle, transfer) = throttle(BandwidthLimiter(bytesPerSecond: 1000, burst: 1, clock: clock))
        throttle.note(data(500))
        _ = await clock.sleeps.first(1)
        throttle.note(data(500))

        clock.advance(by: .milliseconds(500))
        #expect(await clock.sleeps.first(2).last == .milliseconds(500))
        #expect(transfer.states.elements == [true])
        clock.advance(by: .milliseconds(500))

        #expect(await transfer.states.first(2) == [true, false])
    }

    /// Small content would end before a pause takes effect, so that many small transfers would exceed the limit.
    @Test func aNewTransferBeginsWhenWhatOthersOweIsMadeGood() async throws {
        let steps = ManualTransport()
        let limiter = BandwidthLimiter(bytesPerSecond: 1000, burst: 1, clock: clock)
        _ = limiter.take(500)

        let operation = TestQueue(steps) { $0.bandwidthLimiter = limiter }.addRequest(TextRequest())
        #expect(await clock.sleeps.first(1) == [.milliseconds(500)])
        #expect(steps.transfers.isEmpty)
        _ = limiter.take(100)
        clock.advance(by: .milliseconds(500))
        #expect(await clock.sleeps.first(2).last == .milliseconds(100))
        #expect(steps.transfers.isEmpty)
        operation.pause()
        clock.advance(by: .milliseconds(100))

        let transfer = try await steps.awaitTransfer()
        try await transfer.awaitPause()
        operation.resume()
        try await transfer.awaitPause(false)
        transfer.receive(.head(HTTPResponseHead(status: .ok)))
        transfer.receive(.end(nil))
        await operation.end()
        #expect(operation.result?.value?.isEmpty == true)
    }

    @Test func waitDoesNotCountAsPartOfTheTransfer() async throws {
        let (steps, time) = (ManualTransport(), Locked(Date(timeIntervalSince1970: 1_000_000)))
        let limiter = BandwidthLimiter(bytesPerSecond: 1000, burst: 1, clock: clock)
        _ = limiter.take(60_000)
        let queue = TestQueue(steps) {
            $0.bandwidthLimiter = limiter
            $0.cache = ResponseCache(now: { time.withLock { $0 } })
        }
        let request = HTTPRequest(url: home)

        let first = queue.addRequest(request)
        _ = await clock.sleeps.first(1)
        time.withLock { $0 += 60 }
        clock.advance(by: .seconds(60))
        let transfer = try await steps.awaitTransfer()
        transfer.receive(.head(HTTPResponseHead(status: .ok, headers: [.cacheControl: "max-age=30"])))
        transfer.receive(.end(nil))
        await first.end()
        await queue.addRequest(request).end()

        // A response that is fresh when it arrives stays fresh for its full lifetime.
        #expect(steps.transfers.count == 1)
    }

    /// The handle of a transfer doesn't retain the receiver of its events.
    @Test func aTransportMayForgetATransferThatHadToWait() async {
        let limiter = BandwidthLimiter(bytesPerSecond: 1000, burst: 1, clock: clock)
        _ = limiter.take(500)
        let operation = TestQueue(ForgetfulTransport()) { $0.bandwidthLimiter = limiter }.addRequest(TextRequest())
        _ = await clock.sleeps.first(1)

        clock.advance(by: .milliseconds(500))
        await operation.end()

        #expect(operation.result?.error?.code == .connectionLost)
    }

    @Test func transferThatWaitsForOthersCanBeCancelled() async throws {
        let steps = ManualTransport()
        let limiter = BandwidthLimiter(bytesPerSecond: 1000, burst: 1, clock: clock)
        _ = limiter.take(500)
        let operation = TestQueue(steps) { $0.bandwidthLimiter = limiter }.addRequest(TextRequest())
        _ = await clock.sleeps.first(1)

        operation.cancel()
        await operation.end()

        await clock.cancellations.first(1)
        #expect(operation.result?.error?.code == .cancelled && steps.transfers.isEmpty)
    }

    @Test func sentContentCountsOnce() async {
        let (throttle, transfer) = throttle(BandwidthLimiter(bytesPerSecond: 1000, burst: 1, clock: clock))

        throttle.note(.sent(400, of: 1000))
        #expect(await clock.sleeps.first(1) == [.milliseconds(400)])
        clock.advance(by: .milliseconds(400))
        await transfer.states.first(2)
        throttle.note(.sent(1000, of: 1000))

        #expect(await clock.sleeps.first(2).last == .milliseconds(600))
    }

    @Test func theEndOfATransferEndsItsWait() async {
        let (throttle, transfer) = throttle(BandwidthLimiter(bytesPerSecond: 1, burst: 1, clock: clock))
        throttle.note(data(1000))
        _ = await clock.sleeps.first(1)

        throttle.note(.ended(content: nil))

        await clock.cancellations.first(1)
        #expect(transfer.states.elements == [true])
    }

    @Test func aRateIsKeptExactlyOverALongTransfer() async {
        let (throttle, transfer) = throttle(BandwidthLimiter(bytesPerSecond: 10_000, burst: 1, clock: clock))
        for round in 1...100 {
            throttle.note(data(1000))
            guard let pause = await clock.sleeps.first(round).last else { return }
            clock.advance(by: pause)
            await transfer.states.first(2 * round)
        }

        #expect(clock.now.offset == .seconds(10))
    }

    @Test func theEnvironmentsLimiterIsThatOfEveryTransfer() async throws {
        let steps = ManualTransport()
        let limiter = BandwidthLimiter(bytesPerSecond: 1000, burst: 1, clock: clock)
        let operation = TestQueue(steps) { $0.bandwidthLimiter = limiter }.addRequest(TextRequest())
        let transfer = try await steps.awaitTransfer()

        transfer.receive(.head(HTTPResponseHead(status: .ok, headers: [], url: home)))
        transfer.receive(.data(Data(count: 700)))
        #expect(await clock.sleeps.first(1) == [.milliseconds(700)])
        transfer.receive(.end(nil))
        await operation.end()

        #expect(operation.result?.value?.utf8.count == 700)
    }
}
