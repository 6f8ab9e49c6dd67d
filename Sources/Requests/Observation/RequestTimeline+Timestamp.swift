// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension RequestTimeline {
    /// A time of the timeline in ISO 8601, such as `2026-11-21T10:00:00.000Z`; of the years 1 to 9999.
    func timestamp(at time: Duration) -> String {
        start.timestamp(after: time)
    }
}
