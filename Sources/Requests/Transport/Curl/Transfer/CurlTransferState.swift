// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// The state of one transfer's response: it turns libcurl's callbacks into the events of a transport.
///
/// It has no effects, and no handle. It covers three things that libcurl leaves to its users: a head without its empty
/// line is no response, though libcurl counts it as success; lines behind the head are trailers; and all parts are
/// limited.
struct CurlTransferState: Sendable {
    /// The maximum sizes of the parts of a response.
    struct Limits: Sendable {
        /// The bytes of one head.
        var head = 256 * 1024
        /// The lines of one head.
        var headLines = 1_000
        /// The number of responses before the final one (RFC 9110, 15.2).
        var informational = 100
        /// The bytes of the content, decoded.
        var body = Int.max
    }

    /// The reason why a transfer was stopped from this side.
    enum Stop: Sendable, Hashable {
        case cancelled
        case timedOut
        /// No connection was made in time, by this transfer or by those that it waited for.
        case unconnected
        case headTooLarge
        case bodyTooLarge
        case badContent(ContentDecoder.Failure)
        case badFraming(ResponseFraming.Flaw)
        /// The content of the request was too short, or couldn't be read.
        case bodyFailed
        /// The content of the request didn't come in time.
        case bodyStalled
        case transportClosed
        case processEnds
        /// The connection isn't to be used.
        case untrusted(TrustFailure)
        /// The request would be sent a second time, which may do harm.
        case resent
        /// The peer has ended the connection before the content of the request ended.
        case peerEnded
        /// The peer sends without end, but nothing that belongs to a response.
        case flooded
    }

    /// The result of a line of a head, or of a piece of content.
    enum Reception: Sendable {
        /// No event yet.
        case more
        /// An event.
        case event(TransferEvent)
        /// An event that completes the response: the transfer has to end.
        case last(TransferEvent)
        /// The transfer has to end.
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
    private let isHead: Bool
    private let decodesContent: Bool
    /// The codings of the content, to be decoded.
    private(set) var codings: [ContentCoding] = []
    private var phase = Phase.head
    private var head: [UInt8] = []
    private var headLines = 0
    private var framingLines = FramingLines()
    /// The lines behind the content, unparsed.
    private var trailerLines: [UInt8] = []
    private var trailerCount = 0
    /// Whether the response is one of HTTP/1.0 or 1.1, whose connection carries nothing else.
    private(set) var isHTTP1 = false
    private var wasSent = false
    /// The number of times it was sent.
    private(set) var sends = 0
    /// Whether the server hasn't processed the last request.
    private(set) var isRefused = false
    private var informational = 0
    /// The head of a proxy's answer, as far as it was received.
    private var tunnelHead: [UInt8] = []
    private var received = 0
    private var framing = ResponseFraming()
    /// The number of content bytes received, before decoding.
    private var arrived: Int64 = 0

    /// Whether the response is complete by itself.
    private var isComplete = false
    /// Whether libcurl has read the end of the response, and waits for the content of the request.
    private var hasResponse = false
    /// What the response says of the end of its connection.
    private(set) var keepAlive: KeepAliveLimit?
    private let requiresAnnouncedEnd: Bool
    /// Whether the end of the connection may be that of the content: the peer has announced it, or needn't.
    private var isEndAnnounced: Bool

    /// Whether the content has the announced length.
    private var isWhole: Bool { framing.length == nil || framing.length == arrived }
    private(set) var stopped: Stop?

