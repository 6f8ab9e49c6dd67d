// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// The state of one response, which translates libcurl's callbacks into transport events.
///
/// The state has no side effects and no handle. It implements three rules that libcurl leaves to its users. A head
/// without its final empty line isn't a response, although libcurl reports success. Lines after the content are
/// trailers. All parts have maximum sizes.
struct CurlTransferState: Sendable {
    /// The maximum sizes of the parts of a response.
    struct Limits: Sendable {
        /// The maximum byte count of one head.
        var head = 256 * 1024
        /// The maximum number of lines in one head.
        var headLines = 1_000
        /// The maximum number of informational responses (RFC 9110, 15.2).
        var informational = 100
        /// The maximum byte count of the decoded content.
        var body = Int.max
    }

    /// The reason why a transfer was stopped from this side.
    enum Stop: Sendable, Hashable {
        case cancelled
        case timedOut
        /// No connection was established in time, by this transfer or by the transfers that it waited for.
        case connectTimedOut
        case headTooLarge
        case bodyTooLarge
        case badContent(ContentDecoder.Failure)
        case badFraming(ResponseFraming.Flaw)
        /// The content of the request was too short, or couldn't be read.
        case bodyFailed
        /// The content of the request didn't arrive in time.
        case bodyStalled
        case transportClosed
        case processEnds
        /// The connection must not be used.
        case untrusted(TrustFailure)
        /// libcurl would resend the request, although a repetition may do harm.
        case unsafeResend
        /// The peer closed the connection before the content of the request ended.
        case peerEnded
        /// The peer keeps sending data that doesn't belong to a response.
        case flooded
    }

    /// The result of processing a line of a head or a trailer.
    enum LineResult: Sendable {
        /// No event yet.
        case more
        case event(TransferEvent)
        /// An event that completes the response, after which the transfer must end.
        case last(TransferEvent)
        /// The transfer must end.
        case abort
    }

    private enum Phase: Sendable, Hashable {
        case head
        case body
        /// The response ended with its head.
        case complete
        case ended
    }

    private let url: URL
    private let limits: Limits
    private let endsWithHead: Bool
    private let hasContent: Bool
    private let isHeadRequest: Bool
    private let decodesContent: Bool
    /// The codings from which the content must be decoded.
    private(set) var codings: [ContentCoding] = []
    private var phase = Phase.head
    private var head: [UInt8] = []
    private var headLines = 0
    private var ambiguityDetector = AmbiguousFieldDetector()
    /// The lines after the content, unparsed.
    private var trailerLines: [UInt8] = []
    private var trailerCount = 0
    /// Whether the response uses HTTP/1.0 or 1.1, and therefore doesn't share its connection.
    private(set) var isHTTP1 = false
    private var wasSent = false
    /// The number of times the request was sent.
    private(set) var sendCount = 0
    /// Whether the server has stated that it didn't process the last request.
    private(set) var isRefused = false
    private var informationalCount = 0
    /// The head of the proxy's response to the tunnel request, possibly incomplete.
    private var proxyHead: [UInt8] = []
    private var decodedCount = 0
    private var framing = ResponseFraming()
    /// The number of content bytes received, before decoding.
    private var encodedCount: Int64 = 0

    /// Whether the response has ended regularly, in which case its trailers are valid.
    private var isComplete = false
    /// Whether libcurl has read the end of the response, and waits for the content of the request.
    private var hasReadResponseEnd = false
    /// The limits for reusing the connection, as announced by the response; `nil` if it announces none.
    private(set) var keepAlive: KeepAliveLimit?
    private let requiresCloseNotify: Bool
    /// Whether the end of the connection counts as the end of the content, because the peer has sent a `close_notify`
    /// or needn't send one.
    private var acceptsConnectionEnd: Bool

    /// Whether the content has the declared length, if there is one.
    private var matchesAnnouncedLength: Bool { framing.length == nil || framing.length == encodedCount }
    private(set) var stopped: Stop?

