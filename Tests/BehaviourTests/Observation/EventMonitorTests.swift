// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct EventMonitorTests {
    static let transcript = [
        "made", "started", "attempt 1 initial", "response 302", "ended 1", "attempt 2 redirect", "response 503",
        "ended 2", "retry", "attempt 3 retry", "response 200", "ended 3", "over",
    ]

    @Test func closureReceivesEventsInOrder() {
        let events = Recorder<String>()
        let monitor: some EventMonitor = .events { event, _ in events.record(event.name) }

        SampleOperation(1, monitor: monitor).runThroughEverything()

        #expect(events.elements == Self.transcript)
    }

    private static let key = DispatchSpecificKey<Bool>()

    @Test func eventsAreDeliveredOnQueueInOrder() async {
        let events = Recorder<String>()
        let queue = DispatchQueue(label: "monitor", attributes: .concurrent)
        queue.setSpecific(key: Self.key, value: true)
        let monitor = ClosureMonitor { event, _ in
            let isOnQueue = DispatchQueue.getSpecific(key: Self.key) == true
            events.record(isOnQueue ? event.name : "\(event.name) elsewhere")
        }

        queue.suspend()
        SampleOperation(1, monitor: monitor.delivering(on: queue)).runThroughEverything()
        #expect(events.count == 0)
        queue.resume()

        #expect(await events.first(Self.transcript.count) == Self.transcript)
    }

    @Test func notificationsReportStartAndEnd() {
        let center = NotificationCenter()
        let posted = Recorder<String>()
        for name in [Notification.Name.requestOperationStarted, .requestOperationEnded] {
            _ = center.addObserver(forName: name, object: nil, queue: nil) { notification in
                let operation = notification.object as? OperationEvent.Info
                let outcome = notification.userInfo?[OperationEvent.Outcome.userInfoKey] as? OperationEvent.Outcome
                posted.record("\(name.rawValue) \(operation?.id ?? 0) \(outcome.map { "\($0)" } ?? "")")
            }
        }

        SampleOperation(7, monitor: .notifications(center: center)).runThroughEverything()

        #expect(posted.elements == ["Requests.operationStarted 7 ", "Requests.operationEnded 7 success"])
    }

    @Test func operationIDsAreUnique() {
        let first = OperationEvent.Info(requestType: "A")
        var second = OperationEvent.Info(requestType: "B")
        #expect(first.id < second.id && first != second)

        let before = second
        second.identifier = "later"
        #expect(second == before)
    }

    @Test func cancellationIsNotReportedAsFailure() {
        func name(_ error: any Error) -> String {
            switch OperationEvent.Outcome(error) {
            case .success: "success"
            case .failure(let error): error.shortDescription
            case .cancelled: "cancelled"
            }
        }

        #expect(name(CancellationError()) == "cancelled")
        #expect(name(RequestError(.cancelled, phase: .waiting)) == "cancelled")
        #expect(name(RequestError(.timedOut, phase: .sending)) == "timedOut")
        #expect(name(CocoaError(.fileNoSuchFile)) == "other")
    }
}

extension OperationEvent {
    fileprivate var name: String {
        switch self {
        case .operationCreated: "made"
        case .operationStarted: "started"
        case .operationJoined(let leader): "joined \(leader.id)"
        case .transferStarted(let attempt): "attempt \(attempt.number) \(attempt.cause)"
        case .responseStarted(let head, _): "response \(head.status.code)"
        case .informationalResponseReceived(let head, _): "informational \(head.status.code)"
        case .trailersReceived: "trailers"
        case .transferEnded(let attempt, _): "ended \(attempt.number)"
        case .retryScheduled: "retry"
        case .authenticationStarted(let step): "\(step)"
        case .authenticationEnded(_, let isGranted): isGranted ? "granted" : "refused"
        case .operationEnded: "over"
        }
    }
}