    /// - Parameters:
    ///   - url: The address of the response.
    ///   - limits: The maximum sizes of its parts.
    ///   - endsWithHead: Whether no content follows the head, whatever that announces, and libcurl doesn't know it.
    ///   - hasContent: Whether the request has content, which may still be on its way when the response is complete.
    ///   - isHead: Whether the request is a HEAD.
    ///   - decodesContent: Whether the content of the response is decoded.
    ///   - requiresAnnouncedEnd: Whether content that ends with the connection is complete only if the peer announces
    ///     that.
    init(
        url: URL,
        limits: Limits,
        endsWithHead: Bool = false,
        hasContent: Bool = false,
        isHead: Bool = false,
        decodesContent: Bool = true,
        requiresAnnouncedEnd: Bool = false
    ) {
        self.url = url
        self.hasContent = hasContent
        self.isHead = isHead
        self.decodesContent = decodesContent
        self.requiresAnnouncedEnd = requiresAnnouncedEnd
        isEndAnnounced = !requiresAnnouncedEnd
        self.limits = limits
        self.endsWithHead = endsWithHead
    }

    /// Takes a line of a head, or a trailer.
    mutating func receiveLine(_ line: UnsafeRawBufferPointer) -> Reception {
        guard stopped == nil else { return .abort }
        guard phase == .head else { return receiveTrailer(line) }
        headLines += 1
        isRefused = false
        guard head.count + line.count <= limits.head, headLines <= limits.headLines else { return abort(.headTooLarge) }
        // Most heads grow to this size, line by line.
        if head.isEmpty { head.reserveCapacity(512) }
        head.append(contentsOf: line)
        guard line.isEmptyLine else {
            framingLines.receive(line)
            return .more
        }
        return endHead()
    }

    private mutating func receiveTrailer(_ line: UnsafeRawBufferPointer) -> Reception {
        trailerCount += 1
        guard trailerLines.count + line.count <= limits.head, trailerCount <= limits.headLines else {
            return abort(.headTooLarge)
        }
        trailerLines.append(contentsOf: line)
        return .more
    }

    /// The fields behind the content; `nil` without trailers, and until the response is complete.
    var trailers: HTTPHeaders? {
        guard isComplete, !trailerLines.isEmpty else { return nil }
        // An empty line in the place of the status.
        let fields = HTTPHeaders(rawHead: [UInt8](" \n".utf8) + trailerLines)
        return fields.isEmpty ? nil : fields
    }

    private mutating func endHead() -> Reception {
        guard let status = Self.status(of: head) else { return abort(.badFraming(.invalidStatus)) }
        let response = HTTPResponseHead(status: HTTPStatus(status), raw: head, url: url)
        isHTTP1 = head.starts(with: "HTTP/1".utf8)
        defer { framingLines = FramingLines() }
        (head, headLines) = ([], 0)
        guard response.status.category == .informational, response.status != .switchingProtocols else {
            do throws(ResponseFraming.Flaw) {
                framing = try ResponseFraming(response, framingLines, isHeadRequest: isHead || endsWithHead)
            } catch {
                return abort(.badFraming(error))
            }
            if isHTTP1 { keepAlive = KeepAliveLimit(response) }
            if decodesContent { codings = ContentCoding.codings(of: response) }
            let isLast = endsWithHead || framing.isLengthIgnoredByCurl && framing.length == 0
            phase = isLast ? .complete : .body
            return isLast ? .last(.head(response)) : .event(.head(response))
        }
        informational += 1
        return informational <= limits.informational ? .event(.informational(response)) : abort(.headTooLarge)
    }

    /// Returns how many of the received bytes are content.
    func contentCount(of count: Int) -> Int {
        guard framing.isLengthIgnoredByCurl, let length = framing.length else { return count }
        return Int(min(Int64(count), length - arrived))
    }

    /// Records received content, before it is decoded; `false` if the response is complete with it, and the transfer
    /// has to end.
    mutating func arrive(_ count: Int) -> Bool {
        arrived += Int64(count)
        guard phase == .body, framing.isLengthIgnoredByCurl, arrived == framing.length else { return phase == .body }
        phase = .complete
        return false
    }