    /// - Parameters:
    ///   - url: The URL of the response.
    ///   - limits: The maximum sizes of the parts of the response.
    ///   - endsWithHead: Whether the response ends with its head although libcurl would wait for content, as for a
    ///     HEAD request with a body.
    ///   - hasContent: Whether the request has content, which may still be in flight when the response is complete.
    ///   - isHeadRequest: Whether the request is a HEAD.
    ///   - decodesContent: Whether the content of the response is decoded.
    ///   - requiresCloseNotify: Whether content that ends with the connection is complete only after a `close_notify`.
    init(
        url: URL,
        limits: Limits,
        endsWithHead: Bool = false,
        hasContent: Bool = false,
        isHeadRequest: Bool = false,
        decodesContent: Bool = true,
        requiresCloseNotify: Bool = false
    ) {
        self.url = url
        self.hasContent = hasContent
        self.isHeadRequest = isHeadRequest
        self.decodesContent = decodesContent
        self.requiresCloseNotify = requiresCloseNotify
        acceptsConnectionEnd = !requiresCloseNotify
        self.limits = limits
        self.endsWithHead = endsWithHead
    }

    /// Processes a line of a head, or a trailer.
    mutating func receiveLine(_ line: UnsafeRawBufferPointer) -> LineResult {
        guard stopped == nil else { return .abort }
        guard phase == .head else { return receiveTrailer(line) }
        headLines += 1
        isRefused = false
        guard head.count + line.count <= limits.head, headLines <= limits.headLines else { return abort(.headTooLarge) }
        // Most heads grow to this size, line by line.
        if head.isEmpty { head.reserveCapacity(512) }
        head.append(contentsOf: line)
        guard line.isEmptyLine else {
            ambiguityDetector.receive(line)
            return .more
        }
        return endHead()
    }

    private mutating func receiveTrailer(_ line: UnsafeRawBufferPointer) -> LineResult {
        trailerCount += 1
        guard trailerLines.count + line.count <= limits.head, trailerCount <= limits.headLines else {
            return abort(.headTooLarge)
        }
        trailerLines.append(contentsOf: line)
        return .more
    }

    /// The trailer fields; `nil` if there are none, and until the response is complete.
    var trailers: HTTPHeaders? {
        guard isComplete, !trailerLines.isEmpty else { return nil }
        // The parser expects a status line, so start with an empty one.
        let fields = HTTPHeaders(rawHead: [UInt8](" \n".utf8) + trailerLines)
        return fields.isEmpty ? nil : fields
    }

    private mutating func endHead() -> LineResult {
        guard let status = Self.status(of: head) else { return abort(.badFraming(.invalidStatus)) }
        let response = HTTPResponseHead(status: HTTPStatus(status), raw: head, url: url)
        isHTTP1 = head.starts(with: "HTTP/1".utf8)
        defer { ambiguityDetector = AmbiguousFieldDetector() }
        (head, headLines) = ([], 0)
        guard response.status.category == .informational, response.status != .switchingProtocols else {
            do throws(ResponseFraming.Flaw) {
                framing = try ResponseFraming(response, ambiguityDetector, isHeadRequest: isHeadRequest || endsWithHead)
            } catch {
                return abort(.badFraming(error))
            }
            if isHTTP1 { keepAlive = KeepAliveLimit(response) }
            if decodesContent { codings = ContentCoding.codings(of: response) }
            let isLast = endsWithHead || framing.isLengthIgnoredByCurl && framing.length == 0
            phase = isLast ? .complete : .body
            return isLast ? .last(.head(response)) : .event(.head(response))
        }
        informationalCount += 1
        return informationalCount <= limits.informational ? .event(.informational(response)) : abort(.headTooLarge)
    }

    /// Returns how many of the received bytes are content.
    func contentCount(of count: Int) -> Int {
        guard framing.isLengthIgnoredByCurl, let length = framing.length else { return count }
        return Int(min(Int64(count), length - encodedCount))
    }

    /// Counts received content before it is decoded; returns `false` if the response is now complete and the transfer
    /// must end.
    mutating func receiveEncoded(_ count: Int) -> Bool {
        encodedCount += Int64(count)
        guard phase == .body, framing.isLengthIgnoredByCurl, encodedCount == framing.length else {
            return phase == .body
        }
        phase = .complete
        return false
    }

    /// Counts decoded content, which the caller then delivers; returns `false` if the content must be rejected.
    mutating func receiveBody(_ count: Int) -> Bool {
        guard stopped == nil, phase == .body else { return false }
        guard count <= limits.body - decodedCount else {
            stopped = .bodyTooLarge
            return false
        }
        decodedCount += count
        return true
    }

