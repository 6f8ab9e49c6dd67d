// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Why a request failed: one error that tells the whole story.
///
/// ```swift
/// if let error = error as? RequestError, error.code == .unacceptableStatus, error.response?.status == .notFound { … }
/// ```
///
/// No description of it shows a secret: addresses come without credentials and query, headers and bodies not at all.
public struct RequestError: Error, Sendable {
    /// What went wrong.
    public let code: Code
    /// How far the request had come.
    public let phase: Phase
    private let details: Details

    /// How far a request had come when it failed.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// The operation had not started: it waited in its queue.
        case waiting
        /// The request was being made.
        case building
        /// The request was on its way, and no response had come.
        case sending
        /// The response was coming in.
        case receiving
        /// The response was there, and was being judged.
        case validating
        /// The content was being decoded.
        case decoding
    }

    // Behind one reference, so that an error costs a result as much room as a pointer.
    private final class Details: Sendable {
        let reason: String?
        let request: HTTPRequest?
        let response: HTTPResponseHead?
        let body: Data
        let attempts: [Attempt]
        let underlying: (any Error)?
        let wasNotSent: Bool

        init(
            reason: String?,
            request: HTTPRequest?,
            response: HTTPResponseHead?,
            body: Data,
            attempts: [Attempt],
            underlying: (any Error)?,
            wasNotSent: Bool
        ) {
            self.reason = reason
            self.request = request
            self.response = response
            self.body = body
            self.attempts = attempts
            self.underlying = underlying
            self.wasNotSent = wasNotSent
        }
    }

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: What went wrong.
    ///   - phase: How far the request had come.
    ///   - reason: A sentence that the code alone doesn't say; without secrets.
    ///   - request: What was sent, where a request had been made.
    ///   - response: The head of what came back, where something had.
    ///   - body: The content that came back, as far as it was kept.
    ///   - attempts: What had been sent until then.
    ///   - underlying: The error behind this one.
    public init(
        _ code: Code,
        phase: Phase,
        reason: String? = nil,
        request: HTTPRequest? = nil,
        response: HTTPResponseHead? = nil,
        body: Data = Data(),
        attempts: [Attempt] = [],
        underlying: (any Error)? = nil
    ) {
        self.code = code
        self.phase = phase
        details = Details(
            reason: reason,
            request: request,
            response: response,
            body: body,
            attempts: attempts,
            underlying: underlying,
            wasNotSent: false
        )
    }

    /// Wraps any error: a ``RequestError`` stays what it is, every other becomes the underlying one of a new error,
    /// whose code is `other` unless the error is one that the library knows.
    public init(_ error: any Error) {
        switch error {
        case let error as RequestError: self = error
        case let error as URLError: self.init(Code(error), phase: .sending, underlying: error)
        case is InvalidRequest: self.init(.invalidRequest, phase: .building, underlying: error)
        case is BodyStream.AlreadyRead: self.init(.bodyNotReplayable, phase: .building, underlying: error)
        case let error as DownloadError: self.init(Code(error), phase: .receiving, underlying: error)
        case let error as RequestError.OversizedElement:
            self.init(.bodyTooLarge, phase: .receiving, reason: "\(error)", underlying: error)
        case is DecodingError: self.init(.decoding, phase: .decoding, underlying: error)
        case is EncodingError: self.init(.encoding, phase: .building, underlying: error)
        case is CancellationError: self.init(.cancelled, phase: .building, underlying: error)
        default: self.init(.other, phase: .building, underlying: error)
        }
    }

    /// Wraps what the encoding of a body throws: an error of any kind is one of encoding, unless it says more itself.
    init(encoding error: any Error) {
        let wrapped = RequestError(error)
        self = wrapped.code == .other ? RequestError(.encoding, phase: .building, underlying: error) : wrapped
    }

    private init(_ code: Code, phase: Phase, _ details: Details) {
        self.code = code
        self.phase = phase
        self.details = details
    }

    /// Whether nothing of the operation's request has reached a server in the last attempt, so that it can be sent again
    /// without harm, whatever its method.
    ///
    /// True if no connection could be made for any of the attempt's transfers. False for an error that isn't the failure
    /// of an operation.
    public var wasNotSent: Bool { details.wasNotSent }

    /// What the code alone doesn't say, in a sentence.
    public var reason: String? { details.reason }
    /// What was sent; nil where the failure came before there was a request.
    public var request: HTTPRequest? { details.request }
    /// The head of the response; nil where none came.
    public var response: HTTPResponseHead? { details.response }
    /// The content of the response, up to the environment's limit for error bodies; empty where none came.
    public var body: Data { details.body }
    /// What had been sent until then: the first try, redirects and retries.
    ///
    /// Of more than 100, the first and the last 99.
    public var attempts: [Attempt] { details.attempts }
    /// The error behind this one, such as a `URLError` or a `DecodingError`.
    public var underlying: (any Error)? { details.underlying }

    /// Returns the same error, with another cause.
    func caused(by underlying: any Error) -> RequestError { changed(reason: reason, underlying: underlying) }

    /// Returns the same error; if a transport was silent for too long and doesn't say for how long, with that as the
    /// reason.
    func explained(byTimeout timeout: Duration?) -> RequestError {
        guard code == .timedOut, reason == nil else { return self }
        let limit = timeout.map { "\($0)" } ?? "as long as the transport waits, by default 60 seconds"
        return changed(reason: "no data for \(limit)", underlying: underlying)
    }

    private func changed(reason: String?, underlying: (any Error)?) -> RequestError {
        let details = Details(
            reason: reason,
            request: request,
            response: response,
            body: body,
            attempts: attempts,
            underlying: underlying,
            wasNotSent: wasNotSent
        )
        return RequestError(code, phase: phase, details)
    }

    /// The same error with what a transport can't know: the request, the response and the attempts.
    func completed(
        phase: Phase? = nil,
        request: HTTPRequest?,
        response: HTTPResponseHead?,
        body: Data,
        attempts: [Attempt],
        wasNotSent: Bool = false
    ) -> RequestError {
        let details = Details(
            reason: reason,
            request: self.request ?? request,
            response: self.response ?? response,
            body: self.body.isEmpty ? body : self.body,
            attempts: attempts,
            underlying: underlying,
            wasNotSent: wasNotSent
        )
        return RequestError(code, phase: phase ?? self.phase, details)
    }
}

