// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension HTTPStubber {
    /// Adds a stub for each request of an archive; equal requests become one stub, which responds in turn.
    ///
    /// Two requests are equal if method and address are, as in RFC 3986, 6.2.2. The order of parameters with different
    /// names, the values of secret ones, which a file doesn't have, and header fields make no difference. JSON is
    /// compared by its meaning, and a multipart form without its boundary.
    ///
    /// If only part of a request's content was recorded, any content matches that isn't empty.
    ///
    /// The recorded connection isn't replayed: content arrives decoded, whole and at once, with its actual length. An
    /// exchange that failed fails again, after the recorded part of its response. A request fails with an
    /// ``HTTPArchive/Error`` if the file lacks its content.
    ///
    /// - Parameters:
    ///   - archive: The archive to replay.
    ///   - matchingBodies: Whether the content of a request must match the recorded one too; `false` by default.
    ///   - ignored: The parts of an address that may differ, such as the host; none by default.
    ///   - file: The file of the call, for the messages of failures.
    ///   - line: The line of the call.
    /// - Returns: The stubs, in the order in which their requests first appear.
    /// - Complexity: O(n) in the number of exchanges, O(n²) in that of different requests for one path.
    @discardableResult
    public func replay(
        _ archive: HTTPArchive,
        matchingBodies: Bool = false,
        ignoring ignored: Set<StubCondition.AddressPart> = [],
        file: StaticString = #fileID,
        line: UInt = #line
    ) -> [HTTPStub] {
        var groups: [(conditions: [StubCondition], responses: [StubResponse])] = []
        // Only requests with the same method and path are compared.
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
                    let isKnown = exchange.requestBodySize <= Int64(request.body.count)
                    conditions.append(isKnown ? .recorded(RecordedContent(request)) : .not(.body(Data())))
                }
                groups.append((conditions, [response]))
            }
        }
        return groups.map { add(HTTPStub($0.conditions, at: CallSite(file, line)).respond(with: $0.responses)) }
    }
}

extension StubResponse {
    /// Makes the response that replays a recorded exchange.
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
    /// Whether the content matters: browsers omit that of a redirect that is followed.
    fileprivate var requiresContent: Bool {
        guard request.method != .head, let status = response?.status else { return false }
        return status.mayHaveContent && status.category != .redirection
    }

    /// Returns the fields without outdated ones, invalid ones, and cookies that were secret.
    fileprivate func replayedHeaders(of response: Exchange.Response) -> HTTPHeaders {
        // The length of omitted content is kept.
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
