// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The error with which a request fails, including all known context.
///
/// ```swift
/// if let error = error as? RequestError, error.code == .unacceptableStatus, error.response?.status == .notFound { … }
/// ```
///
/// Descriptions of the error never contain secrets. URLs are shown without credentials or query, and headers and bodies
/// aren't shown at all.
public struct RequestError: Error, Sendable {
    /// The kind of error.
    public let code: Code
    /// The phase in which the request failed.
    public let phase: Phase
    // Stored as one reference, so that an error in a `Result` takes only the size of a pointer.
    private let details: Box<Details>

    /// The phase of a request.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// The operation was waiting in its queue, and hadn't started.
        case waiting
        /// The request was being built.
        case building
        /// The request was being sent, or had been sent but no response had arrived yet.
        case sending
        /// The response was being received.
        case receiving
        /// The response was being validated, or the operation was waiting for new credentials or for another attempt
        /// that the response requires. A cancellation during decoding also has this phase.
        case validating
        /// The content was being decoded.
        case decoding
    }

    private struct Details: Sendable {
        var reason: String?
        var request: HTTPRequest?
        var response: HTTPResponseHead?
        var body: Data
        var transfers: [TransferRecord]
        var underlying: (any Error)?
        var wasNotSent = false
        var interceptor: String?
    }

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of error.
    ///   - phase: The phase in which the request failed.
    ///   - reason: A sentence with details that the code doesn't express, without secrets.
    ///   - request: The request that was sent, if there was one.
    ///   - response: The head of the response, if one was received.
    ///   - body: The received content, or the part of it that was kept.
    ///   - transfers: The transfers so far.
    ///   - underlying: The underlying error.
    public init(
        _ code: Code,
        phase: Phase,
        reason: String? = nil,
        request: HTTPRequest? = nil,
        response: HTTPResponseHead? = nil,
        body: Data = Data(),
        transfers: [TransferRecord] = [],
        underlying: (any Error)? = nil
    ) {
        let details = Details(
            reason: reason,
            request: request,
            response: response,
            body: body,
            transfers: transfers,
            underlying: underlying
        )
        self.init(code, phase: phase, details)
    }

    /// Wraps any error.
    ///
    /// A ``RequestError`` is returned unchanged. Any other error becomes the underlying error of a new
    /// ``RequestError``, whose code is `other` unless a more specific code applies.
    public init(_ error: any Error) {
        switch error {
        case let error as RequestError: self = error
        case let error as URLError: self.init(Code(error), phase: .sending, underlying: error)
        case is InvalidValue: self.init(.invalidRequest, phase: .building, underlying: error)
        case is HTTPBody.Stream.AlreadyRead: self.init(.bodyNotReplayable, phase: .building, underlying: error)
        case let failure as SequenceFailure:
            self.init(.encoding, phase: .sending, reason: failure.description, underlying: failure.error)
        case let error as FileError: self.init(Code(error), phase: .receiving, underlying: error)
        case is DecodingError: self.init(.decoding, phase: .decoding, underlying: error)
        case is EncodingError: self.init(.encoding, phase: .building, underlying: error)
        case is CancellationError: self.init(.cancelled, phase: .building, underlying: error)
        default: self.init(.other, phase: .building, underlying: error)
        }
    }

    /// Wraps an error from the encoding of a body, with the code `encoding` unless a more specific code applies.
    init(encoding error: any Error) {
        let wrapped = RequestError(error)
        self = wrapped.code == .other ? RequestError(.encoding, phase: .building, underlying: error) : wrapped
    }

    /// Wraps an error that occurred while the body was read for sending.
    init(bodyError error: any Error) {
        let isInvalid = error is InvalidValue
        self = isInvalid ? .init(.invalidRequest, phase: .sending, underlying: error) : .init(error)
    }

    private init(_ code: Code, phase: Phase, _ details: Details) {
        self.code = code
        self.phase = phase
        self.details = Box(details)
    }

    /// Whether the last attempt sent no part of the operation's request to a server, in which case retrying is safe for
    /// any method.
    ///
    /// True if no connection could be established for any transfer of the attempt. False for an error that isn't the
    /// failure of an operation.
    public var wasNotSent: Bool { details.value.wasNotSent }

    /// A sentence with details that the code doesn't express.
    public var reason: String? { details.value.reason }
    /// The request that was sent or, if an interceptor threw a ``RequestError`` while adapting it, the request as built
    /// so far; `nil` if there was none yet.
    public var request: HTTPRequest? { details.value.request }
    /// The head of the response; `nil` if none was received.
    public var response: HTTPResponseHead? { details.value.response }
    /// The content of the response, up to the environment's limit for error bodies; empty if there was no response.
    public var body: Data { details.value.body }
    /// The transfers so far, in order: the first transfer, redirects and retries.
    ///
    /// If there are more than 100, only the first and the last 99 are kept.
    public var transfers: [TransferRecord] { details.value.transfers }
    /// The underlying error, such as a `URLError` or a `DecodingError`.
    public var underlying: (any Error)? { details.value.underlying }

    /// The type of the interceptor that threw the underlying error; `nil` if it didn't come from an interceptor.
    public var interceptor: String? { details.value.interceptor }

    /// Returns a copy of the error, attributed to an interceptor.
    func thrown(by interceptor: String?) -> RequestError {
        changed { $0.interceptor = interceptor ?? $0.interceptor }
    }

    /// Returns a copy of the error with another underlying error.
    func caused(by underlying: any Error) -> RequestError { changed { $0.underlying = underlying } }

    /// Returns the error; if it is a timeout without a reason, the duration of the timeout is added as the reason.
    func explained(byTimeout timeout: Duration?) -> RequestError {
        guard code == .timedOut, reason == nil else { return self }
        let limit = timeout.map { "\($0)" } ?? "the transport's timeout (60 seconds by default)"
        return changed { $0.reason = "no data for \(limit)" }
    }

    /// Returns a copy of the error with context that the transport doesn't know: the request, the response and the
    /// transfers.
    func withContext(
        phase: Phase? = nil,
        request: HTTPRequest?,
        response: HTTPResponseHead?,
        body: Data,
        transfers: [TransferRecord],
        wasNotSent: Bool = false
    ) -> RequestError {
        changed(phase: phase) { details in
            details.request = details.request ?? request
            details.response = details.response ?? response
            if details.body.isEmpty { details.body = body }
            (details.transfers, details.wasNotSent) = (transfers, wasNotSent)
        }
    }

    private func changed(phase: Phase? = nil, _ change: (inout Details) -> Void) -> RequestError {
        var details = details.value
        change(&details)
        return RequestError(code, phase: phase ?? self.phase, details)
    }
}

