// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// When things happened to a request, in time since the start of the server.
struct RequestTimes: Sendable {
    var accepted: Duration
    var headRead: Duration
    var bodyRead: Duration?
}

extension ServerCore.State {
    /// Counts a request, and records it as long as there is room.
    mutating func record(_ request: RecordedRequest, _ times: RequestTimes) {
        requestCount += 1
        guard log.count < recordLimit else { return }
        requests.append(request)
        log.append(
            MockServer.LogEntry(
                request: request,
                accepted: times.accepted,
                headRead: times.headRead,
                bodyRead: times.bodyRead,
                answered: nil,
                sentByteCount: 0
            )
        )
    }

    /// Notes how the answer to a request ended.
    mutating func noteAnswer(to index: Int, sentByteCount: Int, at time: Duration?) {
        guard log.indices.contains(index) else { return }
        log[index].sentByteCount = sentByteCount
        log[index].answered = time
    }
}