// MARK: - Kinds

/// What the user is to be told, mostly: that there is no connection, or that a login is needed.
extension RequestError {
    /// Whether it was the connection that failed: there is no network, nobody answers, or not in time.
    ///
    /// True for the codes `offline`, `cannotConnect`, `connectionLost` and `timedOut`, also where that is why a condition
    /// didn't hold, or why a request failed that this one needed the result of. A peer that isn't trusted, or answers
    /// badly, was reached.
    public var isConnectivityError: Bool {
        switch code {
        case .offline, .cannotConnect, .connectionLost, .timedOut: true
        case .conditionFailed, .dependencyFailed: (underlying as? RequestError)?.isConnectivityError ?? false
        default: false
        }
    }

    /// Whether the server doesn't know who asks: it answered 401, or there is no credential to send.
    ///
    /// A refresh that failed for want of a connection isn't one: the credential may be good. Nor is a 403, which no login
    /// changes: there, the server knows who asks (RFC 9110, 15.5.2 and 15.5.4).
    public var isNotAuthorized: Bool {
        switch code {
        case .authenticationFailed: (underlying as? RequestError)?.isConnectivityError != true
        case .unacceptableStatus, .rejected: response?.status == .unauthorized
        case .dependencyFailed: (underlying as? RequestError)?.isNotAuthorized ?? false
        default: false
        }
    }
}

// MARK: - URLError

extension RequestError {
    /// What `URLSession` says went wrong, in the library's words; its own error stays as the underlying one.
    init(sessionError error: any Error, phase: Phase) {
        let error = error as? URLError ?? URLError(_nsError: error as NSError)
        self.init(Code(error), phase: phase, underlying: error)
    }
}

extension RequestError.Code {
    init(_ error: URLError) {
        switch error.code {
        case .cancelled: self = .cancelled
        case .timedOut: self = .timedOut
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive: self = .offline
        case .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed: self = .cannotConnect
        case .networkConnectionLost: self = .connectionLost
        case .badServerResponse: self = Self.ofBadServerResponse
        case .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData: self = .badResponse
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired:
            self = .untrusted
        case .badURL, .unsupportedURL: self = Self.ofLinuxText(error) ?? .invalidRequest
        default: self = Self.ofLinuxText(error) ?? .other
        }
    }

    /// On Linux this is what becomes of libcurl's "got nothing", and of nothing else: the connection ended before the
    /// first byte, for which Foundation elsewhere says that it was lost.
    private static var ofBadServerResponse: RequestError.Code {
        #if canImport(FoundationNetworking)
        .connectionLost
        #else
        .badResponse
        #endif
    }

    /// On Linux, libcurl's failures that have no code of Foundation's come as "unknown" or "unsupported URL", and only
    /// their text tells them apart.
    private static func ofLinuxText(_ error: URLError) -> RequestError.Code? {
        #if canImport(FoundationNetworking)
        let text = error.localizedDescription.lowercased()
        let codes: [(String, RequestError.Code)] = [
            ("ssl", .untrusted), ("certificate", .untrusted),
            ("transfer closed", .connectionLost), ("empty reply", .connectionLost), ("recv failure", .connectionLost),
            ("header", .badResponse), ("http/0.9", .badResponse), ("encoding", .badResponse), ("chunk", .badResponse),
            ("weird server reply", .badResponse), ("unsupported protocol", .badResponse),
        ]
        return codes.first { text.contains($0.0) }?.1
        #else
        return nil
        #endif
    }
}

// MARK: - Reflection

extension RequestError: CustomReflectable {
    /// A mirror with what the description shows: `dump` would print content, and what other errors keep.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["code": code, "phase": phase, "description": description, "attempts": attempts.count],
            displayStyle: .struct
        )
    }
}
