// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The failure of a request, with all known facts.
///
/// ```swift
/// if let error = error as? RequestError, error.code == .unacceptableStatus, error.response?.status == .notFound { … }
/// ```
///
/// No description of it shows a secret: addresses are shown without credentials and query, headers and bodies not at
/// all.
public struct RequestError: Error, Sendable {
    /// The kind of error.
    public let code: Code
    /// The phase in which the request failed.
    public let phase: Phase
    // Behind one reference, so that an error needs only a pointer's size in a result.
    private let details: Box<Details>

    /// The phase of a request.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// The operation had not started: it waited in its queue.
        case waiting
        /// The request was being made.
        case building
        /// The request was sent, and no response had been received.
        case sending
        /// The response was being received.
        case receiving
        /// The response was being judged, or the operation waited because of it: for another attempt, or for a new
        /// credential. A cancellation during decoding has this phase too.
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

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The kind of error.
    ///   - phase: The phase in which the request failed.
    ///   - reason: A sentence with facts that the code doesn't contain; without secrets.
    ///   - request: The request that was sent, if one had been made.
    ///   - response: The head of the response, if one was received.
    ///   - body: The content that was received, as far as it was kept.
    ///   - transfers: The transfers so far.
    ///   - underlying: The error behind this one.
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
    /// A ``RequestError`` stays unchanged; every other error becomes the underlying one of a new error, with the code
    /// `other` unless the library knows a better one.
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

    /// Wraps an error of a body's encoding: the code is `encoding`, unless the error has a more specific one.
    init(encoding error: any Error) {
        let wrapped = RequestError(error)
        self = wrapped.code == .other ? RequestError(.encoding, phase: .building, underlying: error) : wrapped
    }

    /// Wraps an error of a body that is read while it is sent.
    init(ofBody error: any Error) {
        let isInvalid = error is InvalidValue
        self = isInvalid ? .init(.invalidRequest, phase: .sending, underlying: error) : .init(error)
    }

    private init(_ code: Code, phase: Phase, _ details: Details) {
        self.code = code
        self.phase = phase
        self.details = Box(details)
    }

    /// Whether no part of the operation's request has reached a server in the last attempt, so that any method can be
    /// retried.
    ///
    /// True if no connection could be made for any of the attempt's transfers. False for an error that isn't the
    /// failure of an operation.
    public var wasNotSent: Bool { details.value.wasNotSent }

    /// A sentence with facts that the code doesn't contain.
    public var reason: String? { details.value.reason }
    /// The request that was sent, or that an interceptor failed to complete with a ``RequestError``; `nil` if there was
    /// none yet.
    public var request: HTTPRequest? { details.value.request }
    /// The head of the response; `nil` if none was received.
    public var response: HTTPResponseHead? { details.value.response }
    /// The content of the response, up to the environment's limit for error bodies; empty without a response.
    public var body: Data { details.value.body }
    /// The transfers so far: the first one, redirects and retries.
    ///
    /// Of more than 100, it has the first one and the last 99.
    public var transfers: [TransferRecord] { details.value.transfers }
    /// The error behind this one, such as a `URLError` or a `DecodingError`.
    public var underlying: (any Error)? { details.value.underlying }

    /// The type of the interceptor that has thrown the underlying error; `nil` if it came from elsewhere.
    public var interceptor: String? { details.value.interceptor }

    /// Returns the same error, as one of an interceptor.
    func thrown(by interceptor: String?) -> RequestError {
        changed { $0.interceptor = interceptor ?? $0.interceptor }
    }

    /// Returns the same error, with another cause.
    func caused(by underlying: any Error) -> RequestError { changed { $0.underlying = underlying } }

    /// Returns the same error; for a timeout without a reason, with the timeout as the reason.
    func explained(byTimeout timeout: Duration?) -> RequestError {
        guard code == .timedOut, reason == nil else { return self }
        let limit = timeout.map { "\($0)" } ?? "as long as the transport waits, by default 60 seconds"
        return changed { $0.reason = "no data for \(limit)" }
    }

    /// Returns the same error with the facts that a transport can't know: the request, the response and the transfers.
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
    /// Returns whether an error has a code: `if error == .offline { … }`.
    public static func == (error: RequestError, code: Code) -> Bool { error.code == code }

    /// Returns whether an error has another code.
    public static func != (error: RequestError, code: Code) -> Bool { error.code != code }
}

// MARK: - Kinds

/// The distinctions for messages to users: there is no connection, or a login is needed.
extension RequestError {
    /// Whether the connection failed: there is no network, or the server doesn't answer, or not in time.
    ///
    /// True for the codes `offline`, `cannotConnect`, `connectionLost` and `timedOut`, even if that is the reason for
    /// the failure of a condition, a dependency or a refresh. A peer that isn't trusted, or whose response is invalid,
    /// was reached.
    public var isConnectivityError: Bool {
        switch code {
        case .conditionFailed, .dependencyFailed, .authenticationFailed:
            (underlying as? RequestError)?.isConnectivityError ?? false
        default: code.kind == .transient
        }
    }

    /// Whether the server requires a login: the status is 401, or there is no credential to send.
    ///
    /// A failed refresh counts if it was refused, by a 401 or by the error `invalid_grant` of OAuth. After any other
    /// failure, such as a lost connection or a 503, the credential may still be valid. A 403 of the request itself
    /// doesn't count, since no login changes it: the server knows the user (RFC 9110, 15.5.2 and 15.5.4).
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
    /// Whether the server has refused to renew a credential: with 401, or with the error `invalid_grant` of OAuth (RFC
    /// 6749, 5.2), but not with another of its errors, which are about the client.
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
    /// Converts an error of `URLSession`; it stays as the underlying one.
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
        // On Linux, this code stands only for libcurl's "got nothing": the connection ended before the first byte.
        case .badServerResponse: self = .connectionLost
        #else
        case .badServerResponse: self = .badResponse
        #endif
        case .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData: self = .badResponse
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired:
            self = .untrusted
        case .badURL, .unsupportedURL: self = Self.ofLinuxText(error) ?? .invalidRequest
        default: self = Self.ofLinuxText(error) ?? .other
        }
    }

    /// On Linux, libcurl's failures without a code in Foundation are reported as "unknown" or "unsupported URL", and
    /// only their text distinguishes them.
    private static func ofLinuxText(_ error: URLError) -> RequestError.Code? {
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
    /// A mirror of the description: `dump` would print content, and the contents of other errors.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["code": code, "phase": phase, "description": description, "transfers": transfers.count],
            displayStyle: .struct
        )
    }
}
