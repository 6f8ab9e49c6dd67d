// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// What changes while a call runs, besides what has happened.
struct CallState: Sendable {
    /// What has happened.
    var record = CallRecord()
    /// The task that runs the call.
    var task: Task<Void, Never>?
    /// What ends the operation after a while.
    var deadline: DelayedAction?
    /// Whether the transfers are held back.
    var isPaused = false
    /// What tells the progress; nil until anybody asks.
    var progress: ProgressFeeds?
    /// Whether the operation has its result.
    var isOver = false
    /// What the operation failed with, before the request made it an error of its own.
    var failure: (any Error)?
}
