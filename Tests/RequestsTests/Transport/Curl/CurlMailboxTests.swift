// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Testing

@testable import Requests

/// A mailbox whose changes may stand in an expectation.
private final class Mailbox {
    private var value = CurlMailbox()

    func put(_ events: [TransferEvent]) -> (schedule: Bool, pause: Bool) { value.put(events) }
    func take() -> [TransferEvent]? { value.take() }
    func release(_ count: Int) -> Bool { value.release(count) }
}

@Suite(.timeLimit(.minutes(5))) struct CurlMailboxTests {
    private static func data(_ count: Int) -> TransferEvent { .data(Data(count: count)) }

    @Test func receiverIsCalledOnceUntilItHasFoundNothing() {
        let mailbox = Mailbox()

        #expect(mailbox.put([Self.data(1)]).schedule)
        #expect(!mailbox.put([Self.data(1)]).schedule)
        #expect(mailbox.take()?.count == 2)
        #expect(!mailbox.put([.end(nil)]).schedule)
        #expect(mailbox.take()?.count == 1)
        #expect(mailbox.take() == nil)
        #expect(mailbox.put([Self.data(1)]).schedule)
    }

    @Test func eventsComeInTheirOrder() {
        let mailbox = Mailbox()

        _ = mailbox.put([Self.data(1), Self.data(2)])
        _ = mailbox.put([Self.data(3), .end(nil)])

        let sizes = mailbox.take()?.map { if case .data(let data) = $0 { data.count } else { 0 } }
        #expect(sizes == [1, 2, 3, 0])
    }

    @Test func transferPausesAboveTheHighWaterAndGoesOnAtTheLow() {
        let (high, low) = (CurlMailbox.highWater, CurlMailbox.lowWater)
        let mailbox = Mailbox()

        #expect(!mailbox.put([Self.data(high)]).pause)
        #expect(mailbox.put([Self.data(1)]).pause)
        #expect(!mailbox.put([Self.data(1000)]).pause, "it is paused already")
        #expect(!mailbox.release(high - low))
        #expect(!mailbox.release(1000))
        #expect(mailbox.release(1))
        #expect(!mailbox.release(low), "it goes on already")
    }

    @Test func whatIsTakenStillWaitsUntilTheReceiverIsDoneWithIt() {
        let mailbox = Mailbox()

        #expect(!mailbox.put([Self.data(CurlMailbox.highWater)]).pause)
        _ = mailbox.take()
        #expect(mailbox.put([Self.data(1)]).pause)
    }

    @Test func receiverThatKeepsUpNeverPausesTheTransfer() {
        let mailbox = Mailbox()

        for _ in 0..<10_000 {
            #expect(!mailbox.put([Self.data(16 * 1024)]).pause)
            for case .data(let data) in mailbox.take() ?? [] { #expect(!mailbox.release(data.count)) }
        }
    }
}
#endif
