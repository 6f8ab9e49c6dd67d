// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsTesting

/// Every wait of the module ends by itself, in real time, and its error says what has happened so far.
@Suite(.bounded) struct WaitLimitTests {
    private static let limit = Duration.milliseconds(50)

    /// A wait for what never happens, and the words of its error.
    struct Wait: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let words: [String]
        let body: @Sendable () async throws -> Void

        static let all: [Wait] = [
            Wait(testDescription: "no sleeper", words: ["2 sleepers", "sleepers: 0,", "clock: 5.0 seconds"]) {
                let clock = ManualClock()
                clock.advance(by: .seconds(5))
                try await clock.waitForSleepers(2, timeout: limit)
            },
            Wait(testDescription: "too few sleepers", words: ["2 sleepers", "sleepers: 1 (until 60.0 seconds)"]) {
                let clock = ManualClock()
                let sleeper = Task { try await clock.sleep(for: .seconds(60)) }
                defer { sleeper.cancel() }
                try await clock.waitForSleepers()
                try await clock.waitForSleepers(2, timeout: limit)
            },
            Wait(testDescription: "no transfer", words: ["1 transfers", "0 have started"]) {
                try await ManualTransport().awaitTransfer(timeout: limit)
            },
            Wait(testDescription: "few transfers", words: ["2 transfers", "1 have started: GET http://a.example/b"]) {
                let transport = ManualTransport()
                _ = try transport.sample()
                try await transport.awaitTransfer(count: 2, timeout: limit)
            },
            Wait(testDescription: "no cancel", words: ["a cancel", "GET http://a.example/b (running, "]) {
                try await ManualTransport().sample().awaitCancel(timeout: limit)
            },
            Wait(testDescription: "no pause", words: ["a pause", "(ended, cancelled 1 times)"]) {
                let transfer = try ManualTransport().sample()
                transfer.cancel()
                transfer.receive(.end(nil))
                try await transfer.awaitPause(timeout: limit)
            },
            Wait(testDescription: "no end of a pause", words: ["the end of the transfer's pause", "(paused,"]) {
                let transfer = try ManualTransport().sample()
                transfer.pause()
                try await transfer.awaitPause(false, timeout: limit)
            },
            Wait(testDescription: "no request", words: ["a request", "has 0 requests and 0 open connections"]) {
                try await MockServer().awaitRequest(timeout: limit)
            },
            Wait(testDescription: "no connection", words: ["for 1 open connection;", "has 0 requests"]) {
                try await MockServer().awaitConnections(open: 1, timeout: limit)
            },
        ]
    }

    @Test(arguments: Wait.all) func waitTimeoutDescribesWhatHappened(wait: Wait) async throws {
        let start = ContinuousClock.now
        let error = await #expect(throws: (any Error).self) { try await wait.body() }
        let text = try "\(#require(error))"

        #expect(start.duration(to: .now) >= Self.limit)
        #expect(text.hasPrefix("\(#fileID):"), "\(text)")
        #expect(text.contains("waited for 0.05 seconds"), "\(text)")
        for words in wait.words { #expect(text.contains(words), "\(text)") }
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)]) func pastTimeoutFailsImmediately(
        limit: Duration
    ) async {
        await #expect(throws: WaitTimeoutError.self) { try await ManualTransport().awaitTransfer(timeout: limit) }
        await #expect(throws: WaitTimeoutError.self) { try await ManualClock().waitForSleepers(timeout: limit) }
        await #expect(throws: WaitTimeoutError.self) { try await MockServer().awaitRequest(timeout: limit) }
        await #expect(throws: WaitTimeoutError.self) { try await Gate().wait(timeout: limit) }
    }

    @Test func hugeTimeoutDoesNotTrap() async throws {
        let (clock, transport) = (ManualClock(), ManualTransport())
        let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
        let server = try MockServer()
        let gate = Gate()

        try await clock.waitForSleepers(timeout: .seconds(Int64.max))
        clock.advance(by: .seconds(1))
        try await sleeper.value
        async let transfer = transport.awaitTransfer(timeout: .seconds(Int64.max))
        _ = try transport.sample()
        _ = try await transfer
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = try? await gate.wait(timeout: .seconds(Int64.max)) }
            group.addTask { _ = try? await server.awaitRequest(timeout: .seconds(Int64.max)) }
            gate.open()
            group.cancelAll()
        }
    }

    @Test func closedGateTimesOut() async {
        let start = ContinuousClock.now
        let line: UInt = #line + 1
        let error = await #expect(throws: WaitTimeoutError.self) { try await Gate().wait(timeout: Self.limit) }
        #expect(start.duration(to: .now) >= Self.limit)
        #expect(error?.description == "\(#fileID):\(line): waited for 0.05 seconds for a gate; it isn't open")
    }

    @Test func closedGateTimeoutFailsRequest() async {
        let stubber = HTTPStubber()
        let line: UInt = #line + 2
        stubber.stub(.get, "/x") { _ in
            try await Gate().wait(timeout: Self.limit)
            return .noContent
        }

        let error = await #expect(throws: RequestError.self) {
            try await HTTPClient(baseURL: URL(string: "https://a"), transport: stubber).fetch(Get<Void>("x"))
        }

        #expect("\(error.map { "\($0)" } ?? "")".contains("\(#fileID):\(line): waited for 0.05 seconds for a gate"))
    }

    /// XCTest shows the localized description on Apple platforms.
    @Test func localizedDescriptionMatchesDescription() {
        let errors: [any Error] = [
            WaitTimeoutError(limit: .zero, awaited: "a", state: "b", callSite: CallSite(#fileID, #line)),
            UnmetExpectations(complaints: ["a"]), HTTPArchive.Error("a"),
            SystemError("bind", EINVAL),
        ]
        for error in errors { #expect(error.localizedDescription == "\(error)") }
    }

    @Test func closedGateTimeoutInHandlerFailsRequest() async throws {
        let gate = Gate()
        let line: UInt = #line + 2
        let server = try MockServer { _ in
            try gate.wait(timeout: Self.limit)
            return .text("open")
        }

        let error = await #expect(throws: RequestError.self) {
            try await HTTPClient(baseURL: server.url).fetch(Get<String>("x"))
        }

        #expect(error?.response?.status == .internalServerError)
        let text = String(decoding: error?.body ?? Data(), as: UTF8.self)
        #expect(text.contains("\(#fileID):\(line): waited"), "\(text)")
    }
}

extension ManualTransport {
    fileprivate func sample() throws -> ManualTransfer {
        let url = try #require(URL(string: "http://a.example/b"))
        return try #require(send(TransportRequest(HTTPRequest(url)), receive: { _ in }) as? ManualTransfer)
    }
}

@Suite(.bounded) struct WaitLimitRaceTests {
    @Test func timeoutRacesAwaitedEvent() async throws {
        var random = Fuzz()
        for _ in 0..<Scale.races {
            let (transport, clock) = (ManualTransport(), ManualClock())
            let limit = Duration.microseconds(.random(in: 0...100, using: &random))
            async let transfer = try? transport.awaitTransfer(timeout: limit)
            async let sleepers: Void? = try? clock.waitForSleepers(timeout: limit)
            let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
            let sent = try transport.sample()
            let (found, hasSlept) = await (transfer, sleepers != nil)
            #expect(found == nil || found === sent, "seed \(Fuzz.seed)")
            #expect(!hasSlept || clock.sleeperCount == 1, "seed \(Fuzz.seed)")
            sleeper.cancel()
        }
    }
}
