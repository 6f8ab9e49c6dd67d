// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsOutbox
import RequestsTestSupport
import RequestsTesting
import Testing

/// The states of entries, and what an application can do with them.
@Suite(.bounded) struct OutboxEntryTests {
    private static func name(of event: Outbox.Event) -> String {
        switch event {
        case .added: "added"
        case .sending: "sending"
        case .failed(_, let error): "failed \(error.response?.status.code ?? 0)"
        case .parked(let entry, _): "\(entry.state)"
        case .retried: "retried"
        case .sent(_, let head): "sent \(head.status.code)"
        case .removed: "removed"
        case .accountChanged(let account): "account \(account ?? "none")"
        case .folderLost: "folder lost"
        }
    }

    /// A request that can't be decoded if `isUnreadable` is set, and can't be encoded otherwise.
    struct Fussy: RequestSpec, Codable {
        var isUnreadable = false

        init(isUnreadable: Bool) { self.isUnreadable = isUnreadable }

        init(from decoder: any Decoder) throws {
            isUnreadable = try decoder.container(keyedBy: Key.self).decode(Bool.self, forKey: .isUnreadable)
            if isUnreadable { throw SampleError() }
        }

        func encode(to encoder: any Encoder) throws {
            guard isUnreadable else { throw SampleError() }
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(isUnreadable, forKey: .isUnreadable)
        }

        enum Key: CodingKey { case isUnreadable }
        var request: Post<Void> { Post("fussy") }
    }

    @Test(arguments: [
        (400, Outbox.Decision.park), (403, .park), (404, .park), (409, .park), (422, .park), (499, .park),
        (401, .retry),
        (407, .retry), (408, .retry), (421, .retry), (425, .retry), (429, .retry), (500, .retry), (503, .retry),
        (304, .retry),
    ])
    func statusDeterminesDecision(status: Int, decision: Outbox.Decision) {
        let head = HTTPResponseHead(status: HTTPStatus(status))
        let error = RequestError(.unacceptableStatus, phase: .validating, response: head)
        #expect(Outbox.Decision(about: error) == decision)
    }

    @Test(arguments: [400, 403, 409, 423, 429, 503]) func statusWithRetryAfterIsRetried(status: Int) {
        let head = HTTPResponseHead(status: HTTPStatus(status), headers: [.retryAfter: "1"])
        let error = RequestError(.unacceptableStatus, phase: .validating, response: head)
        #expect(Outbox.Decision(about: error) == .retry)
    }

    @Test(arguments: [
        (RequestError.Code.rejected, 200, Outbox.Decision.park), (.unacceptableContentType, 201, .park),
        (.unacceptableStatus, 202, .park), (.rejected, 422, .park), (.rejected, 503, .retry), (.rejected, 401, .retry),
        (.unacceptableContentType, 502, .retry),
    ])
    func validatorRejectionDeterminesDecision(code: RequestError.Code, status: Int, decision: Outbox.Decision) {
        let error = RequestError(code, phase: .validating, response: HTTPResponseHead(status: HTTPStatus(status)))
        #expect(Outbox.Decision(about: error) == decision)
    }

