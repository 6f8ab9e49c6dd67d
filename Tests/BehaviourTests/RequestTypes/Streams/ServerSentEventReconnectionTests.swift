// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// When and after what delay an event stream reconnects, and when it ends (WHATWG HTML, 9.2.3).
@Suite(.bounded) struct ServerSentEventReconnectionTests {
    /// The outcome of a stream, as a user sees it.
    private struct Outcome {
        var events: [String] = []
        var error: RequestError?
        var requests: [ReceivedRequest] = []

        var lastEventIDs: [String?] { requests.map { $0.headers[.lastEventID] } }
    }

    private static let policy = ServerSentEvent.Reconnection(backoff: .exponential().jitter(.none))

    /// A stream that the server ends.
    private static func stream(_ text: String = "") -> StubResponse {
        .chunked([Data(text.utf8)], headers: [.contentType: "text/event-stream; charset=utf-8"])
    }

    /// Reads a stream to its end, while a clock passes the given waits and no others; zero is none.
    ///
    /// The given responses are those to the first requests; after them, the server has nothing more to say. Each event
    /// opens a gate.
    private func read(
        _ responses: [StubResponse] = [],
        lastEventID: String? = nil,
        policy: ServerSentEvent.Reconnection = policy,
        waits: [Duration] = [],
        gates: [Gate] = []
    ) async throws -> Outcome {
        let (clock, count) = (ManualClock(), Locked(0))
        let transport = InMemoryTransport { _ in
            let index = count.withLock { count in
                count += 1
                return count - 1
            }
            return responses.indices.contains(index) ? responses[index] : .status(.noContent)
        }
        let client = HTTPClient(transport: transport) {
            $0.clock = clock
            $0.retry = .default
        }
        let request = HTTPRequest(url: URL(string: "https://example.com/events")!)
        let reader = Task {
            var outcome = Outcome()
            do throws(any Error) {
                for try await event in client.serverSentEvents(request, lastEventID: lastEventID, reconnection: policy)
                {
                    outcome.events.append(event.data)
                    gates.dropFirst(outcome.events.count - 1).first?.open()
                }
            } catch {
                outcome.error = error as? RequestError
            }
            outcome.requests = transport.requests
            return outcome
        }
        defer { reader.cancel() }
        for wait in waits where wait > .zero {
            try await clock.waitForSleepers()
            clock.advance(by: wait - .nanoseconds(1))
            #expect(clock.sleeperCount == 1)
            clock.advance(by: .nanoseconds(1))
        }
        // An additional wait fails the test.
        let watcher = Task { if (try? await clock.waitForSleepers()) != nil { reader.cancel() } }
        defer { watcher.cancel() }
        return await reader.value
    }

    @Test func reconnectsWithLastEventID() async throws {
        let outcome = try await read([Self.stream("id: 7\nretry: 100\ndata: a\n\n")], waits: [.milliseconds(100)])

        #expect(outcome.events == ["a"] && outcome.error == nil && outcome.lastEventIDs == [nil, "7"])
    }

    /// Without the back-off, the client would reconnect forever, as fast as the server responds.
    @Test func reconnectionBacksOffIfStreamsEndImmediately() async throws {
        let outcome = try await read(
            [Self.stream("retry: 0\n\n"), Self.stream(), Self.stream(), Self.stream("data: a\n\n"), Self.stream()],
            waits: [.zero, .seconds(0.5), .seconds(1), .zero, .seconds(0.5)]
        )

        #expect(outcome.error == nil && outcome.requests.count == 6)
    }

    @Test func requestHasEventStreamHeaders() async throws {
        let sent = try #require(try await read(lastEventID: "€").requests.first).headers

        #expect(sent[.accept] == "text/event-stream" && sent[.cacheControl] == "no-cache" && sent[.lastEventID] == "€")
    }

    /// If the client dropped the caller's identifier, the server would start over, and events would arrive twice.
    @Test(arguments: ["a\u{1}b", "a\u{7F}", String(repeating: "a", count: 1 << 16 + 1)])
    func unsendableEventIDDoesNotEndRunningStream(_ id: String) async throws {
        let first = try await read(lastEventID: id)
        let later = try await read(
            [Self.stream("id: \(id)\ndata: a\n\n"), Self.stream("id: 7\ndata: b\n\nid: \(id)\ndata: c\n\n")],
            waits: [.seconds(3), .seconds(3)]
        )

        #expect(first.error?.code == .invalidRequest && first.requests.isEmpty)
        #expect(later.error == nil && later.events == ["a", "b", "c"] && later.lastEventIDs == [nil, nil, "7"])
    }

