// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestError {
    /// What went wrong: an open set, so that a new code breaks no one's `switch`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name of the code, one of a bounded set.
        public let name: String

        private init(_ name: String) {
            self.name = name
        }

        /// The name of the code.
        public var description: String { name }

        /// The operation was cancelled, or let go of before it could run.
        public static let cancelled = Code("cancelled")
        /// The transfer was silent for longer than its timeout.
        public static let timedOut = Code("timedOut")
        /// The deadline of the whole operation passed: waiting, retries and back-off included.
        public static let deadlineExceeded = Code("deadlineExceeded")
        /// There is no network.
        public static let offline = Code("offline")
        /// The host has no address, or nobody listens there.
        public static let cannotConnect = Code("cannotConnect")
        /// A proxy refused to make a connection to the host; the error's response is the proxy's.
        ///
        /// No retry policy repeats it by default, as a proxy that wants other credentials would get the same ones.
        public static let proxyRefused = Code("proxyRefused")
        /// The connection ended before the response did.
        public static let connectionLost = Code("connectionLost")
        /// What came back isn't HTTP.
        public static let badResponse = Code("badResponse")
        /// The connection can't be trusted.
        public static let untrusted = Code("untrusted")
        /// The status isn't one that the request accepts.
        ///
        /// The error has the status, the headers and the content.
        public static let unacceptableStatus = Code("unacceptableStatus")
        /// The content is of another type than the request asked for.
        public static let unacceptableContentType = Code("unacceptableContentType")
        /// A validator had the request tried again, and again, until the limit.
        public static let retryLimitReached = Code("retryLimitReached")
        /// A validator refused the response, for a reason of its own: the underlying error.
        public static let rejected = Code("rejected")
        /// The server says that what the caller has is still right, and the request needs content to make its value of.
        public static let notModified = Code("notModified")
        /// Only a stored response was wanted, and there is none that may be used.
        public static let notCached = Code("notCached")
        /// The content is empty where the request needs some.
        public static let emptyResponse = Code("emptyResponse")
        /// There is content where the request allows none.
        public static let unexpectedBody = Code("unexpectedBody")
        /// The head of the response is larger than the limit, has too many lines, or too many heads come before it.
        public static let headTooLarge = Code("headTooLarge")
        /// The content is larger than the limit.
        public static let bodyTooLarge = Code("bodyTooLarge")
        /// The file that was downloaded has another digest than expected.
        public static let digestMismatch = Code("digestMismatch")
        /// Content came faster than it was consumed, over a transport that can't wait.
        public static let bufferFull = Code("bufferFull")
        /// The content of a stream was consumed by another loop, or is being consumed by one.
        ///
        /// Keep what you need of a stream, or collect it, since its content isn't kept.
        public static let alreadyConsumed = Code("alreadyConsumed")
        /// There is a file where a download is to be put, and it isn't to be replaced.
        public static let fileExists = Code("fileExists")
        /// The file of a download can't be written.
        public static let cannotWriteFile = Code("cannotWriteFile")
        /// There is no room for a download.
        public static let diskFull = Code("diskFull")
        /// The content can't be decoded.
        public static let decoding = Code("decoding")
        /// There were more redirects than the limit.
        public static let tooManyRedirects = Code("tooManyRedirects")
        /// A redirect leads nowhere: its location is missing, malformed, or no web address.
        public static let badRedirect = Code("badRedirect")
        /// A redirect asks for more than the policy gives away.
        public static let redirectRefused = Code("redirectRefused")
        /// The next page of a list can't be asked for: the link to it is no web address, or it was there before.
        public static let pagingFailed = Code("pagingFailed")
        /// The body would have to be sent again, and can't be.
        ///
        /// If it keeps a failed request from being retried, the failure stays, with an error of this code as its underlying
        /// error.
        public static let bodyNotReplayable = Code("bodyNotReplayable")
        /// The request couldn't be made, or can't go on the wire as it is.
        public static let invalidRequest = Code("invalidRequest")
        /// The body of the request couldn't be encoded.
        public static let encoding = Code("encoding")
        /// The credentials of the request couldn't be had; where their refresh failed, its error is the underlying one.
        public static let authenticationFailed = Code("authenticationFailed")
        /// Credentials were refreshed so often that it must be a fault.
        public static let excessiveRefresh = Code("excessiveRefresh")
        /// The refresh of a credential took longer than it may.
        public static let refreshTimedOut = Code("refreshTimedOut")
        /// The operation whose result this request was to be made from failed.
        public static let dependencyFailed = Code("dependencyFailed")
        /// The operation would wait for itself.
        public static let dependencyCycle = Code("dependencyCycle")
        /// Requests were sent on behalf of requests more than eight deep.
        ///
        /// An interceptor or a condition whose own request meets it again does that. The reason names them.
        public static let nestingLimitReached = Code("nestingLimitReached")
        /// A condition that the request has to meet before it starts isn't met; the underlying error tells which.
        public static let conditionFailed = Code("conditionFailed")
        /// The transport was closed.
        public static let closed = Code("closed")
        /// The transport can't do what the request asks for.
        public static let unsupported = Code("unsupported")
        /// Something else, told by the underlying error.
        public static let other = Code("other")
    }
}

// MARK: - Download error

extension RequestError.Code {
    init(_ error: DownloadError) {
        switch error.code {
        case .fileExists: self = .fileExists
        case .cannotWriteFile: self = .cannotWriteFile
        case .diskFull: self = .diskFull
        }
    }
}

extension RequestError {
    /// A line or an event of a stream is larger than the limit.
    ///
    /// It arrives as the underlying error of a ``RequestError`` whose code is `bodyTooLarge`.
    public struct OversizedElement: ExplainedError, Sendable, Hashable, CustomStringConvertible, LocalizedError {
        /// What the stream is made of.
        public enum Kind: String, Sendable, Hashable {
            /// A line.
            case line
            /// An event.
            case event
        }

        /// What is too large.
        public let kind: Kind
        /// How many bytes there may be.
        public let limit: Int

        /// Makes the error.
        public init(_ kind: Kind, limit: Int) {
            self.kind = kind
            self.limit = limit
        }

        /// The error, in a sentence.
        public var description: String { "one \(kind.rawValue) of the stream is larger than \(limit) bytes" }

        /// The error, for people.
        public var errorDescription: String? { description }
    }
}
