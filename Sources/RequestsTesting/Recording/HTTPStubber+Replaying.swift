// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension HTTPStubber {
    /// Adds stubs that replay an archive; equal requests share a stub, which replays their responses in order.
    ///
    /// Requests are equal if their methods are equal and their URLs are equivalent (RFC 3986, 6.2.2). Header fields and
    /// the order of parameters with different names make no difference. Nor do the values of secret parameters, because
    /// a file doesn't contain them.
    ///
    /// With `matchingBodies`, JSON is compared by meaning, and multipart forms regardless of their boundaries. If the
    /// content of a request wasn't recorded completely, any content except empty content matches.
    ///
    /// The recorded connection isn't replayed: the content arrives decoded, immediately and in one part, with its
    /// actual length. An exchange that failed fails again, after the recorded part of its response. A request fails
    /// with an ``HTTPArchive/Error`` if the file lacks the content of its response.
    ///
    /// - Parameters:
    ///   - archive: The archive to replay.
    ///   - matchingBodies: Whether the content of a request must match the recorded content too; `false` by default.
    ///   - ignored: The URL components that may differ, such as the host; none by default.
    ///   - file: The file of the call, for failure messages.
    ///   - line: The line of the call, for failure messages.
    /// - Returns: The stubs, in the order in which their requests first occur.
    /// - Complexity: O(n) in the number of exchanges, and O(n²) in the number of different requests for one path.
    @discardableResult
    public func replay(
        _ archive: HTTPArchive,
        matchingBodies: Bool = false,
        ignoring ignored: Set<StubCondition.AddressPart> = [],
        file: StaticString = #fileID,
        line: UInt = #line
    ) -> [HTTPStub] {
        var groups: [(conditions: [StubCondition], responses: [StubResponse])] = []
        // Group by method and path, so that only few requests must be compared with each other.
        var indices: [String: [Int]] = [:]
        for (entry, exchange) in archive.exchanges.enumerated() {
            let request = exchange.request
            let response = StubResponse(exchange, entry: entry)
            let path = ignored.contains(.path) ? "" : AddressComponents(request.url.withoutSecrets).path
            let key = "\(request.method) \(path)"
            if let index = indices[key]?.first(where: { groups[$0].conditions.evaluate(request).mismatches.isEmpty }) {
                groups[index].responses.append(response)
            } else {
                indices[key, default: []].append(groups.count)
                var conditions: [StubCondition] = [.method(request.method), .recorded(request.url, ignoring: ignored)]
                if matchingBodies {
                    let isComplete = exchange.requestBodySize <= Int64(request.body.count)
                    conditions.append(isComplete ? .recorded(RecordedContent(request)) : .not(.body(Data())))
                }
                groups.append((conditions, [response]))
            }
        }
        return groups.map { add(HTTPStub($0.conditions, at: CallSite(file, line)).respond(with: $0.responses)) }
    }
}

extension StubResponse {
    /// Creates the response that replays a recorded exchange.
    init(_ exchange: Exchange, entry: Int) {
        guard let response = exchange.response else {
            let reason = "no response was recorded"
            self = .failure(exchange.error ?? RequestError(.connectionLost, phase: .sending, reason: reason))
            return
        }
        guard response.isComplete || exchange.error != nil || !exchange.requiresContent else {
            let problem = "response.content.text has \(response.body.count) of \(response.bodySize) bytes"
            let error = HTTPArchive.Error("entry \(entry) (\(exchange.request)): \(problem)")
            self = .failure(RequestError(.unsupported, phase: .sending, underlying: error))
            return
        }
        self = .status(response.status, headers: exchange.replayedHeaders(of: response), body: response.body)
        if let error = exchange.error { self = adding(.fail(error), at: .max) }
    }
}

extension Exchange {
    /// Whether missing content is an error; it isn't for redirects, because browsers omit the content of followed
    /// redirects.
    fileprivate var requiresContent: Bool {
        guard request.method != .head, let status = response?.status else { return false }
        return status.mayHaveContent && status.category != .redirection
    }

    /// Returns the header fields to replay, excluding invalid fields, secret cookies, and fields that don't apply to
    /// decoded content.
    fileprivate func replayedHeaders(of response: Exchange.Response) -> HTTPHeaders {
        // Keep the length of content that was omitted.
        let keepsLength = request.method == .head || response.status == 304 || error != nil
        var headers = response.headers
        headers.removeAll { field in
            switch field.name {
            case .transferEncoding: true
            case .contentEncoding: !response.body.isEmpty
            case .contentLength: !keepsLength && field.value != String(response.body.count)
            case .setCookie: field.value == Redaction.value(of: HTTPField(.setCookie, ""))
            default: !field.name.rawValue.isToken || !field.hasValidValue
            }
        }
        return headers
    }
}
