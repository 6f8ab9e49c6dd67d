// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What ran, when, and what came of it: a value that can be drawn.
///
/// A ``RecordingMonitor`` makes one. It has three pictures: ``text(width:)`` for a terminal or a log,
/// ``har(revealingSecrets:)`` for the network tab of a browser, ``traceEvents()`` for Perfetto.
///
/// ```swift
/// print(recorder.timeline.text())
/// try recorder.timeline.har().write(to: folder.appending(path: "requests.har"))
/// ```
///
/// The value has what was sent but for the contents, secrets included. The pictures leave secrets out.
public struct RequestTimeline: Sendable {
    /// When the recording began.
    public internal(set) var start: Date
    /// When the picture was taken; like all times here, since the start.
    public internal(set) var end: Duration
    /// What became of each operation, in the order of their making.
    public internal(set) var entries: [Entry] = []
    /// How many older operations were forgotten, because there were more than the recorder's limit.
    public internal(set) var forgotten = 0

    /// One operation, from its making to its end.
    public struct Entry: Sendable {
        /// The operation.
        public internal(set) var operation: MonitoredOperation
        /// When it was made.
        public internal(set) var made: Duration
        /// When its turn came; nil as long as it hasn't, and where it never did.
        public internal(set) var started: Duration?
        /// The operation whose transfer it shared; nil where it shared none.
        public internal(set) var leader: MonitoredOperation?
        /// When it was over; nil as long as it isn't.
        public internal(set) var ended: Duration?
        /// What came of it; nil as long as it isn't over.
        public internal(set) var outcome: Outcome?
        /// What it did, in order: attempts, and waits between them.
        public internal(set) var steps: [Step] = []
        /// How many older steps were forgotten: an operation that tries again for ever keeps the last 1,000.
        public internal(set) var forgottenSteps = 0
    }

    /// What came of an operation.
    public enum Outcome: Sendable, Hashable {
        /// It has a value.
        case success
        /// It failed.
        case failure(RequestError.Code)
        /// It was called off.
        case cancelled
    }

    /// A thing that an operation did.
    public enum Step: Sendable {
        /// It sent a request.
        case attempt(Span)
        /// It waited before a retry.
        case wait(Pause)
        /// It waited for a credential.
        case authentication(Authentication)
    }

    /// A wait for a credential.
    public struct Authentication: Sendable {
        /// What it waited for.
        public let step: AuthenticationStep
        /// When it began.
        public let start: Duration
        /// When it was over; nil as long as it isn't.
        public internal(set) var end: Duration?
        /// Whether there was a credential then; nil as long as it isn't over.
        public internal(set) var isGranted: Bool?
    }

    /// An attempt, from when it was handed to the transport to its end.
    public struct Span: Sendable {
        /// Which one of the operation it is, from 1.
        public let number: Int
        /// Why it was made.
        public let cause: Attempt.Cause
        /// What was sent, without content and credentials that are yet to be added.
        public let request: HTTPRequest
        /// How many bytes the content has, where that was known.
        public let contentLength: Int64?
        /// When it began.
        public let start: Duration
        /// When it was over; nil as long as it isn't.
        public internal(set) var end: Duration?
        /// The head of the response, if one came.
        public internal(set) var response: HTTPResponseHead?
        /// Why it failed, if it did.
        public internal(set) var error: RequestError.Code?
        /// What its phases took, where that is known.
        public internal(set) var metrics: Metrics?
    }

    /// A wait before a retry.
    public struct Pause: Sendable {
        /// When it began.
        public let start: Duration
        /// When the next attempt began, or the operation was over; nil as long as neither is.
        public internal(set) var end: Duration?
        /// How long it was meant to be.
        public let delay: Duration
        /// Why the operation tries again.
        public let reason: RequestError.Code
    }
}

extension RequestTimeline.Outcome: CustomStringConvertible {
    /// The outcome in a word, such as `timedOut`.
    public var description: String {
        switch self {
        case .success: "success"
        case .failure(let code): code.name
        case .cancelled: "cancelled"
        }
    }
}
