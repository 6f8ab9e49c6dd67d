// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The response to one request as a sequence of steps, which a transport reports as events.
struct StubPlan: Sendable {
    enum Step: Sendable {
        case head(HTTPStatus, HTTPHeaders)
        /// A part of the content.
        case content(ContentFragments)
        /// An event of the delivery, such as a wait, and the phase of the transfer in which it happens.
        case action(StubResponse.Action, RequestError.Phase)
        /// The end of the content; `trailers` is `nil` unless the content is sent with the `chunked` coding.
        case finish(trailers: HTTPHeaders?)
    }

    private(set) var steps: [Step] = []
    private var phase = RequestError.Phase.sending
    /// The number of content bytes in the steps so far.
    private var count = 0

    /// Creates the plan of a response.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - request: The request, including its content.
    ///   - serverCloses: Whether the server closes the connection after the response; `nil` if there is no server.
    /// - Throws: Any error from reading or encoding the content, or a `RequestError` with the code `unsupported` if
    ///   only a server can send the response.
    init(_ response: StubResponse, to request: ReceivedRequest, serverCloses: Bool? = nil) throws {
        if serverCloses == nil { try response.throwIfServerOnly() }
        let closes = serverCloses ?? response.closes
        var events = response.events[...]
        guard append(&events, upTo: StubResponse.Event.start) else { return }
        if case .raw(let writes) = response.content {
            if append(writes, isChunked: false, response.pace, &events) { _ = append(&events, upTo: .max) }
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
        // A client that has received the promised length notices neither later events nor how the connection ends.
        let promisedLength = hasContent ? headers[.contentLength].flatMap { Int($0) } ?? 0 : 0
        if serverCloses == nil, trailers == nil, count >= promisedLength,
            let end = events.firstIndex(where: { $0.action.endsConnection })
        {
            events = events[..<end]
        }
        guard append(&events, upTo: .max) else { return }
        steps.append(.finish(trailers: hasContent ? trailers : nil))
    }

    /// Appends the content, split at the positions of the events; returns `false` if an event ends the delivery.
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
                var fragments = ContentFragments(of: part, pace: pace, isFirst: count == 0)
                if isChunked, rest.count == chunk.count { fragments.startedChunk = chunk.count }
                rest = rest.dropFirst(part.count)
                fragments.endsChunk = isChunked && rest.isEmpty
                steps.append(.content(fragments))
                count += part.count
            }
        }
        return true
    }

    /// Appends the events up to a position; returns `false` if an event ends the delivery.
    private mutating func append(_ events: inout ArraySlice<StubResponse.Event>, upTo position: Int) -> Bool {
        while let event = events.first, event.position <= position {
            events.removeFirst()
            // Consecutive waits are merged, because a timeout counts them as one idle period.
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
    /// Returns the content for a request, and its trailers (`nil` unless the `chunked` coding is used).
    fileprivate func chunks(for request: ReceivedRequest) throws -> (chunks: [Data], trailers: HTTPHeaders?) {
        switch self {
        case .data(let data): ([data], nil)
        case .chunks(let chunks, let trailers): (chunks, trailers)
        case .deferred(let make): ([try make()], nil)
        case .echo: ([request.body], nil)
        case .raw(let writes): (writes, nil)
        case .socket: ([], nil)
        }
    }
}

extension StubResponse {
    /// Throws an error if only a server can send the response.
    fileprivate func throwIfServerOnly() throws(RequestError) {
        let reason: String
        if case .raw = content {
            reason = "raw bytes and scripts require a MockServer"
        } else if case .socket = content {
            reason = "a WebSocket requires a MockServer"
        } else if isEarly {
            reason = "an early response requires a MockServer, because stubs receive complete requests"
        } else {
            return
        }
        throw RequestError(.unsupported, phase: .sending, reason: reason)
    }

    /// Returns the header fields of the response; `length` is `nil` if the length isn't known in advance.
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

/// A part of the content, split into the fragments in which it is delivered.
///
/// The fragments are created lazily, because large content can have very many of them.
struct ContentFragments: Sequence, IteratorProtocol, Sendable {
    /// The remaining bytes.
    private(set) var data: Data
    /// The size of the chunk that starts with this part; `nil` if no chunk does.
    var startedChunk: Int?
    /// Whether a chunk ends with this part.
    var endsChunk = false
    private let size: Int
    private let pace: StubResponse.Pace
    private var isFirstFragment: Bool

    /// Splits a part of the content into fragments; `isFirst` is whether the part is the first.
    init(of data: Data, pace: StubResponse.Pace, isFirst: Bool) {
        self.data = data
        self.pace = pace
        self.isFirstFragment = isFirst
        size = pace.fragmentSize ?? pace.speed?.bytesPerFragment ?? Swift.max(1, data.count)
    }

    /// Whether delivering the part takes time.
    var takesTime: Bool { pace.speed != nil || pace.pause > .zero }

    /// Returns the next fragment, and the time to wait before it.
    ///
    /// The wait is the transmission time of the fragment, plus the pause, except before the first fragment.
    mutating func next() -> (wait: Duration, data: Data)? {
        guard !data.isEmpty else { return nil }
        // Copy the bytes, unless the fragment is all of the data, so that its indices start at zero.
        let fragment = size < data.count || data.startIndex > 0 ? Data(data.prefix(size)) : data
        data = data.dropFirst(size)
        defer { isFirstFragment = false }
        return ((pace.speed?.duration(of: fragment.count) ?? .zero) + (isFirstFragment ? .zero : pace.pause), fragment)
    }
}