    /// Takes a piece of the content, decoded; the caller copies the bytes where they are to be delivered.
    mutating func receiveBody(_ count: Int) -> Bool {
        guard stopped == nil, phase == .body else { return false }
        guard count <= limits.body - received else {
            stopped = .bodyTooLarge
            return false
        }
        received += count
        return true
    }

    /// Whether the request may be sent, now that there is a connection for it.
    ///
    /// libcurl sends it once more if a kept connection turns out to be closed. The server may have processed it before
    /// closing, so the caller has to decide, unless repeating it does no harm (RFC 9110, 9.2.2). libcurl also sends it
    /// again if a server has refused an expectation (RFC 9110, 10.1.1), which is a response.
    ///
    /// - Parameters:
    ///   - isIdempotent: Whether repeating it does no harm.
    ///   - hasSentBytes: Whether anything was sent before.
    /// - Returns: Whether it may be sent.
    mutating func send(isIdempotent: Bool, hasSentBytes: Bool = true) -> Bool {
        defer { (wasSent, isRefused, sends) = (true, false, sends + 1) }
        // An earlier connection may have announced its own end.
        isEndAnnounced = !requiresAnnouncedEnd
        guard stopped == nil else { return false }
        if phase == .body {
            phase = .complete
            return false
        }
        guard wasSent, hasSentBytes, !isIdempotent else { return phase != .complete }
        stopped = .resent
        return false
    }

    /// Records that the server hasn't processed the request, and won't (RFC 9113, 8.7): it may be sent again.
    mutating func recordRefusal() {
        guard stopped == nil, phase == .head, headLines == 0 else { return }
        (wasSent, isRefused) = (false, true)
    }

    /// Whether the head of the response has been received.
    var hasHead: Bool { phase != .head }

    /// Records that libcurl has read the end of the response, while the content of the request goes on.
    mutating func endResponse() { hasResponse = true }

    /// Whether content that ends with the connection is complete.
    ///
    /// Anyone who can end the TCP connection could cut the content, unless TLS announces the end (RFC 9112, 9.8).
    private var mayEndWithConnection: Bool { isEndAnnounced || !isHTTP1 || !framing.endsWithConnection }

    /// Whether the response is complete, now that the connection has ended.
    ///
    /// Only libcurl knows the last chunk, and it can't be asked.
    private var isWholeWithConnection: Bool {
        guard phase == .body, !hasResponse else { return hasResponse }
        if let length = framing.length { return length == arrived }
        return isHTTP1 && !framing.isChunked && mayEndWithConnection
    }

    /// Whether nothing of a response has been received, and the transfer isn't stopped.
    var isUnanswered: Bool { phase == .head && headLines == 0 && stopped == nil }

    /// Prepares the transfer to be sent again after a failure; `false` if it isn't certain that the server hasn't
    /// processed it.
    ///
    /// - Parameter wasSentInPart: Whether any part of the request was sent.
    /// - Returns: Whether it may be sent again.
    mutating func beginAgain(wasSentInPart: Bool = true) -> Bool {
        defer { isRefused = false }
        return isRefused || !wasSentInPart
    }

    /// Takes a line of a proxy's answer to the request for a tunnel; `nil` when it is requested.
    mutating func receiveTunnelLine(_ line: UnsafeRawBufferPointer?) {
        guard let line else { return tunnelHead.removeAll() }
        guard tunnelHead.count + line.count <= limits.head else { return }
        tunnelHead.append(contentsOf: line)
    }

    /// Records that the peer has announced the end of its data, over TLS.
    mutating func announceEnd() { isEndAnnounced = true }

    /// Stops the transfer from this side; `false` if it has ended, or is already ending.
    mutating func stop(_ reason: Stop) -> Bool {
        guard phase != .ended, stopped == nil else { return false }
        stopped = reason
        return true
    }

