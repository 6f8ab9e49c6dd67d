// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestError {
    /// The kind of error.
    ///
    /// `Code` isn't an enum, so new codes don't break existing `switch` statements.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The category of a failure, which determines whether it can be retried.
        package enum Kind: Sendable {
            /// A network failure. Another attempt may succeed.
            case transient
            /// Whether another attempt may succeed depends on the response, a condition or the cause. Such a failure
            /// isn't retried by default.
            case uncertain
            /// The request was refused by the server, a validator, the trust policy, or the provider of its credentials
            /// or body. Only a rule of the caller can retry it.
            case refused
            /// Another attempt would fail for the same reason.
            case permanent
            /// The cause is on the caller's side: the request, its settings, its disk, or a cancellation.
            case callerError

            /// Whether another attempt would fail in the same way, in which case no policy retries the request.
            package var isFinal: Bool { self == .permanent || self == .callerError }
        }

        /// The name of the code, from a limited set of names.
        public let name: String
        /// The category of the failure.
        package let kind: Kind

        package init(_ name: String, _ kind: Kind) {
            (self.name, self.kind) = (name, kind)
        }

        /// The name of the code.
        public var description: String { name }

        /// The operation was cancelled, or deallocated before it could run.
        public static let cancelled = Code("cancelled", .callerError)
        /// The transfer was idle for longer than its timeout.
        public static let timedOut = Code("timedOut", .transient)
        /// The deadline of the entire operation passed, including waits, retries and backoff.
        public static let deadlineExceeded = Code("deadlineExceeded", .callerError)
        /// There is no network connection.
        public static let offline = Code("offline", .transient)
        /// The host name can't be resolved, or the host doesn't accept the connection.
        public static let cannotConnect = Code("cannotConnect", .transient)
        /// A proxy refused to connect to the host.
        ///
        /// The error's `response` is the proxy's response. Retry policies don't retry this error by default, because a
        /// proxy that requires other credentials would receive the same credentials again.
        public static let proxyRefused = Code("proxyRefused", .uncertain)
        /// The connection was closed before the response was complete.
        public static let connectionLost = Code("connectionLost", .transient)
        /// The response isn't valid HTTP.
        public static let badResponse = Code("badResponse", .uncertain)
        /// The connection can't be trusted.
        public static let untrusted = Code("untrusted", .refused)
        /// The request doesn't accept the status of the response.
        ///
        /// The error contains the status, the headers and the content.
        public static let unacceptableStatus = Code("unacceptableStatus", .refused)
        /// The content isn't of a media type that the request accepts.
        public static let unacceptableContentType = Code("unacceptableContentType", .refused)
        /// A validator requested further retries until the limit was reached.
        public static let retryLimitReached = Code("retryLimitReached", .uncertain)
        /// A validator rejected the response; the underlying error is its reason.
        public static let rejected = Code("rejected", .refused)
        /// The server confirmed that the caller's stored response is still valid, but the request needs content to
        /// create its value.
        public static let notModified = Code("notModified", .uncertain)
        /// The request accepts only a stored response, and there is no usable stored response.
        public static let notCached = Code("notCached", .callerError)
        /// The content is empty, but the request requires content.
        public static let emptyResponse = Code("emptyResponse", .uncertain)
        /// The response has content, but the request allows none.
        public static let unexpectedBody = Code("unexpectedBody", .uncertain)
        /// The head of the response is too large, has too many lines, or follows too many interim responses.
        public static let headTooLarge = Code("headTooLarge", .permanent)
        /// The content exceeds the limit.
        public static let bodyTooLarge = Code("bodyTooLarge", .permanent)
        /// The digest of the downloaded file doesn't match the expected digest.
        public static let digestMismatch = Code("digestMismatch", .permanent)
        /// Content was received faster than it was consumed, and the transport doesn't support backpressure.
        public static let bufferFull = Code("bufferFull", .uncertain)
        /// The content of a stream has already been consumed, or is being consumed, by another loop.
        ///
        /// Streamed content isn't kept, so store the parts that you need, or collect the entire stream.
        public static let alreadyConsumed = Code("alreadyConsumed", .callerError)
        /// A file exists at the destination of a download, and must not be replaced.
        public static let fileExists = Code("fileExists", .callerError)
        /// The file of a download couldn't be written.
        public static let cannotWriteFile = Code("cannotWriteFile", .callerError)
        /// There isn't enough disk space for a download.
        public static let diskFull = Code("diskFull", .callerError)
        /// The content couldn't be decoded.
        public static let decoding = Code("decoding", .uncertain)
        /// The number of redirects exceeds the limit.
        public static let tooManyRedirects = Code("tooManyRedirects", .permanent)
        /// A redirect can't be followed, because its location is missing, malformed, or not an `http` or `https` URL.
        public static let badRedirect = Code("badRedirect", .permanent)
        /// The redirect policy doesn't allow following a redirect.
        public static let redirectRefused = Code("redirectRefused", .permanent)
        /// The next page can't be requested, because the link to it isn't an `http` or `https` URL, or leads back to an
        /// earlier page.
        public static let pagingFailed = Code("pagingFailed", .permanent)
        /// The body must be sent again, but can't be.
        ///
        /// If this prevents a retry, the request keeps its original error, with an error that has this code as the
        /// underlying error.
        public static let bodyNotReplayable = Code("bodyNotReplayable", .callerError)
        /// The request couldn't be created, or is invalid.
        public static let invalidRequest = Code("invalidRequest", .callerError)
        /// The body of the request couldn't be encoded, or the sequence that produces it failed.
        public static let encoding = Code("encoding", .refused)
        /// The credentials of the request weren't available.
        ///
        /// If refreshing them failed, the refresh error is the underlying error.
        public static let authenticationFailed = Code("authenticationFailed", .refused)
        /// The credentials were refreshed more often than the limit allows.
        public static let excessiveRefresh = Code("excessiveRefresh", .permanent)
        /// Refreshing the credentials took longer than allowed.
        public static let refreshTimedOut = Code("refreshTimedOut", .uncertain)
        /// Another operation, whose result this request needs, has failed.
        public static let dependencyFailed = Code("dependencyFailed", .callerError)
        /// The operation would wait for itself, directly or through other operations.
        public static let dependencyCycle = Code("dependencyCycle", .callerError)
        /// Requests that other requests depend on were nested more than eight levels deep.
        ///
        /// The usual cause is an interceptor or a condition that runs again for the request that it sends. The reason
        /// names them.
        public static let nestingLimitReached = Code("nestingLimitReached", .callerError)
        /// A condition of the request isn't satisfied; the underlying error is the reason.
        public static let conditionFailed = Code("conditionFailed", .uncertain)
        /// The transport has been closed.
        public static let closed = Code("closed", .callerError)
        /// The transport doesn't support a feature that the request requires.
        public static let unsupported = Code("unsupported", .callerError)
        /// Any other error; the underlying error describes it.
        public static let other = Code("other", .uncertain)
    }
}

// MARK: - File error

extension RequestError.Code {
    init(_ error: FileError) {
        switch error.code {
        case .fileExists: self = .fileExists
        case .cannotWriteFile: self = .cannotWriteFile
        case .cannotReadFile, .damaged: self = .other
        case .diskFull: self = .diskFull
        }
    }
}

extension RequestError {
    /// Creates the error for a stream in which a line or an event exceeds the limit.
    static func oversized(_ element: String, limit: Int) -> RequestError {
        let reason = "a single \(element) of the stream exceeds \(limit) bytes"
        return RequestError(.bodyTooLarge, phase: .receiving, reason: reason)
    }
}
