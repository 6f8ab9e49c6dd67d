// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

@testable import Requests

/// For any truthful server and any interruptions, a complete file has one version only.
@Suite(.bounded) struct ResumeMachineFuzzTests {
    /// A file that changes at times, and a server that sends any part of it.
    private struct Server {
        var version = 0
        var random: Fuzz

        /// Returns the bytes of a version, which identify it.
        static func content(_ version: Int) -> [UInt8] {
            (0..<(40 + version * 7 % 30)).map { UInt8(truncatingIfNeeded: version &* 31 &+ $0) }
        }

        /// Responds to a request, with all fields.
        mutating func answer(_ fields: [HTTPField]) -> (head: HTTPResponseHead, body: ArraySlice<UInt8>) {
            if Int.random(in: 0..<8, using: &random) == 0 { version += 1 }
            let content = Self.content(version)
            let start = fields.first { $0.name == .range }.flatMap {
                Int($0.value.dropFirst("bytes=".count).dropLast())
            }
            let isSame = fields.first { $0.name == .ifRange }?.value == tag
            guard let start, start >= 0, isSame || chance(8) else { return whole(content) }
            guard start < content.count else {
                let headers: HTTPHeaders = [.contentRange: "bytes */\(content.count)", .eTag: tag]
                return (HTTPResponseHead(status: .rangeNotSatisfiable, headers: headers), [1, 2, 3])
            }
            if chance(10) { return whole(content) }
            // A part other than the requested one, or less than the rest, is truthful too.
            let lower = chance(4) ? Int.random(in: 0..<content.count, using: &random) : start
            let upper = chance(3) ? Int.random(in: lower..<content.count, using: &random) : content.count - 1
            var headers: HTTPHeaders = [
                .contentRange: "bytes \(lower)-\(upper)/\(chance(6) ? "*" : "\(content.count)")"
            ]
            if chance(2) || !isSame { headers[.eTag] = tag }
            if chance(2) { headers[.contentLength] = "\(upper - lower + 1)" }
            return (HTTPResponseHead(status: .partialContent, headers: headers), content[lower...upper])
        }

        private func whole(_ content: [UInt8]) -> (head: HTTPResponseHead, body: ArraySlice<UInt8>) {
            let headers: HTTPHeaders = [.eTag: tag, .contentLength: "\(content.count)"]
            return (HTTPResponseHead(status: .ok, headers: headers), content[...])
        }

        private var tag: String { "\"\(version)\"" }
        mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }
    }

    @Test func aFileIsNeverMadeOfTwoVersions() throws {
        let url = try #require(URL(string: "http://localhost/film"))
        var server = Server(random: Fuzz())
        var completions = 0
        for _ in 0..<Scale.fuzz(weight: 50) {
            var (machine, file) = (ResumeMachine(url: url), [UInt8]())
            exchanges: for _ in 0..<50 {
                let (head, body) = server.answer(machine.fields)
                switch machine.handle(head) {
                case .append(let position):
                    try #require((0...Int64(file.count)).contains(position), "seed \(Fuzz.seed)")
                    file.removeSubrange(Int(position)...)
                case .startOver: file = []
                case .requestAgain: continue
                case .complete:
                    check(file, upTo: server.version)
                    completions += 1
                    break exchanges
                case .passOn, .fail: break exchanges
                }
                let isCut = server.chance(2)
                file += isCut ? body.prefix(.random(in: 0...body.count, using: &server.random)) : body
                guard !isCut else {
                    machine.interrupted(length: Int64(file.count))
                    continue
                }
                switch machine.ended(length: Int64(file.count)) {
                case .complete:
                    check(file, upTo: server.version)
                    completions += 1
                    break exchanges
                case .more, .short: continue
                case .excess, .stuck: break exchanges
                }
            }
        }
        #expect(completions > Scale.fuzz(weight: 50) / 2)
    }

    private func check(_ file: [UInt8], upTo last: Int) {
        // 223 * 31 is 1 in a byte.
        let first = file.first.map { Int($0) * 223 % 256 } ?? .max
        let versions = stride(from: first, through: last, by: 256)
        #expect(versions.contains { Server.content($0) == file }, "seed \(Fuzz.seed): \(file)")
    }
}