    @Test(arguments: ["", "a", String(repeating: "a", count: 1 << 16)])
    func sendableLastEventIDIsAccepted(_ id: String) async throws {
        let outcome = try await read(lastEventID: id)

        #expect(outcome.error == nil && outcome.lastEventIDs == [id.isEmpty ? nil : id])
    }

    @Test func consecutiveFailuresBackOffUpToLimit() async throws {
        var policy = Self.policy
        (policy.limit, policy.maximumWait) = (6, .seconds(10))

        let outcome = try await read(
            Array(repeating: .failure(RequestError(.cannotConnect, phase: .sending)), count: 7),
            policy: policy,
            waits: [.seconds(3), .seconds(3), .seconds(3), .seconds(3), .seconds(4), .seconds(8)]
        )

        #expect(outcome.error?.code == .cannotConnect && outcome.requests.count == 7)
    }

    @Test func reconnectionDelayIsCapped() async throws {
        var policy = Self.policy
        (policy.limit, policy.maximumWait) = (8, .seconds(10))

        let outcome = try await read(
            Array(repeating: .failure(RequestError(.cannotConnect, phase: .sending)), count: 8),
            policy: policy,
            waits: [3, 3, 3, 3, 4, 8, 10, 10].map { .seconds($0) }
        )

        #expect(outcome.error == nil && outcome.requests.count == 9)
    }

    @Test func successfulConnectionResetsFailureCount() async throws {
        var policy = Self.policy
        policy.limit = 1

        // Each connection breaks when its event has been read.
        let gates = (0..<3).map { _ in Gate() }

        let outcome = try await read(
            gates.map { Self.stream("data: a\n\n:").held(by: $0, after: 9).reset(after: 9) },
            policy: policy,
            waits: Array(repeating: .seconds(3), count: 3),
            gates: gates
        )

        #expect(outcome.error == nil && outcome.requests.count == 4 && outcome.events == ["a", "a", "a"])
    }

    /// The effect of a response: the stream is read, ends, fails, or reconnects later.
    enum Meaning: Hashable, Sendable {
        case events
        case end
        case error(RequestError.Code)
        case later
    }

    @Test(
        arguments: [
            (200, "text/event-stream", .events), (200, "Text/Event-Stream;charset=\"utf-8\"", .events),
            (200, "text/plain", .error(.unacceptableContentType)), (200, nil, .error(.unacceptableContentType)),
            (200, "text/event-stream-of-another-kind", .error(.unacceptableContentType)),
            (201, "text/event-stream", .events), (203, "text/event-stream", .events), (204, nil, .end),
            (205, nil, .error(.unacceptableContentType)), (206, "text/event-stream", .error(.unacceptableStatus)),
            (301, nil, .error(.unacceptableStatus)), (401, nil, .error(.unacceptableStatus)),
            (404, nil, .error(.unacceptableStatus)), (501, nil, .error(.unacceptableStatus)),
            (408, nil, .later), (429, nil, .later), (500, nil, .later), (502, nil, .later), (503, nil, .later),
            (504, nil, .later),
        ] as [(HTTPStatus, String?, Meaning)]
    )
    func responseDeterminesReconnection(status: HTTPStatus, type: String?, meaning: Meaning) async throws {
        var response = StubResponse.status(status, body: status == .noContent ? Data() : Data("data: a\n\n".utf8))
        response.headers[.contentType] = type
        let goesOn = meaning == .events || meaning == .later

        let outcome = try await read([response], waits: goesOn ? [.seconds(3)] : [])

        #expect(outcome.events == (meaning == .events ? ["a"] : []) && outcome.requests.count == (goesOn ? 2 : 1))
        #expect(outcome.error.map { .error($0.code) } == (meaning == .end || goesOn ? nil : meaning))
    }

    @Test(arguments: [("20", 20), ("1", 3), ("9999999", 60)])
    func retryAfterIsAppliedWithinBounds(value: String, wait: Int) async throws {
        let busy = StubResponse.status(.serviceUnavailable, headers: [.retryAfter: value])

        let outcome = try await read([busy], waits: [.seconds(wait)])

        #expect(outcome.error == nil && outcome.requests.count == 2)
    }

    @Test(arguments: [
        RequestError.Code.cancelled, .untrusted, .invalidRequest, .authenticationFailed, .headTooLarge,
        .nestingLimitReached,
    ])
    func permanentErrorEndsTheStream(_ code: RequestError.Code) async throws {
        let outcome = try await read([.failure(RequestError(code, phase: .sending))])

        #expect(outcome.error?.code == code && outcome.requests.count == 1)
    }
}
