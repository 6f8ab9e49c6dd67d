// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension HTTPStubber {
    /// Makes a stubber that replays an archive from a file; it refuses other requests.
    ///
    /// - Parameters:
    ///   - file: The URL of an HAR 1.2 archive, written by any program.
    ///   - matchingBodies: Whether the content of a request must match the recorded one too; `false` by default.
    ///   - ignored: The parts of an address that may differ, such as the host; none by default.
    ///   - repeatsLast: Whether the last response also answers all later requests; `true` by default.
    /// - Throws: ``ArchiveError``, or the error of reading the file.
    public convenience init(
        replaying file: URL,
        matchingBodies: Bool = false,
        ignoring ignored: StubCondition.AddressParts = [],
        repeatingLast repeatsLast: Bool = true
    ) throws {
        let archive = try HTTPArchive(contentsOf: file)
        self.init()
        replay(archive, matchingBodies: matchingBodies, ignoring: ignored, repeatingLast: repeatsLast)
    }

    /// Adds a stub for each request of an archive; equal requests become one stub, which responds in turn.
    ///
    /// Two requests are equal if method and address are, as in RFC 3986, 6.2.2. The order of parameters with different
    /// names, the values of secret ones, which a file doesn't have, and header fields make no difference. JSON is
    /// compared by its meaning, and a multipart form without its boundary.
    ///
    /// If only part of a request's content was recorded, that part is compared, and the length of the rest unless it
    /// has a secret.
    ///
    /// The recorded connection isn't replayed: content arrives decoded, whole and at once, with its actual length. An
    /// exchange that failed fails again, after the recorded part of its response. A request fails with an
    /// ``ArchiveError`` if the file lacks its content, or if the exchange hadn't ended when the file was written.
    ///
    /// - Parameters:
    ///   - archive: The archive to replay.
    ///   - matchingBodies: Whether the content of a request must match the recorded one too; `false` by default.
    ///   - ignored: The parts of an address that may differ, such as the host; none by default.
    ///   - repeatsLast: Whether the last response also answers all later requests; `true` by default. If not, they are
    ///     refused.
    /// - Returns: The stubs, in the order in which their requests first appear.
    /// - Complexity: O(n) in the number of exchanges.
    @discardableResult
    public func replay(
        _ archive: HTTPArchive,
        matchingBodies: Bool = false,
        ignoring ignored: StubCondition.AddressParts = [],
        repeatingLast repeatsLast: Bool = true
    ) -> [HTTPStub] {
        var order: [ReplayKey] = []
        var groups: [ReplayKey: [(index: Int, exchange: RecordedExchange)]] = [:]
        for (index, exchange) in archive.exchanges.enumerated() {
            let key = ReplayKey(exchange, matchingBodies: matchingBodies, ignoring: ignored)
            if groups[key] == nil { order.append(key) }
            groups[key, default: []].append((index, exchange))
        }
        return order.compactMap { key in
            guard let group = groups[key], let first = group.first?.exchange.request else { return nil }
            var conditions: [StubCondition] = [.method(key.method), .recorded(first.url, ignoring: ignored)]
            if matchingBodies { conditions.append(.recordedBody(key)) }
            let stub = HTTPStub(conditions)
            stub.respond(with: group.map { StubResponse($0.exchange, entry: $0.index) })
            if !repeatsLast { stub.times(group.count) }
            return add(stub)
        }
    }
}

extension StubResponse {
    /// Makes the response that replays a recorded exchange.
    init(_ exchange: RecordedExchange, entry: Int) {
        guard !exchange.isUnderWay else {
            let reason = "isn't whole: the exchange was under way when it was written"
            self = .lacking(
                ArchiveError(entry: entry, request: "\(exchange.request)", field: "response", reason: reason)
            )
            return
        }
        guard let response = exchange.response else {
            let reason = "no response was recorded"
            self = .failure(exchange.error ?? RequestError(.connectionLost, phase: .sending, reason: reason))
            return
        }
        guard response.isComplete || exchange.error != nil || !exchange.isContentWanted else {
            let error = ArchiveError(
                entry: entry,
                request: "\(exchange.request)",
                field: "response.content.text",
                reason: "has \(response.body.count) of \(response.bodySize) bytes"
            )
            self = .lacking(error)
            return
        }
        self = .status(response.status, headers: exchange.replayedHeaders(of: response), body: response.body)
        if let error = exchange.error { self = adding(.fail(error), at: .max) }
    }

    /// Makes a failure for a request whose response the file lacks.
    private static func lacking(_ error: ArchiveError) -> StubResponse {
        .failure(RequestError(.unsupported, phase: .sending, reason: error.description, underlying: error))
    }
}

extension RecordedExchange {
    /// Whether the content matters: browsers omit that of a redirect that is followed.
    fileprivate var isContentWanted: Bool {
        guard request.method != .head, let status = response?.status else { return false }
        return status.mayHaveContent && status.category != .redirection
    }

    /// Returns the fields without outdated ones, invalid ones, and cookies that were secret.
    fileprivate func replayedHeaders(of response: RecordedExchange.Response) -> HTTPHeaders {
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
