// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// For any truthful server and any interruptions, a complete file has one version only.
@Suite(.bounded) struct DownloadVersionsFuzzTests {
    /// A server that sends any part of a file, which changes at times.
    private struct Server {
        var version = 0
        var random = Fuzz()
        private var tag: String { "\"\(version)\"" }

        /// Returns the bytes of a version, which identify it.
        static func content(_ version: Int) -> [UInt8] {
            (0..<(40 + version * 7 % 30)).map { UInt8(truncatingIfNeeded: version &* 31 &+ $0) }
        }

        /// Responds to a request, with all fields; half of the responses break off.
        mutating func respond(to request: ReceivedRequest) -> StubResponse {
            let (status, headers, body) = answer(request.headers)
            let response = StubResponse.chunked([Data(body)], status: status, headers: headers)
            return chance(2) ? response.reset(after: .random(in: 0...body.count, using: &random)) : response
        }

        private mutating func answer(_ fields: HTTPHeaders) -> (HTTPStatus, HTTPHeaders, ArraySlice<UInt8>) {
            if chance(8) { version += 1 }
            let content = Self.content(version)
            let whole =
                { [tag] in (HTTPStatus.ok, [.eTag: tag, .contentLength: "\(content.count)"], content[...]) }
                as () -> (HTTPStatus, HTTPHeaders, ArraySlice<UInt8>)
            let start = fields[.range].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
            let isSame = fields[.ifRange] == tag
            guard let start, start >= 0, isSame || chance(8) else { return whole() }
            guard start < content.count else {
                return (416, [.contentRange: "bytes */\(content.count)", .eTag: tag], [1, 2, 3])
            }
            if chance(10) { return whole() }
            // A part other than the requested one, or less than the rest, is truthful too.
            let lower = chance(4) ? Int.random(in: 0..<content.count, using: &random) : start
            let upper = chance(3) ? Int.random(in: lower..<content.count, using: &random) : content.count - 1
            var headers: HTTPHeaders = [
                .contentRange: "bytes \(lower)-\(upper)/\(chance(6) ? "*" : "\(content.count)")"
            ]
            if chance(2) || !isSame { headers[.eTag] = tag }
            if chance(2) { headers[.contentLength] = "\(upper - lower + 1)" }
            return (.partialContent, headers, content[lower...upper])
        }

        private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }
    }

    @Test func downloadNeverMixesVersions() async throws {
        let (folder, server) = (TemporaryFolder(), Locked(Server()))
        let transport = InMemoryTransport(recordsRequests: false) { request in
            server.withLock { $0.respond(to: request) }
        }
        let client = HTTPClient(transport: transport) { $0.retry = RetryPolicy(limit: 50, backoff: .none) }
        let target = folder.file("film")
        var completions = 0
        for _ in 0..<Scale.fuzz(weight: 50) {
            let download = Download(HTTPRequest(url: DownloadTrial.url), to: .file(target, overwrite: true))
            guard let file = try? await client.fetch(download) else { continue }
            completions += 1
            let content = try [UInt8](Data(contentsOf: file))

            // 223 * 31 is 1 in a byte.
            let first = content.first.map { Int($0) * 223 % 256 } ?? .max
            let versions = stride(from: first, through: server.withLock { $0.version }, by: 256)
            #expect(versions.contains { Server.content($0) == content }, "seed \(Fuzz.seed): \(content)")
        }
        #expect(completions > Scale.fuzz(weight: 50) / 2)
    }
}
