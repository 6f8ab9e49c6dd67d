// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A response to one request as a sequence of steps, which a transport reports as events.
struct StubPlan: Sendable {
    enum Step: Sendable {
        case head(HTTPStatus, HTTPHeaders)
        /// A part of the content.
        case content(ContentFragments)
        /// Something that happens to the delivery, and the phase in which it does.
        case action(StubResponse.Action, RequestError.Phase)
        /// The end of the content, with the fields behind it; `nil` if it isn't in the `chunked` coding.
        case finish(trailers: HTTPHeaders?)
    }

    private(set) var steps: [Step] = []
    private var phase = RequestError.Phase.sending
    /// The number of bytes of the content in the steps.
    private var count = 0

    /// Makes the plan of a response.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - request: The request, with its whole content.
    ///   - serverCloses: Whether the server closes the connection afterwards; `nil` if there is no server.
    /// - Throws: Any error of making the content; a `RequestError` of code `unsupported` if the response is one for a
    ///   server only.
    init(_ response: StubResponse, to request: ReceivedRequest, serverCloses: Bool? = nil) throws {
        if serverCloses == nil { try response.requireNoServer() }
        let closes = serverCloses ?? response.closes
        var events = response.events[...]
        guard append(&events, upTo: StubResponse.Event.start) else { return }
        if case .raw(let pieces) = response.content {
            if append(pieces, isChunked: false, response.pace, &events) { _ = append(&events, upTo: .max) }
            return
        }
        guard let status = response.status else { return }
        let (chunks, trailers) = try response.content.chunks(for: request)
        let length = trailers == nil ? chunks.reduce(0) { $0 + $1.count } : nil
        let headers = response.headers(for: request, status, length: length, closes: closes)
        steps.append(.head(status, headers))
        phase = .receiving
        let hasContent = request.method != .head && status.mayHaveContent
        if hasContent {
            guard append(chunks, isChunked: trailers != nil, response.pace, &events) else { return }
        }
        // A client that has received the whole length doesn't notice how the connection ends, nor anything after that.
        let promised = hasContent ? headers[.contentLength].flatMap { Int($0) } ?? 0 : 0
        if serverCloses == nil, trailers == nil, count >= promised,
            let end = events.firstIndex(where: { $0.action.endsConnection })
        {
            events = events[..<end]
        }
        guard append(&events, upTo: .max) else { return }
        steps.append(.finish(trailers: hasContent ? trailers : nil))
    }

    /// Appends the content, cut at the positions of the events; returns false if one of these ends the delivery.
    private mutating func append(
        _ chunks: [Data],
        isChunked: Bool,
        _ pace: StubResponse.Pace,
        _ events: inout ArraySlice<StubResponse.Event>
    ) -> Bool {
        for chunk in chunks where !chunk.isEmpty {
            var rest = chunk
            while !rest.isEmpty {
                guard append(&events, upTo: count) else { return false }
                let part = rest.prefix(events.first.map { $0.position - count } ?? .max)
                var pieces = ContentFragments(of: part, pace: pace, isFirst: count == 0)
                if isChunked, rest.count == chunk.count { pieces.startedChunk = chunk.count }
                rest = rest.dropFirst(part.count)
                pieces.endsChunk = isChunked && rest.isEmpty
                steps.append(.content(pieces))
                count += part.count
            }
        }
        return true
    }

    /// Appends the events up to a position; returns false if one of them ends the delivery.
    private mutating func append(_ events: inout ArraySlice<StubResponse.Event>, upTo position: Int) -> Bool {
        while let event = events.first, event.position <= position {
            events.removeFirst()
            // Waits in a row are one silence, which a timeout measures as a whole.
            if case .wait(let duration) = event.action, case .action(.wait(let earlier), _) = steps.last {
                steps[steps.endIndex - 1] = .action(.wait(earlier + duration), phase)
            } else {
                steps.append(.action(event.action, phase))
            }
            if event.action.endsDelivery { return false }
        }
        return true
    }
}

extension StubResponse.Content {
    /// The content for a request, and the fields behind it; `nil` if it isn't in the `chunked` coding.
    fileprivate func chunks(for request: ReceivedRequest) throws -> (chunks: [Data], trailers: HTTPHeaders?) {
        switch self {
        case .data(let data): ([data], nil)
        case .chunks(let chunks, let trailers): (chunks, trailers)
        case .deferred(let make): ([try make()], nil)
        case .echo: ([request.body], nil)
        case .raw(let pieces): (pieces, nil)
        case .socket: ([], nil)
        }
    }
}

extension StubResponse {
    /// Checks that the response isn't one for a server only.
    fileprivate func requireNoServer() throws(RequestError) {
        let reason: String
        if case .raw = content {
            reason = "raw bytes and scripts of steps need a MockServer"
        } else if case .socket = content {
            reason = "a WebSocket needs a MockServer"
        } else if isEarly {
            reason = "an early response needs a MockServer: here the request is there as a whole"
        } else {
            return
        }
        throw RequestError(.unsupported, phase: .sending, reason: reason)
    }

    /// The fields of the head; a length of `nil` is unknown.
    fileprivate func headers(
        for request: ReceivedRequest,
        _ status: HTTPStatus,
        length: Int?,
        closes: Bool
    ) -> HTTPHeaders {
        var headers = headers
        if case .echo = content {
            let echoed: [HTTPField.Name] = [.contentType, .contentEncoding, .contentLanguage]
            for field in request.headers where echoed.contains(field.name) && !headers.contains(field.name) {
                headers.add(field)
            }
        }
        let isFramed = headers.contains(.contentLength) || headers.contains(.transferEncoding)
        if let length, !isFramed, status.mayHaveContent { headers.add(String(length), for: .contentLength) }
        if closes, !headers.contains(.connection) { headers.add("close", for: .connection) }
        return headers
    }
}

extension HTTPStatus {
    /// Whether a response with the status may have content (RFC 9110, 6.4.1).
    package var mayHaveContent: Bool { !(100..<200).contains(code) && code != 204 && code != 304 }
}

/// A part of the content in the pieces in which it is delivered, made one by one: of a large one there are many.
struct ContentFragments: Sequence, IteratorProtocol, Sendable {
    /// The bytes that are left.
    private(set) var data: Data
    /// The size of the chunk that begins with the part, if one does.
    var startedChunk: Int?
    /// Whether a chunk ends with the part.
    var endsChunk = false
    private let size: Int
    private let pace: StubResponse.Pace
    private var isFirst: Bool

    /// Makes the pieces of a part of the content, which may be the first.
    init(of data: Data, pace: StubResponse.Pace, isFirst: Bool) {
        self.data = data
        self.pace = pace
        self.isFirst = isFirst
        size = pace.fragmentSize ?? pace.speed?.bytesPerFragment ?? Swift.max(1, data.count)
    }

    /// Whether it takes time to deliver the part.
    var takesTime: Bool { pace.speed != nil || pace.pause > .zero }

    /// The next piece, and the time before it: a piece is delivered when all of it has come, and the pause is between
    /// two.
    mutating func next() -> (wait: Duration, data: Data)? {
        guard !data.isEmpty else { return nil }
        // A piece that isn't the whole is a copy, so that its indices begin at zero.
        let piece = size < data.count || data.startIndex > 0 ? Data(data.prefix(size)) : data
        data = data.dropFirst(size)
        defer { isFirst = false }
        return ((pace.speed?.duration(of: piece.count) ?? .zero) + (isFirst ? .zero : pace.pause), piece)
    }
}