    /// Returns whether the request may be sent, now that there is a connection for it.
    ///
    /// libcurl resends a request if a reused connection turns out to be closed. The server may have processed the
    /// request before it closed the connection. So only the library's caller can decide about a retry, unless the
    /// request is idempotent (RFC 9110, 9.2.2). libcurl also resends a request if the server has rejected an
    /// expectation (RFC 9110, 10.1.1). This library doesn't allow that, but treats the rejection as the response.
    ///
    /// - Parameters:
    ///   - isIdempotent: Whether a repetition does no harm.
    ///   - hasSentBytes: Whether any bytes were sent before.
    /// - Returns: Whether the request may be sent.
    mutating func shouldSend(isIdempotent: Bool, hasSentBytes: Bool = true) -> Bool {
        defer { (wasSent, isRefused, sendCount) = (true, false, sendCount + 1) }
        // A `close_notify` of an earlier connection doesn't count for the new connection.
        acceptsConnectionEnd = !requiresCloseNotify
        guard stopped == nil else { return false }
        if phase == .body {
            phase = .complete
            return false
        }
        guard wasSent, hasSentBytes, !isIdempotent else { return phase != .complete }
        stopped = .unsafeResend
        return false
    }

    /// Records that the server hasn't processed the request, and never will (RFC 9113, 8.7), so that the request may be
    /// sent again.
    mutating func recordRefusal() {
        guard stopped == nil, phase == .head, headLines == 0 else { return }
        (wasSent, isRefused) = (false, true)
    }

    /// Whether the head of the final response has been received.
    var hasHead: Bool { phase != .head }

    /// Records that libcurl has read the end of the response before the end of the request's content.
    mutating func didReadResponseEnd() { hasReadResponseEnd = true }

    /// Whether content that ends with the connection is complete.
    ///
    /// Anyone who can close the TCP connection could truncate the content, unless TLS announces the end of the data
    /// (RFC 9112, 9.8).
    private var mayEndWithConnection: Bool { acceptsConnectionEnd || !isHTTP1 || !framing.endsWithConnection }

    /// Whether the response is complete, now that the connection has ended.
    ///
    /// Chunked content counts as incomplete, because only libcurl knows whether the last chunk has arrived, and it
    /// doesn't report that.
    private var isCompleteAtConnectionEnd: Bool {
        guard phase == .body, !hasReadResponseEnd else { return hasReadResponseEnd }
        if let length = framing.length { return length == encodedCount }
        return isHTTP1 && !framing.isChunked && mayEndWithConnection
    }

    /// Whether no part of a response has been received, and the transfer isn't stopped.
    var isAwaitingResponse: Bool { phase == .head && headLines == 0 && stopped == nil }

    /// Prepares the transfer to be sent again after a failure.
    ///
    /// - Parameter wasSentInPart: Whether any part of the request was sent.
    /// - Returns: Whether the transfer may be sent again, because the server certainly hasn't processed it.
    mutating func prepareResend(wasSentInPart: Bool = true) -> Bool {
        defer { isRefused = false }
        return isRefused || !wasSentInPart
    }

    /// Receives a line of the proxy's response to a tunnel request; with `nil`, discards all lines before a new tunnel
    /// request.
    mutating func receiveTunnelLine(_ line: UnsafeRawBufferPointer?) {
        guard let line else { return proxyHead.removeAll() }
        guard proxyHead.count + line.count <= limits.head else { return }
        proxyHead.append(contentsOf: line)
    }

    /// Records that the peer has sent a `close_notify` over TLS.
    mutating func didReceiveCloseNotify() { acceptsConnectionEnd = true }

    /// Stops the transfer from this side; returns `false` if it has ended, or is already ending.
    mutating func stop(_ reason: Stop) -> Bool {
        guard phase != .ended, stopped == nil else { return false }
        stopped = reason
        return true
    }