    /// Takes the result of the transfer, and returns the terminal event; `nil` if there was one.
    ///
    /// - Parameters:
    ///   - result: libcurl's result.
    ///   - isTruncated: Whether the content has ended inside its coding.
    /// - Returns: The event.
    mutating func end(_ result: CurlResult, isTruncated: Bool = false) -> TransferEvent? {
        guard phase != .ended else { return nil }
        let errorPhase: RequestError.Phase = phase == .head ? .sending : .receiving
        defer { phase = .ended }
        // If both sides had a reason to end, this one's was first: libcurl only reports that it was stopped.
        if let stopped {
            guard stopped == .peerEnded, isWholeWithConnection else {
                return .end(error(of: stopped, phase: errorPhase))
            }
            isComplete = !isTruncated
            return .end(isTruncated ? self.error(of: .badContent(.truncated), phase: errorPhase) : nil)
        }
        if phase == .complete { return .end(isTruncated ? self.error(of: .badContent(.truncated), phase: errorPhase) : nil) }
        let isWholeByLength = isWhole && framing.length != nil
        let wasComplete =
            phase == .body && hasContent && isWhole
            && result.saysStreamWasComplete(isWholeByLength: isWholeByLength)
        if result.isTunnelRefused {
            let head = HTTPResponseHead(status: HTTPStatus(result.tunnelStatus), raw: tunnelHead, url: url)
            let error = result.error(phase: errorPhase)
            return .end(error?.withContext(request: nil, response: head, body: Data(), transfers: []))
        }
        if !wasComplete, let error = result.error(phase: errorPhase) { return .end(error) }
        guard phase == .body else { return .end(cutHead) }
        guard mayEndWithConnection else {
            let reason = "the connection ended without a close_notify, which alone tells that the content is complete"
            return .end(error(.connectionLost, .receiving, .networkConnectionLost, reason))
        }
        isComplete = !isTruncated
        return .end(isTruncated ? self.error(of: .badContent(.truncated), phase: errorPhase) : nil)
    }

    private var cutHead: RequestError {
        error(.connectionLost, .receiving, .networkConnectionLost, "the connection ended in the middle of the head")
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
        case .unconnected:
            return error(.timedOut, phase, .timedOut, "no connection was made in time")
        case .headTooLarge:
            let reason = "the head of the response is larger than the limit"
            return error(.headTooLarge, .receiving, .dataLengthExceedsMaximum, reason)
        case .bodyTooLarge:
            return error(.bodyTooLarge, .receiving, .dataLengthExceedsMaximum, "more than \(limits.body) bytes")
        case .badContent(let failure):
            return error(.badResponse, .receiving, .cannotDecodeContentData, "\(failure)")
        case .badFraming(let flaw):
            return error(.badResponse, .receiving, .badServerResponse, "\(flaw)")
        case .bodyFailed:
            return RequestError(.invalidRequest, phase: .sending, underlying: HTTPBody.Stream.wrongLength)
        case .bodyStalled:
            return error(.timedOut, .sending, .timedOut, "the body of the request gave no bytes")
        case .peerEnded where headLines > 0:
            return cutHead
        case .peerEnded where phase == .receiving:
            return error(.connectionLost, phase, .networkConnectionLost, "the connection ended before the response did")
        case .resent, .peerEnded:
            let reason = "the connection was closed before a response came"
            return error(.connectionLost, phase, .networkConnectionLost, reason)
        case .flooded:
            let reason = "the server sends without end, but no content"
            return error(.badResponse, phase, .badServerResponse, reason)
        case .untrusted(let trustFailure):
            return RequestError(trustFailure, phase: .sending)
        case .transportClosed:
            return RequestError(.cancelled, phase: phase, reason: "the transport was closed")
        case .processEnds:
            return RequestError(.closed, phase: phase, reason: "the process ends")
        }
    }

    private mutating func abort(_ reason: Stop) -> Reception {
        stopped = reason
        return .abort
    }

    /// The code of a status line: the digits after the first space; `nil` unless they are three without a leading zero.
    ///
    /// Some releases of libcurl accept other codes.
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
