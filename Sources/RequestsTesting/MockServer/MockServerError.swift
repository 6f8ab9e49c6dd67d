// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Why a ``MockServer`` couldn't do what it was asked for.
public enum MockServerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A call of the operating system failed: the call, and its `errno`.
    case system(call: String, code: Int32)
    /// The server was stopped while something was awaited.
    case stopped
    /// What was awaited didn't come in time: how long it was waited for, and what for.
    case timeout(after: Duration, awaited: String)
    /// The request came, and isn't among those that are recorded: the ``MockServer/Configuration/recordLimit``.
    case notRecorded(limit: Int)

    /// What went wrong, in a sentence.
    public var description: String {
        switch self {
        case .system(let call, let code): "\(call) failed: \(String(cString: strerror(code))) (\(code))"
        case .stopped: "the server was stopped"
        case .timeout(let timeout, let awaited): "waited for \(timeout) for \(awaited)"
        case .notRecorded(let limit): "only the first \(limit) requests are recorded"
        }
    }
}