    /// Ends the transfer with libcurl's result, and returns the final event; `nil` if it has already ended.
    ///
    /// - Parameters:
    ///   - result: libcurl's result.
    ///   - isTruncated: Whether the content ended before its encoding was complete.
    /// - Returns: The event.
    mutating func end(_ result: CurlResult, isTruncated: Bool = false) -> TransferEvent? {
        guard phase != .ended else { return nil }
        let errorPhase: RequestError.Phase = phase == .head ? .sending : .receiving
        defer { phase = .ended }
        // If this side has stopped the transfer, ignore libcurl's result, which only says that the transfer was
        // stopped.
        if let stopped {
            guard stopped == .peerEnded, isCompleteAtConnectionEnd else {
                return .end(error(of: stopped, phase: errorPhase))
            }
            isComplete = !isTruncated
            return .end(isTruncated ? self.error(of: .badContent(.truncated), phase: errorPhase) : nil)
        }
        if phase == .complete {
            return .end(isTruncated ? self.error(of: .badContent(.truncated), phase: errorPhase) : nil)
        }
        let isCompleteByLength = matchesAnnouncedLength && framing.length != nil
        let wasComplete =
            phase == .body && hasContent && matchesAnnouncedLength
            && result.indicatesCompleteStream(isCompleteByLength: isCompleteByLength)
        if result.isTunnelRefused {
            let head = HTTPResponseHead(status: HTTPStatus(result.tunnelStatus), raw: proxyHead, url: url)
            let error = result.error(phase: errorPhase)
            return .end(error?.withContext(request: nil, response: head, body: Data(), transfers: []))
        }
        if !wasComplete, let error = result.error(phase: errorPhase) { return .end(error) }
        guard phase == .body else { return .end(truncatedHeadError) }
        guard mayEndWithConnection else {
            let reason = "the connection was closed without a TLS close_notify, so the content may be incomplete"
            return .end(error(.connectionLost, .receiving, .networkConnectionLost, reason))
        }
        isComplete = !isTruncated
        return .end(isTruncated ? self.error(of: .badContent(.truncated), phase: errorPhase) : nil)
    }

    private var truncatedHeadError: RequestError {
        let reason = "the connection was closed in the middle of the response head"
        return error(.connectionLost, .receiving, .networkConnectionLost, reason)
    }

    private func error(
        _ code: RequestError.Code,
        _ phase: RequestError.Phase,
        _ urlCode: URLError.Code,
        _ reason: String? = nil
    ) -> RequestError {
        RequestError(code, phase: phase, reason: reason, underlying: URLError(urlCode))
    }

    private func error(of stop: Stop, phase: RequestError.Phase) -> RequestError {
        switch stop {
        case .cancelled:
            return RequestError(.cancelled, phase: phase)
        case .timedOut:
            return error(.timedOut, phase, .timedOut)
        case .connectTimedOut:
            return error(.timedOut, phase, .timedOut, "no connection was established in time")
        case .headTooLarge:
            let reason = "the response head exceeds the limit"
            return error(.headTooLarge, .receiving, .dataLengthExceedsMaximum, reason)
        case .bodyTooLarge:
            return error(
                .bodyTooLarge,
                .receiving,
                .dataLengthExceedsMaximum,
                "the content exceeds \(limits.body) bytes"
            )
        case .badContent(let failure):
            return error(.badResponse, .receiving, .cannotDecodeContentData, "\(failure)")
        case .badFraming(let flaw):
            return error(.badResponse, .receiving, .badServerResponse, "\(flaw)")
        case .bodyFailed:
            return RequestError(.invalidRequest, phase: .sending, underlying: HTTPBody.Stream.wrongLength)
        case .bodyStalled:
            return error(.timedOut, .sending, .timedOut, "the request body provided no data")
        case .peerEnded where headLines > 0:
            return truncatedHeadError
        case .peerEnded where phase == .receiving:
            let reason = "the connection was closed before the response was complete"
            return error(.connectionLost, phase, .networkConnectionLost, reason)
        case .unsafeResend, .peerEnded:
            let reason = "the connection was closed before a response arrived"
            return error(.connectionLost, phase, .networkConnectionLost, reason)
        case .flooded:
            let reason = "the server keeps sending data, but no content"
            return error(.badResponse, phase, .badServerResponse, reason)
        case .untrusted(let trustFailure):
            return RequestError(trustFailure, phase: .sending)
        case .transportClosed:
            return RequestError(.cancelled, phase: phase, reason: "the transport was closed")
        case .processEnds:
            return RequestError(.closed, phase: phase, reason: "the process is exiting")
        }
    }

    private mutating func abort(_ reason: Stop) -> LineResult {
        stopped = reason
        return .abort
    }

    /// Returns the status code of a status line: the digits after the first space.
    ///
    /// The result is `nil` unless there are exactly three digits and the first isn't zero. Some releases of libcurl
    /// accept other codes.
    private static func status(of head: [UInt8]) -> Int? {
        let digits = head.drop { $0 != UInt8(ascii: " ") }.dropFirst().prefix(while: ASCII.isDigit)
        guard digits.count == 3, digits.first != UInt8(ascii: "0") else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate var isEmptyLine: Bool {
        switch count {
        case 1: self[0] == UInt8(ascii: "\n")
        case 2: self[0] == UInt8(ascii: "\r") && self[1] == UInt8(ascii: "\n")
        default: false
        }
    }
}
#endif
