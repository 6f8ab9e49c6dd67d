// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// What came of an operation, as an ``EventMonitor`` sees it.
public enum MonitoredOutcome: Sendable {
    /// It has a value.
    case success
    /// It failed; an error that isn't the library's own is the underlying one.
    case failure(RequestError)
    /// It was called off, which nobody has to be alarmed about.
    case cancelled

    /// Tells a cancellation from a failure.
    public init(_ error: any Error) {
        let error = RequestError(error)
        self = error.code == .cancelled ? .cancelled : .failure(error)
    }

    /// Tells what came of an operation by its result.
    public init(_ result: Result<some Any, some Error>) {
        switch result {
        case .success: self = .success
        case .failure(let error): self.init(error)
        }
    }
}
