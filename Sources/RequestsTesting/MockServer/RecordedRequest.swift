// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A request as a ``MockServer`` received it.
///
/// Assert on this rather than on the output of an echo service: it has the exact bytes that were received, besides
/// their meaning.
public struct RecordedRequest: Sendable, Hashable {
    /// The method.
    public var method: HTTPMethod
    /// The request target as in the request line: `/recipes/1?x=1`, or anything else that the client sent.
    public var target: String
    /// The version as in the request line: `HTTP/1.1`.
    public var version: String
    /// The header fields in their order, including repeated ones.
    public var headers: HTTPHeaders
    /// The content without its framing, chunks joined; empty if the response was ``StubResponse/early``.
    public var body: Data
    /// The fields after the last chunk; empty if the body wasn't chunked.
    public var trailers: HTTPHeaders
    /// Every byte of the request as received, head and framing included.
    public var rawBytes: Data
    /// The number of the connection, counted from 0: two requests with the same number shared it.
    public var connection: Int
    /// The number of the request on the server, counted from 0 in the order in which requests were complete.
    public var index: Int
    /// The values that the route's URI template found in the target; empty without a template.
    public var variables: [String: URITemplate.Value] = [:]

    /// The value of a variable of the route's URI template; `nil` if the target omits it.
    public subscript(variable: String) -> String? {
        guard case .string(let value)? = variables[variable] else { return nil }
        return value
    }

    /// The target up to the query, percent-encoded as it was sent.
    public var path: String {
        String(target.prefix { $0 != "?" })
    }

    /// The target after the first question mark, percent-encoded as it was sent; `nil` without a question mark.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// The content as text; invalid UTF-8 becomes U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Whether the client lets the connection stay open (RFC 9112, 9.3); always `false` for HTTP/1.0.
    var keepsAlive: Bool { version != "HTTP/1.0" && !headers.askForClose }
}

extension HTTPHeaders {
    /// Whether the connection is to close after the message: `close` is an option of `Connection` (RFC 9110, 7.6.1).
    var askForClose: Bool {
        self[values: .connection].contains { options in
            options.split(separator: ",").contains {
                $0.trimmingCharacters(in: .whitespaces).equalsIgnoringASCIICase("close")
            }
        }
    }
}

/// The times of a request, counted from the start of the server.
struct RequestTimes: Sendable {
    var accepted: Duration
    var headRead: Duration
    var bodyRead: Duration?
}

extension ServerCore.State {
    /// Counts a request, and records it as long as there is room.
    mutating func record(_ request: RecordedRequest, _ times: RequestTimes) {
        requestCount += 1
        guard log.count < maximumRecordedRequests else { return }
        requests.append(request)
        log.append(
            MockServer.LogEntry(
                request: request,
                accepted: times.accepted,
                headRead: times.headRead,
                bodyRead: times.bodyRead,
                answered: nil,
                sentByteCount: 0
            )
        )
    }

    /// Records how the response to a request ended.
    mutating func noteAnswer(to index: Int, sentByteCount: Int, at time: Duration?) {
        guard log.indices.contains(index) else { return }
        log[index].sentByteCount = sentByteCount
        log[index].answered = time
    }
}
