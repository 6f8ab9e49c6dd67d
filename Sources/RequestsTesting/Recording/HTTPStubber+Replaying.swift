// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension HTTPStubber {
    /// Makes a stubber that replays an archive from a file; other requests are refused.
    ///
    /// - Parameters:
    ///   - file: An archive, HAR 1.2, whoever wrote it.
    ///   - matchingBodies: Whether the content of a request has to be the recorded one too; false by default.
    ///   - ignored: What of an address may be another one, such as the host; nothing by default.
    ///   - repeatsLast: Whether the last answer is also that of all later requests; true by default.
    /// - Throws: ``ArchiveError``, or what the reading of the file throws.
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

    /// Adds a stub for each request of an archive; requests that are the same become one stub, which answers in turn.
    ///
    /// Two requests are the same where method and address are, as RFC 3986, 6.2.2 says; the order of parameters with
    /// different names, the values of secret ones, which a file doesn't have, and header fields make no difference. JSON
    /// is compared by what it says, a multipart form without its boundary.
    ///
    /// Of a request whose content was recorded in part, that part counts, and the length of the rest where there is no
    /// secret in it.
    ///
    /// What was recorded of the connection isn't replayed: content comes decoded and whole, at once, with the length that
    /// it has. An exchange that failed fails again, after as much as came of it. One whose content the file lacks, or that
    /// wasn't over when the file was written, fails with an ``ArchiveError`` that says so.
    ///
    /// - Parameters:
    ///   - archive: What to replay.
    ///   - matchingBodies: Whether the content of a request has to be the recorded one too; false by default.
    ///   - ignored: What of an address may be another one, such as the host; nothing by default.
    ///   - repeatsLast: Whether the last answer is also that of all later requests; true by default. If not, they are
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
    /// What was recorded, as it is replayed.
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

    /// The failure of a request whose answer the file lacks.
    private static func lacking(_ error: ArchiveError) -> StubResponse {
        .failure(RequestError(.unsupported, phase: .sending, reason: error.description, underlying: error))
    }
}

extension RecordedExchange {
    /// Whether anybody reads the content: that of a redirect, which is followed, browsers leave out.
    fileprivate var isContentWanted: Bool {
        guard request.method != .head, let status = response?.status else { return false }
        return status.mayHaveContent && status.category != .redirection
    }

    /// The fields without those that are no more true, those that can't be any, and cookies that were secrets.
    fileprivate func replayedHeaders(of response: RecordedExchange.Response) -> HTTPHeaders {
        // Of content that isn't there, the length is still told.
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
