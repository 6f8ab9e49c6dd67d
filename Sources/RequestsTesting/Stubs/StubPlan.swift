// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A response to one request, as what happens one after the other: who plays it needs to know nothing else.
struct StubPlan: Sendable {
    enum Step: Sendable {
        /// Nothing comes for a time.
        case wait(Duration)
        /// The head comes.
        case head(HTTPResponseHead)
        /// The content comes.
        case content(StubPieces)
        /// Nothing comes any more.
        case stall
        /// The end, with or without an error.
        case end(RequestError?)
    }

    private(set) var steps: [Step] = []

    /// Makes the plan of a response.
    ///
    /// - Throws: What the making of the content throws.
    init(_ response: StubResponse, to request: StubbedRequest) throws {
        if response.delay > .zero { steps.append(.wait(response.delay)) }
        if let status = response.status {
            let content = try response.content(for: request)
            let headers = response.headers(for: request, length: content.count)
            steps.append(.head(HTTPResponseHead(status: status, headers: headers, url: request.url)))
            if request.method != .head, status.mayHaveContent {
                steps.append(.content(StubPieces(of: content.prefix(response.limit ?? .max), of: response)))
            }
        }
        switch response.ending {
        case .complete: steps.append(.end(nil))
        case .failure(let error): steps.append(.end(error))
        case .stall: steps.append(.stall)
        }
    }
}

extension StubResponse {
    fileprivate func content(for request: StubbedRequest) throws -> Data {
        switch content {
        case .data(let data): data
        case .deferred(let make): try make(request)
        }
    }

    fileprivate func headers(for request: StubbedRequest, length: Int) -> HTTPHeaders {
        var headers = headers
        if echoesHeaders {
            let echoed: [HTTPField.Name] = [.contentType, .contentEncoding, .contentLanguage]
            for field in request.headers where echoed.contains(field.name) && !headers.contains(field.name) {
                headers.add(field)
            }
        }
        let isFramed = headers.contains(.contentLength) || headers.contains(.transferEncoding)
        if !isFramed, status?.mayHaveContent ?? false { headers.add(String(length), for: .contentLength) }
        return headers
    }
}

extension HTTPStatus {
    /// Whether a response with the status may have content (RFC 9110, 6.4.1).
    var mayHaveContent: Bool { code >= 200 && code != 204 && code != 304 }
}