    /// Over `http`, a captive portal responds in place of the server, or redirects to its login page.
    @Test(arguments: [
        (RequestError.Code.unacceptableContentType, "http://api.example.com", "text/html", Outbox.Decision.retry),
        (.decoding, "http://api.example.com", "text/html; charset=utf-8", .retry),
        (.unacceptableContentType, "https://api.example.com", "text/html", .park),
        (.decoding, "https://api.example.com", "text/html", .park),
        (.unacceptableContentType, "http://api.example.com", "application/json", .park),
        (.rejected, "http://api.example.com", "text/html", .park),
    ])
    func captivePortalPageOverHTTPIsRetried(
        code: RequestError.Code,
        url: String,
        type: String,
        decision: Outbox.Decision
    ) {
        let request = HTTPRequest(url: URL(string: url)!)
        let response = HTTPResponseHead(status: .ok, headers: [.contentType: type])
        let redirected = RequestError(
            code,
            phase: .validating,
            request: HTTPRequest(url: URL(string: "https://login.example.com")!),
            response: response,
            transfers: [TransferRecord(cause: .initial, request: request)]
        )
        #expect(Outbox.Decision(about: redirected) == decision)
        #expect(
            Outbox.Decision(about: RequestError(code, phase: .validating, request: request, response: response))
                == decision
        )
    }

    @Test func rejectedResponseIsNotRequestedAgain() async throws {
        let trial = OutboxTrial { .text($0.text == "bad" ? "no" : "saved") }
        trial.client.environment.validators = [
            .closure { response, _ in response.body == Data("no".utf8) ? .fail(SampleError()) : .accept }
        ]
        let outbox = try trial.open()
        try await outbox.add(SaveNote(note: 1, text: "bad"), in: "a")
        try await outbox.add(SaveNote(note: 2, text: "good"), in: "b")

        #expect(await !outbox.waitUntilDrained())

        #expect(outbox.states == [.parked(.refused)])
        #expect(Set(trial.arrivals.elements.map(\.text)) == ["bad", "good"] && trial.arrivals.count == 2)
    }

    @Test func conflictWithRetryAfterIsRetriedWithSameKey() async throws {
        let answers = Locked([StubResponse.status(.conflict, headers: [.retryAfter: "2"]), .text("saved")])
        let trial = OutboxTrial { _ in answers.withLock { $0.removeFirst() } }
        let outbox = try trial.open()
        let id = try await outbox.add(SaveNote(note: 1), in: "a")

        try await trial.pass(.seconds(2))

        #expect(await outbox.waitUntilDrained())
        #expect(trial.arrivals.elements.map(\.key) == [id.uuidString, id.uuidString])
    }

    @Test(arguments: [
        (RequestError.Code.invalidRequest, Outbox.Decision.park), (.encoding, .park), (.unsupported, .park),
        (.bodyNotReplayable, .park), (.decoding, .park), (.emptyResponse, .park), (.unexpectedBody, .park),
        (.bodyTooLarge, .park), (.headTooLarge, .park), (.other, .retry), (.tooManyRedirects, .retry),
        (.cancelled, .retry), (.offline, .retry), (.cannotConnect, .retry), (.timedOut, .retry), (.untrusted, .retry),
        (.deadlineExceeded, .retry), (.authenticationFailed, .retry),
    ])
    func errorCodeDeterminesDecision(code: RequestError.Code, decision: Outbox.Decision) {
        #expect(Outbox.Decision(about: RequestError(code, phase: .sending)) == decision)
    }

    @Test(arguments: [false, true])
    func entryWithUnusableResponseIsSentOnce(hasOwnErrorType: Bool) async throws {
        let trial = OutboxTrial()
        let outbox = try trial.open {
            $0.register(SaveWithReceipt.self, as: "receipt")
            $0.register(SaveWithOwnError.self, as: "own-error")
        }
        if hasOwnErrorType {
            try await outbox.add(SaveWithOwnError(), in: "a")
        } else {
            try await outbox.add(SaveWithReceipt(), in: "a")
        }

        #expect(await !outbox.waitUntilDrained())

        #expect(outbox.states == [.parked(.refused)] && trial.arrivals.count == 1)
    }

    /// An error whose `errorCode` calls code of the application.
    private struct AskingError: CustomNSError {
        let ask: @Sendable () -> Void

        var errorCode: Int {
            ask()
            return 7
        }
    }

    @Test func reportedErrorCanAccessOutbox() async throws {
        let (trial, present) = (OutboxTrial(), Locked<Outbox?>(nil))
        let outbox = try trial.open(handling: { _ in throw AskingError { _ = present.withLock { $0 }?.entries } })
        present.withLock { $0 = outbox }
        try await outbox.add(SaveNote(note: 1), in: "a")

        #expect(await !outbox.waitUntilDrained())

        #expect(outbox.states == [.parked(.unhandled)])
        present.withLock { $0 = nil }
    }

    @Test func rejectedEntryIsParkedAndBlocksCategory() async throws {
        let trial = OutboxTrial { $0.text == "bad" ? .status(.unprocessableContent) : .text("saved") }
        let outbox = try trial.open()
        try await outbox.add(SaveNote(note: 1, text: "bad"), in: "notes/1")
        try await outbox.add(SaveNote(note: 1, text: "later"), in: "notes/1")
        try await outbox.add(SaveNote(note: 2, text: "other"), in: "notes/2")

        #expect(await !outbox.waitUntilDrained())

        #expect(outbox.states == [.parked(.refused), .pending])
        #expect(trial.arrivals.elements.map(\.text).sorted() == ["bad", "other"])
        await outbox.close()
        let second = try trial.open()
        #expect(await !second.waitUntilDrained())
        #expect(second.states == [.parked(.refused), .pending] && trial.arrivals.count == 2)
        #expect(second.entries[0].failure?.contains("422") == true && second.entries[0].attempts == 1)
    }

    @Test func skipDecisionContinuesCategory() async throws {
        let trial = OutboxTrial { $0.text == "bad" ? .status(.notFound) : .text("saved") }
        let configure: @Sendable (inout Outbox.Settings) -> Void = {
            $0.decide = { error, entry in error.response?.status == .notFound && entry.category == "a" ? .skip : .retry
            }
        }
        let outbox = try trial.open(configure)
        try await outbox.add(SaveNote(note: 1, text: "bad"), in: "a")
        try await outbox.add(SaveNote(note: 1, text: "later"), in: "a")

        #expect(await !outbox.waitUntilDrained())

        #expect(outbox.states == [.parked(.refused)] && trial.arrivals.elements.map(\.text) == ["bad", "later"])
        await outbox.close()
        let second = try trial.open(configure)
        try await second.add(SaveNote(note: 1, text: "last"), in: "a")
        #expect(await !second.waitUntilDrained())
        #expect(trial.arrivals.elements.map(\.text) == ["bad", "later", "last"])
    }

    @Test func retriedEntriesKeepTheirOrder() async throws {
        let isWell = Locked(false)
        let trial = OutboxTrial { _ in isWell.withLock { $0 } ? .text("saved") : .status(.gone) }
        let outbox = try trial.open { $0.decide = { _, _ in .skip } }
        let ids = [
            try await outbox.add(SaveNote(note: 1, text: "1"), in: "a"),
            try await outbox.add(SaveNote(note: 1, text: "2"), in: "a"),
        ]
        #expect(await !outbox.waitUntilDrained())
        isWell.withLock { $0 = true }
        outbox.pause()

        try await outbox.add(SaveNote(note: 1, text: "3"), in: "a")
        try await outbox.retry(ids[1])
        try await outbox.retry(ids[0])
        #expect(outbox.entries.map(\.attempts) == [0, 0, 0] && outbox.states == [.pending, .pending, .pending])
        outbox.resume()

        #expect(await outbox.waitUntilDrained())
        #expect(trial.arrivals.elements.map(\.text) == ["1", "2", "1", "2", "3"])
        #expect(trial.arrivals.elements.prefix(4).map(\.key) == (ids + ids).map(\.uuidString))
    }

    @Test func retriedEntryWaitsForInFlightEntry() async throws {
        let (gate, isWell) = (Gate(), Locked(false))
        let trial = OutboxTrial { arrival in
            if arrival.text == "2" { return .text("saved").held(by: gate) }
            return isWell.withLock { $0 } ? .text("saved") : .status(.gone)
        }
        let outbox = try trial.open { $0.decide = { _, _ in .skip } }
        let id = try await outbox.add(SaveNote(note: 1, text: "1"), in: "a")
        try await outbox.add(SaveNote(note: 1, text: "2"), in: "a")
        await trial.arrivals.first(2)
        isWell.withLock { $0 = true }

        try await outbox.retry(id)
        #expect(outbox.states == [.pending, .sending])
        gate.open()

        #expect(await outbox.waitUntilDrained())
        #expect(trial.arrivals.elements.map(\.text) == ["1", "2", "1"])
    }

    @Test func retryEndsBackoff() async throws {
        let isWell = Locked(false)
        let trial = OutboxTrial { _ in isWell.withLock { $0 } ? .text("saved") : .status(.serviceUnavailable) }
        let outbox = try trial.open()
        let id = try await outbox.add(SaveNote(note: 1), in: "a")
        try await trial.clock.waitForSleepers()
        isWell.withLock { $0 = true }

        try await outbox.retry(id)

        #expect(await outbox.waitUntilDrained())
    }

    @Test func retryingInFlightEntryHasNoEffect() async throws {
        let trial = OutboxTrial { _ in .never }
        let first = try trial.open()
        let late = trial.date.now + 60
        let id = try await first.add(SaveNote(note: 1), in: "a", expires: late)
        await trial.arrivals.first(1)

        try await first.retry(id)
        #expect(first.states == [.sending] && first.entries.first?.expires == late)
        await first.close()

        let second = try trial.open { $0.isPaused = true }
        #expect(second.states == [.pending] && second.entries.first?.expires == late)
    }

    @Test(arguments: [200, 422, 503]) func removedEntryCompletesBeforeNextIsSent(status: Int) async throws {
        let (gate, handled) = (Gate(), Recorder<String>())
        let trial = OutboxTrial { arrival in
            arrival.text == "1" ? .text("saved", status: HTTPStatus(status)).held(by: gate) : .text("saved")
        }
        let outbox = try trial.open(handling: { handled.record($0.request.text) })
        let id = try await outbox.add(SaveNote(note: 1, text: "1"), in: "a")
        await trial.arrivals.first(1)
        let operation = try #require(trial.client.requestOperations.first)
        try await outbox.add(SaveNote(note: 1, text: "2"), in: "a")

        try await outbox.remove(id)
        try await outbox.add(SaveNote(note: 2, text: "other"), in: "b")
        await trial.arrivals.first(2)
        #expect(trial.arrivals.elements.map(\.text) == ["1", "other"] && !operation.isCancelled)
        gate.open()

        #expect(await outbox.waitUntilDrained())
        #expect(trial.arrivals.elements.map(\.text) == ["1", "other", "2"])
        #expect(Set(handled.elements) == ["2", "other"])
        await outbox.close()
        let second = try trial.open()
        #expect(second.entries == [])
    }

    /// No other event could end the wait.
    @Test func outboxDrainsAfterRemovedEntryCompletes() async throws {
        let gate = Gate()
        let trial = OutboxTrial { _ in .text("saved").held(by: gate) }
        let outbox = try trial.open()
        let id = try await outbox.add(SaveNote(note: 1, text: "1"), in: "a")
        await trial.arrivals.first(1)

        try await outbox.remove(id)
        async let isEmpty = outbox.waitUntilDrained()
        gate.open()

        #expect(await isEmpty)
        await outbox.close()
    }

    /// The removal writes one record, and doesn't search for each entry.
    @Test(.tags(.alone)) func bulkRemovalIsFast() async throws {
        let trial = OutboxTrial()
        let outbox = try trial.open { $0.isPaused = true }
        let count = Scale.pick(2_000, whole: 20_000)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for note in 0..<count {
                group.addTask { _ = try await outbox.add(SaveNote(note: note, text: "soup"), in: "\(note % 7)") }
            }
            try await group.waitForAll()
        }

        let start = ProcessorTime.ofProcess
        try await outbox.removeAll { _ in true }
        let time = ProcessorTime.ofProcess - start

        #expect(outbox.isEmpty && time < .seconds(2))
        await outbox.close()
        #expect(try trial.open().entries.isEmpty)
    }

    @Test func removedEntryIsNotRetriedByClient() async throws {
        let gate = Gate()
        let trial = OutboxTrial { arrival in
            arrival.text == "1" ? .status(.serviceUnavailable).held(by: gate) : .text("saved")
        }
        trial.client.environment.retry = RetryPolicy(limit: 2, backoff: .none)
        let outbox = try trial.open()
        let id = try await outbox.add(SaveNote(note: 1, text: "1"), in: "a")
        await trial.arrivals.first(1)
        try await outbox.add(SaveNote(note: 1, text: "2"), in: "a")

        try await outbox.remove(id)
        gate.open()

        #expect(await outbox.waitUntilDrained())
        #expect(trial.arrivals.elements.map(\.text) == ["1", "2"])
    }

    @Test func removalEndsPendingRetry() async throws {
        let trial = OutboxTrial { $0.text == "1" ? .status(.serviceUnavailable) : .text("saved") }
        trial.client.environment.retry = RetryPolicy(limit: 2, backoff: .constant(.seconds(60)).jitter(.none))
        let outbox = try trial.open()
        let id = try await outbox.add(SaveNote(note: 1, text: "1"), in: "a")
        try await trial.clock.waitForSleepers()
        try await outbox.add(SaveNote(note: 1, text: "2"), in: "a")

        try await outbox.remove(id)

        // The clock doesn't advance.
        #expect(await outbox.waitUntilDrained())
        #expect(trial.arrivals.elements.map(\.text) == ["1", "2"])
    }

    /// The entry waits for a rate limit or for another request to its host, so no server has received it.
    @Test(arguments: [false, true]) func removedEntryWaitingForLimitIsNotSent(isLimitOfHost: Bool) async throws {
        let gate = Gate()
        let trial = OutboxTrial { $0.text == "1" ? .text("saved").held(by: gate) : .text("saved") }
        if isLimitOfHost {
            trial.client.environment.hostLimiter = HostLimiter(limit: 1)
        } else {
            trial.client.environment.rateLimiter = RateLimiter(1, per: .seconds(60))
        }
        let outbox = try trial.open()
        try await outbox.add(SaveNote(note: 1, text: "1"), in: "a")
        await trial.arrivals.first(1)
        let id = try await outbox.add(SaveNote(note: 2, text: "2"), in: "b")
        try await eventually { outbox.states == [.sending, .sending] }
        if !isLimitOfHost { try await trial.clock.waitForSleepers() }

        try await outbox.remove(id)

        // Time doesn't advance, and the other request doesn't end.
        try await eventually { trial.client.operations.count == 1 }
        gate.open()
        #expect(await outbox.waitUntilDrained())
        #expect(trial.arrivals.elements.map(\.text) == ["1"])
    }

    @Test func accountChangeCancelsRemovedEntry() async throws {
        let trial = OutboxTrial { $0.text == "1" ? .never : .text("saved") }
        let outbox = try trial.open { $0.account = "ada" }
        let id = try await outbox.add(SaveNote(note: 1, text: "1"), in: "a")
        await trial.arrivals.first(1)
        try await outbox.remove(id)

        outbox.account = "bob"

        #expect(await outbox.waitUntilDrained())
        try await eventually { trial.client.operations.isEmpty }
    }

    @Test func removeAllInCategoryKeepsOtherAccounts() async throws {
        let trial = OutboxTrial()
        let outbox = try trial.open { ($0.isPaused, $0.account) = (true, "ada") }
        for category in ["a", "b", "a"] { try await outbox.add(SaveNote(note: 1), in: category) }
        outbox.account = "bob"
        try await outbox.add(SaveNote(note: 1), in: "a")

        try await outbox.removeAll(in: "a")
        #expect(outbox.entries.map(\.category) == ["a", "b", "a"])
        try await outbox.removeAll { $0.account == "ada" }

        #expect(outbox.isEmpty)
        await outbox.close()
        let second = try trial.open()
        #expect(second.entries == [])
    }

    @Test func expiredEntryIsParkedAndCategoryContinues() async throws {
        let trial = OutboxTrial()
        let outbox = try trial.open { $0.isPaused = true }
        let late = trial.date.now + 60
        let id = try await outbox.add(SaveNote(note: 1, text: "late"), in: "a", expires: late)
        try await outbox.add(SaveNote(note: 1, text: "in time"), in: "a", expires: late + 1)
        trial.date.advance(by: 60)

        outbox.resume()
        #expect(await !outbox.waitUntilDrained())
        #expect(outbox.states == [.parked(.expired)] && outbox.entries.first?.expires == late)
        #expect(trial.arrivals.elements.map(\.text) == ["in time"])
        try await outbox.retry(id)

        #expect(await outbox.waitUntilDrained())
        #expect(trial.arrivals.elements.map(\.text) == ["in time", "late"])
    }

    @Test func throwingHandlerParksEntry() async throws {
        let trial = OutboxTrial()
        let outbox = try trial.open(handling: { _ in throw SampleError() })
        try await outbox.add(SaveNote(note: 1))

        #expect(await !outbox.waitUntilDrained())

        #expect(outbox.states == [.parked(.unhandled)] && trial.arrivals.count == 1)
        let failure = try #require(outbox.entries.first?.failure)
        #expect(failure.contains("SampleError") && failure.contains("handler") && !failure.contains("building"))
    }

    @Test func eventsReportEntryLifecycle() async throws {
        let answers = Locked([StubResponse.status(.badRequest), .status(.serviceUnavailable), .status(.created)])
        let trial = OutboxTrial { _ in answers.withLock { $0.removeFirst() } }
        let outbox = try trial.open()
        let events = outbox.events
        let id = try await outbox.add(SaveNote(note: 1), in: "a")
        #expect(await !outbox.waitUntilDrained())
        try await outbox.retry(id)
        await trial.arrivals.first(2)
        try await trial.pass(.seconds(1))
        #expect(await outbox.waitUntilDrained())
        outbox.account = "ada"
        outbox.pause()
        try await outbox.remove(outbox.add(SaveNote(note: 2)))
        await outbox.close()

        var names: [String] = []
        for await event in events { names.append(Self.name(of: event)) }

        let first = ["added", "sending", "parked(RequestsOutbox.Outbox.Entry.Reason.refused)", "retried"]
        let second = ["sending", "failed 503", "sending", "sent 201", "account ada", "added", "removed"]
        #expect(names == first + second)
        for await _ in outbox.events { Issue.record("a closed outbox has an event") }
    }

    @Test func addThrowsForUnencodableRequest() async throws {
        let trial = OutboxTrial()
        let outbox = try trial.open { $0.register(Fussy.self, as: "Fussy") }

        await #expect(throws: SampleError.self) { try await outbox.add(Fussy(isUnreadable: false)) }
        await #expect(throws: EncodingError.self) {
            try await outbox.add(SaveNote(note: 1), expires: Date(timeIntervalSinceReferenceDate: .nan))
        }

        #expect(outbox.isEmpty)
    }

    @Test func unreadableEntryIsKept() async throws {
        let trial = OutboxTrial()
        let first = try trial.open { $0.register(Fussy.self, as: "Fussy") }
        try await first.add(Fussy(isUnreadable: true), in: "a")
        try await first.add(SaveNote(note: 1), in: "a")
        try await first.add(SaveNote(note: 2), in: "b")

        #expect(await !first.waitUntilDrained())
        #expect(first.states == [.parked(.unreadable), .pending] && trial.arrivals.count == 1)
        await first.close()
        let second = try trial.open { settings in
            settings.register(Fussy.self, as: "Other")
            settings.register(SaveNote.self, from: "Fussy") { _ in ["note": 3, "text": "mended"] }
        }

        #expect(await second.waitUntilDrained())
        #expect(trial.arrivals.elements.map(\.path) == ["/notes/2", "/notes/3", "/notes/1"])
    }

    @Test func addThrowsForUnregisteredType() async throws {
        let outbox = try OutboxTrial().open()

        await #expect(throws: Outbox.Error.unregistered("UploadPhoto")) { try await outbox.add(UploadPhoto(name: "a")) }
    }

    @Test func entryWithUnregisteredTypeIsKept() async throws {
        let trial = OutboxTrial()
        let first = try trial.open {
            $0.register(UploadPhoto.self, as: "UploadPhoto")
            $0.isPaused = true
        }
        try await first.add(UploadPhoto(name: "a"), in: "a")
        try await first.add(SaveNote(note: 1), in: "a")
        await first.close()

        let second = try trial.open()
        #expect(await !second.waitUntilDrained())
        #expect(second.states == [.parked(.unregistered), .pending])
        #expect(second.entries.first?.type == "UploadPhoto")
        await second.close()
        let third = try trial.open { $0.register(UploadPhoto.self, as: "UploadPhoto") }

        #expect(await third.waitUntilDrained())
        #expect(trial.arrivals.elements.map(\.path) == ["/photos/a", "/notes/1"])
    }

    @Test func contentIsMigrated() async throws {
        let trial = OutboxTrial()
        let first = try trial.open {
            $0.register(UploadPhoto.self, as: "photo")
            $0.isPaused = true
        }
        try await first.add(UploadPhoto(name: "a"), in: "a")
        await first.close()

        let second = try trial.open { settings in
            settings.register(SaveNote.self, as: "note")
            settings.register(SaveNote.self, from: "photo") { old in ["note": 5, "text": old["name"] ?? "?"] }
        }
        try await second.add(SaveNote(note: 6, text: "new"), in: "a")

        #expect(await second.waitUntilDrained())
        #expect(trial.arrivals.elements.map { "\($0.path) \($0.text)" } == ["/notes/5 a", "/notes/6 new"])
    }
}
