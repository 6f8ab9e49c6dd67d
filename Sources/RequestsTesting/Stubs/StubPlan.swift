// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A response to one request as a sequence of steps, which is all that is needed to play it.
struct StubPlan: Sendable {
    enum Step: Sendable {
        /// Silence for a time.
        case wait(Duration)
        /// The head arrives.
        case head(HTTPResponseHead)
        /// The content arrives.
        case content(StubPieces)
        /// Silence from then on.
        case stall
        /// The end, with or without an error.
        case end(RequestError?)
    }

    private(set) var steps: [Step] = []

    /// Makes the plan of a response.
    ///
    /// - Throws: The error of making the content.
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

/// The speed at which the content of a stubbed response arrives.
///
/// The presets have the nominal rates of networks, in thousands of bits a second:
///
/// | preset | kbit/s |
/// |---|---|
/// | ``oneKilobit`` | 1 |
/// | ``slow`` | 12 |
/// | ``gprs`` | 56 |
/// | ``edge`` | 128 |
/// | ``threeG`` | 3,200 |
/// | ``threeGPlus`` | 7,200 |
/// | ``wiFi`` | 12,000 |
public struct StubSpeed: Sendable, Hashable {
    /// The rate in bytes a second; at least 1.
    public let bytesPerSecond: Int

    /// Makes a speed from a rate in bytes a second; less than 1 counts as 1.
    public init(bytesPerSecond: Int) {
        self.bytesPerSecond = max(1, bytesPerSecond)
    }

    /// Makes a speed from a rate in thousands of bits a second; less than 1 counts as 1.
    public init(kilobitsPerSecond: Int) {
        self.init(bytesPerSecond: max(1, min(kilobitsPerSecond, 1_000_000_000)) * 125)
    }

    /// 1 kbit/s, for programs that must stand very slow networks.
    public static let oneKilobit = StubSpeed(kilobitsPerSecond: 1)
    /// 12 kbit/s.
    public static let slow = StubSpeed(kilobitsPerSecond: 12)
    /// 56 kbit/s.
    public static let gprs = StubSpeed(kilobitsPerSecond: 56)
    /// 128 kbit/s.
    public static let edge = StubSpeed(kilobitsPerSecond: 128)
    /// 3,200 kbit/s.
    public static let threeG = StubSpeed(kilobitsPerSecond: 3200)
    /// 7,200 kbit/s.
    public static let threeGPlus = StubSpeed(kilobitsPerSecond: 7200)
    /// 12,000 kbit/s.
    public static let wiFi = StubSpeed(kilobitsPerSecond: 12000)

    /// The byte count of a piece: a quarter of what arrives in a second.
    var bytesPerPiece: Int { max(1, bytesPerSecond / 4) }

    /// Returns the time that `count` bytes take.
    func duration(of count: Int) -> Duration {
        .seconds(count) / bytesPerSecond
    }
}