// MARK: - Codes

extension RequestError {
    /// Returns whether an error has the given code, as in `if error == .offline { … }`.
    public static func == (error: RequestError, code: Code) -> Bool { error.code == code }

    /// Returns whether an error has a different code.
    public static func != (error: RequestError, code: Code) -> Bool { error.code != code }
}

// MARK: - Kinds

/// Properties that distinguish errors for messages to users, such as a missing connection or a required login.
extension RequestError {
    /// Whether the connection failed: there is no network, the server can't be reached, the connection was lost, or
    /// the server didn't respond in time.
    ///
    /// True for the codes `offline`, `cannotConnect`, `connectionLost` and `timedOut`, even if such an error made a
    /// condition, a dependency or a refresh fail. False if the peer was reached, but isn't trusted or sent an invalid
    /// response.
    public var isConnectivityError: Bool {
        switch code {
        case .conditionFailed, .dependencyFailed, .authenticationFailed:
            (underlying as? RequestError)?.isConnectivityError ?? false
        default: code.kind == .transient
        }
    }

    /// Whether the server requires a login, because the status is 401, or because there are no credentials to send.
    ///
    /// A failed refresh counts only if the server rejected it with a 401 or the OAuth error `invalid_grant`. After any
    /// other failure, such as a lost connection or a 503, the credentials may still be valid. A 403 doesn't count,
    /// because the server knows the user, so a new login wouldn't help (RFC 9110, 15.5.2 and 15.5.4).
    public var isNotAuthorized: Bool {
        switch code {
        case .authenticationFailed: (underlying as? RequestError)?.isRefusalOfCredential ?? true
        case .unacceptableStatus, .rejected: response?.status == .unauthorized
        case .dependencyFailed: (underlying as? RequestError)?.isNotAuthorized ?? false
        default: false
        }
    }
}

extension RequestError {
    /// Whether the server refused to refresh credentials, with a 401 or with the OAuth error `invalid_grant` (RFC 6749,
    /// 5.2).
    ///
    /// Other OAuth errors don't count, because they concern the client and not the user.
    var isRefusalOfCredential: Bool {
        guard code == .unacceptableStatus || code == .rejected, let response else { return isNotAuthorized }
        guard response.status == .badRequest || response.status == .unauthorized else { return false }
        struct Refusal: Decodable { let error: String }
        let refusal = try? JSONDecoder().decode(Refusal.self, from: body)
        return refusal.map { $0.error == "invalid_grant" } ?? (response.status == .unauthorized)
    }
}

// MARK: - URLError

extension RequestError {
    /// Wraps an error of `URLSession` as the underlying error.
    package init(sessionError error: any Error, phase: Phase) {
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
        #if canImport(FoundationNetworking)
        // On Linux, Foundation uses this code only for libcurl's `CURLE_GOT_NOTHING`, when the connection closes before
        // the first byte.
        case .badServerResponse: self = .connectionLost
        #else
        case .badServerResponse: self = .badResponse
        #endif
        case .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData: self = .badResponse
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired:
            self = .untrusted
        case .badURL, .unsupportedURL: self = Self.fromLinuxMessage(error) ?? .invalidRequest
        default: self = Self.fromLinuxMessage(error) ?? .other
        }
    }

    /// Maps an error of libcurl for which Foundation on Linux has no code.
    ///
    /// Foundation reports it as "unknown" or "unsupported URL", so only the message distinguishes such errors.
    private static func fromLinuxMessage(_ error: URLError) -> RequestError.Code? {
        #if canImport(FoundationNetworking)
        let text = error.localizedDescription.lowercased()
        let codes: [(words: [String], code: RequestError.Code)] = [
            (["ssl", "certificate"], .untrusted),
            (["transfer closed", "empty reply", "recv failure"], .connectionLost),
            (["header", "http/0.9", "encoding", "chunk", "weird server reply", "unsupported protocol"], .badResponse),
        ]
        return codes.first { $0.words.contains { text.contains($0) } }?.code
        #else
        return nil
        #endif
    }
}

// MARK: - Reflection

extension RequestError: CustomReflectable {
    /// A mirror of the description, because `dump` would otherwise print content, and the contents of other errors.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["code": code, "phase": phase, "description": description, "transfers": transfers.count],
            displayStyle: .struct
        )
    }
}
