// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct EventStreamReconnectionTests {
    private static let accepted = HTTPResponseHead(
        status: .ok,
        headers: [HTTPField(.contentType, "text/event-stream; charset=utf-8")]
    )

    private static let policy = ReconnectionPolicy(backoff: .exponential().jitter(.none))

    private func head(_ status: HTTPStatus, _ fields: HTTPField...) -> HTTPResponseHead {
        HTTPResponseHead(status: status, headers: HTTPHeaders(fields))
    }

    /// The name of an action.
    private func name(_ action: EventStreamReconnection.Action) -> String {
        switch action {
        case .connect(let fields): "connect" + (fields.first { $0.name == .lastEventID }.map { " \($0.value)" } ?? "")
        case .read: "read"
        case .wait(let time): "wait \(time)"
        case .finish: "finish"
        case .fail(let error): "fail \(error.code)"
        case .none: "none"
        }
    }

    @Test func aStreamConnectsAgainWhereItsConnectionEnds() {
        var machine = EventStreamReconnection(policy: Self.policy)

        #expect(name(machine.handle(.started)) == "connect")
        #expect(name(machine.handle(.responded(Self.accepted))) == "read")
        machine.lastEventID = "7"
        machine.retry = .milliseconds(100)
        #expect(name(machine.handle(.ended)) == "wait 0.1 seconds")
        #expect(name(machine.handle(.ended)) == "none")
        #expect(name(machine.handle(.waited)) == "connect 7")
        #expect(name(machine.handle(.responded(head(.noContent)))) == "finish")
        #expect(name(machine.handle(.waited)) == "none")
    }

    /// Otherwise the client would reconnect as fast as the server responds, for ever.
    @Test func reconnectionBacksOffIfStreamsEndAtOnce() {
        var machine = EventStreamReconnection(policy: Self.policy)
        machine.retry = .zero
        _ = machine.handle(.started)

        var waits: [String] = []
        for connection in 1...5 {
            _ = machine.handle(.responded(Self.accepted))
            if connection == 4 { #expect(name(machine.handle(.received)) == "none") }
            waits.append(name(machine.handle(.ended)))
            _ = machine.handle(.waited)
        }

        #expect(
            waits == [
                "wait 0.0 seconds", "wait 0.5 seconds", "wait 1.0 seconds", "wait 0.0 seconds", "wait 0.5 seconds",
            ]
        )
    }

    @Test func theRequestSaysWhatItWants() {
        var machine = EventStreamReconnection(lastEventID: "€")

        guard case .connect(let fields) = machine.handle(.started) else {
            Issue.record("it doesn't connect")
            return
        }

        #expect(
            fields.map(\.description) == [
                "Accept: text/event-stream", "Cache-Control: no-cache", "Last-Event-ID: €",
            ]
        )
    }

    /// Without it, the server would start from the beginning, and events would come twice.
    @Test(arguments: ["a\u{1}b", "a\u{7F}", String(repeating: "a", count: 1 << 16 + 1)])
    func anIdentifierThatCannotBeSentEndsTheStream(_ id: String) {
        var machine = EventStreamReconnection(lastEventID: id)
        var later = EventStreamReconnection(policy: Self.policy)
        for input in [.started, .responded(Self.accepted), .received] as [EventStreamReconnection.Input] {
            _ = later.handle(input)
        }
        later.lastEventID = id
        _ = later.handle(.ended)

        #expect(name(machine.handle(.started)) == "fail invalidRequest")
        #expect(name(machine.handle(.waited)) == "none")
        #expect(name(later.handle(.waited)) == "fail invalidRequest")
    }

    @Test(arguments: ["", "a", String(repeating: "a", count: 1 << 16)])
    func anIdentifierThatCanBeSentIsNoError(_ id: String) {
        var machine = EventStreamReconnection(lastEventID: id)

        #expect(name(machine.handle(.started)) == (id.isEmpty ? "connect" : "connect \(id)"))
    }

    @Test func failuresInARowWaitLongerAndEndAtTheLimit() {
        var policy = Self.policy
        policy.limit = 6
        policy.maximumWait = .seconds(10)
        var machine = EventStreamReconnection(policy: policy)
        _ = machine.handle(.started)

        var actions: [String] = []
        for _ in 0..<7 {
            actions.append(name(machine.handle(.failed(RequestError(.cannotConnect, phase: .sending)))))
            _ = machine.handle(.waited)
        }

        #expect(
            actions == [
                "wait 3.0 seconds", "wait 3.0 seconds", "wait 3.0 seconds", "wait 3.0 seconds", "wait 4.0 seconds",
                "wait 8.0 seconds", "fail cannotConnect",
            ]
        )
    }

    @Test func aConnectionThatStandsEndsTheRowOfFailures() {
        var policy = Self.policy
        policy.limit = 1
        var machine = EventStreamReconnection(policy: policy)
        _ = machine.handle(.started)

        for _ in 0..<3 {
            #expect(name(machine.handle(.responded(Self.accepted))) == "read")
            #expect(
                name(machine.handle(.failed(RequestError(.connectionLost, phase: .receiving)))) == "wait 3.0 seconds"
            )
            #expect(name(machine.handle(.waited)) == "connect")
        }
    }

    @Test(
        arguments: [
            (200, "text/event-stream", "read"), (200, "Text/Event-Stream;charset=\"utf-8\"", "read"),
            (200, "text/plain", "fail unacceptableContentType"), (200, nil, "fail unacceptableContentType"),
            (200, "text/event-stream-of-another-kind", "fail unacceptableContentType"),
            (204, nil, "finish"), (206, "text/event-stream", "fail unacceptableStatus"),
            (301, nil, "fail unacceptableStatus"), (401, nil, "fail unacceptableStatus"),
            (404, nil, "fail unacceptableStatus"), (501, nil, "fail unacceptableStatus"),
            (408, nil, "wait 3.0 seconds"), (429, nil, "wait 3.0 seconds"), (500, nil, "wait 3.0 seconds"),
            (502, nil, "wait 3.0 seconds"), (503, nil, "wait 3.0 seconds"), (504, nil, "wait 3.0 seconds"),
        ] as [(Int, String?, String)]
    )
    func aResponseIsAStreamOrNot(status: Int, type: String?, action: String) {
        var machine = EventStreamReconnection(policy: Self.policy)
        _ = machine.handle(.started)
        let head = HTTPResponseHead(
            status: HTTPStatus(status),
            headers: type.map { [HTTPField(.contentType, $0)] } ?? []
        )

        #expect(name(machine.handle(.responded(head))) == action)
    }

    @Test(
        arguments: [("20", "wait 20.0 seconds"), ("1", "wait 3.0 seconds"), ("9999999", "wait 60.0 seconds")]
    )
    func theServerSaysHowLongToWaitWithinReason(value: String, action: String) {
        var machine = EventStreamReconnection(policy: Self.policy)
        _ = machine.handle(.started)

        #expect(name(machine.handle(.responded(head(.serviceUnavailable, HTTPField(.retryAfter, value))))) == action)
    }

    @Test(arguments: [RequestError.Code.cancelled, .untrusted, .invalidRequest, .authenticationFailed])
    func permanentErrorEndsTheStream(_ code: RequestError.Code) {
        var machine = EventStreamReconnection()
        _ = machine.handle(.started)

        #expect(name(machine.handle(.failed(RequestError(code, phase: .sending)))) == "fail \(code)")
        #expect(name(machine.handle(.waited)) == "none")
    }
}
