// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestError {
    /// The kind of error: an open set, so that a new code breaks no `switch`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The reason for a failure, which decides about another attempt.
        package enum Kind: Sendable {
            /// The network: another attempt may succeed.
            case transient
            /// The content of a response, a condition, or the cause of the error decides. No default sends it again.
            case uncertain
            /// Somebody has refused: the server, a validator, the trust policy, or whoever has the credentials or the
            /// body. Only a caller's rule sends it again.
            case refused
            /// Another attempt would fail for the same reason.
            case permanent
            /// The caller: the request, its settings, its disk, or a cancellation.
            case callerError

            /// Whether another attempt would meet the same failure, so that no policy retries it.
            package var isFinal: Bool { self == .permanent || self == .callerError }
        }

        /// The name of the code, one of a bounded set.
        public let name: String
        /// The reason for the failure.
        package let kind: Kind

        package init(_ name: String, _ kind: Kind) {
            (self.name, self.kind) = (name, kind)
        }

        /// The name of the code.
        public var description: String { name }

        /// The operation was cancelled, or deallocated before it could run.
        public static let cancelled = Code("cancelled", .callerError)
        /// The transfer was silent for longer than its timeout.
        public static let timedOut = Code("timedOut", .transient)
        /// The deadline of the whole operation passed, including waits, retries and back-off.
        public static let deadlineExceeded = Code("deadlineExceeded", .callerError)
        /// There is no network.
        public static let offline = Code("offline", .transient)
        /// The host has no address, or no server listens there.
        public static let cannotConnect = Code("cannotConnect", .transient)
        /// A proxy refused to make a connection to the host; the error's response is the proxy's.
        ///
        /// By default, retry policies don't retry it, since a proxy that requires other credentials would get the same
        /// ones.
        public static let proxyRefused = Code("proxyRefused", .uncertain)
        /// The connection ended before the response did.
        public static let connectionLost = Code("connectionLost", .transient)
        /// The response isn't HTTP.
        public static let badResponse = Code("badResponse", .uncertain)
        /// The connection can't be trusted.
        public static let untrusted = Code("untrusted", .refused)
        /// The status isn't one that the request accepts.
        ///
        /// The error has the status, the headers and the content.
        public static let unacceptableStatus = Code("unacceptableStatus", .refused)
        /// The content is of another type than the request asked for.
        public static let unacceptableContentType = Code("unacceptableContentType", .refused)
        /// A validator had the request retried until the limit.
        public static let retryLimitReached = Code("retryLimitReached", .uncertain)
        /// A validator refused the response, for a reason of its own: the underlying error.
        public static let rejected = Code("rejected", .refused)
        /// The server confirms that the caller's stored response is valid, and the request needs content to make its
        /// value.
        public static let notModified = Code("notModified", .uncertain)
        /// Only a stored response was wanted, and no usable one is stored.
        public static let notCached = Code("notCached", .callerError)
        /// The content is empty, although the request needs some.
        public static let emptyResponse = Code("emptyResponse", .uncertain)
        /// There is content, although the request allows none.
        public static let unexpectedBody = Code("unexpectedBody", .uncertain)
        /// The head of the response is larger than the limit, has too many lines, or follows too many others.
        public static let headTooLarge = Code("headTooLarge", .permanent)
        /// The content is larger than the limit.
        public static let bodyTooLarge = Code("bodyTooLarge", .permanent)
        /// The downloaded file has another digest than expected.
        public static let digestMismatch = Code("digestMismatch", .permanent)
        /// Content was received faster than it was consumed, over a transport that can't pause.
        public static let bufferFull = Code("bufferFull", .uncertain)
        /// The content of a stream was consumed by another loop, or is being consumed by one.
        ///
        /// Store the parts of a stream that you need, or collect it, since its content isn't kept.
        public static let alreadyConsumed = Code("alreadyConsumed", .callerError)
        /// There is a file at the destination of a download, and it must not be replaced.
        public static let fileExists = Code("fileExists", .callerError)
        /// The file of a download can't be written.
        public static let cannotWriteFile = Code("cannotWriteFile", .callerError)
        /// There is no space for a download.
        public static let diskFull = Code("diskFull", .callerError)
        /// The content can't be decoded.
        public static let decoding = Code("decoding", .uncertain)
        /// There were more redirects than the limit.
        public static let tooManyRedirects = Code("tooManyRedirects", .permanent)
        /// A redirect can't be followed: its location is missing, malformed, or not a web address.
        public static let badRedirect = Code("badRedirect", .permanent)
        /// A redirect requires more than the policy allows.
        public static let redirectRefused = Code("redirectRefused", .permanent)
        /// The next page of a list can't be requested: the link to it isn't a web address, or leads to an earlier page.
        public static let pagingFailed = Code("pagingFailed", .permanent)
        /// The body would have to be sent again, and can't be.
        ///
        /// If it keeps a failed request from being retried, the failure stays, with an error of this code as its
        /// underlying error.
        public static let bodyNotReplayable = Code("bodyNotReplayable", .callerError)
        /// The request couldn't be made, or is invalid.
        public static let invalidRequest = Code("invalidRequest", .callerError)
        /// The body of the request couldn't be encoded, or the sequence that it was read from has failed.
        public static let encoding = Code("encoding", .refused)
        /// The credentials of the request weren't available; if their refresh failed, its error is the underlying one.
        public static let authenticationFailed = Code("authenticationFailed", .refused)
        /// Credentials were refreshed more often than the limit allows.
        public static let excessiveRefresh = Code("excessiveRefresh", .permanent)
        /// The refresh of a credential took longer than allowed.
        public static let refreshTimedOut = Code("refreshTimedOut", .uncertain)
        /// An operation failed whose result was needed to make this request.
        public static let dependencyFailed = Code("dependencyFailed", .callerError)
        /// The operation would wait for itself.
        public static let dependencyCycle = Code("dependencyCycle", .callerError)
        /// Requests on behalf of requests were nested more than eight deep.
        ///
        /// An interceptor or a condition whose own request calls it again causes that. The reason names them.
        public static let nestingLimitReached = Code("nestingLimitReached", .callerError)
        /// A condition of the request isn't met; the underlying error is the reason.
        public static let conditionFailed = Code("conditionFailed", .uncertain)
        /// The transport was closed.
        public static let closed = Code("closed", .callerError)
        /// The transport doesn't support a requirement of the request.
        public static let unsupported = Code("unsupported", .callerError)
        /// Another error, described by the underlying one.
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
    /// The error of a stream whose line or event is larger than the limit.
    static func oversized(_ element: String, limit: Int) -> RequestError {
        let reason = "one \(element) of the stream is larger than \(limit) bytes"
        return RequestError(.bodyTooLarge, phase: .receiving, reason: reason)
    }
}
