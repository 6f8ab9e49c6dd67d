// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct HTTPArchiveFuzzTests {
    private let seed = Fuzz.seed

    /// Returns JSON that is similar to an entry.
    private func noise(_ random: inout SeededRandom, depth: Int = 0) -> JSONValue {
        switch Int.random(in: 0..<(depth > 2 ? 7 : 8), using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2: return .integer([0, -1, 200, 404, 999, 1000, .max, .min].randomElement(using: &random) ?? 0)
        case 3: return .double([0.5, -1, 1e300, .infinity, .nan].randomElement(using: &random) ?? 0)
        case 4, 5:
            let texts = [
                "", "GET", "https://a/x?token=1", "base64", "AAEC", "é\n\u{0}", "2026-01-15T10:00:00.123+01:00",
                "text/plain; charset=utf-16", "multipart/form-data; boundary=x", "timedOut", "http/2.0", "%",
            ]
            return .string(texts.randomElement(using: &random) ?? "")
        case 6: return .array([["name": noise(&random, depth: 3), "value": noise(&random, depth: 3)]])
        default: return .object([:])
        }
    }

    private func entry(_ random: inout SeededRandom) -> JSONValue {
        var request: [String: JSONValue] = ["method": "POST", "url": "https://a/x"]
        var response: [String: JSONValue] = ["status": 200]
        var content: [String: JSONValue] = ["text": "AAEC"]
        var entry: [String: JSONValue] = [:]
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let names = [
                "method", "url", "headers", "postData", "status", "content", "_error", "httpVersion", "bodySize",
            ]
            let name = names.randomElement(using: &random) ?? ""
            if Bool.random(using: &random) {
                request[name] = noise(&random)
            } else {
                response[name] = noise(&random)
            }
            let contentNames = ["text", "encoding", "_encoding", "size", "_missing", "params", "mimeType"]
            content[contentNames.randomElement(using: &random) ?? ""] = noise(&random)
            let timings = ["blocked", "dns", "connect", "ssl", "send", "wait", "receive"]
            entry["timings"] = [timings.randomElement(using: &random) ?? "": noise(&random)]
        }
        if Bool.random(using: &random) { response["content"] = .object(content) }
        if Bool.random(using: &random) { request["postData"] = .object(content) }
        if Bool.random(using: &random) { entry["startedDateTime"] = noise(&random) }
        entry["request"] = .object(request)
        if Int.random(in: 0..<8, using: &random) > 0 { entry["response"] = .object(response) }
        return .object(entry)
    }

    @Test func randomEntriesDoNotCrash() {
        var random = SeededRandom(seed)
        var readable = 0
        for _ in 0..<Scale.fuzz() {
            let json: JSONValue = ["log": ["entries": [entry(&random)]]]
            do throws(HTTPArchive.Error) {
                let archive = try HTTPArchive(json: json)
                readable += 1
                #expect(archive.exchanges.count == 1)
            } catch {
                #expect(error.description.utf8.count < 1000)
            }
        }
        #expect(readable > Scale.fuzz() / 4)
    }

    @Test func archivesRoundTrip() throws {
        var random = SeededRandom(seed)
        for _ in 0..<Scale.fuzz(weight: 200) {
            let json: JSONValue = ["log": ["entries": [entry(&random)]]]
            guard let archive = try? HTTPArchive(json: json) else { continue }
            for reveals in [true, false] {
                let written = archive.data(revealingSecrets: reveals)

                let again = try HTTPArchive(data: written)

                #expect(again.data(revealingSecrets: reveals) == written, "seed \(seed)")
                guard reveals else { continue }
                #expect(again.exchanges.map(\.request.body) == archive.exchanges.map(\.request.body))
                #expect(again.exchanges.map(\.response?.body) == archive.exchanges.map(\.response?.body))
                #expect(again.exchanges.map(\.response?.bodySize) == archive.exchanges.map(\.response?.bodySize))
            }
        }
    }

    @Test func corruptBytesDoNotCrash() {
        var random = SeededRandom(seed)
        let sample = HTTPArchive([
            Exchange(
                request: ReceivedRequest(url: URL(fileURLWithPath: "/x"), body: Data("a".utf8)),
                response: Exchange.Response(status: .ok, headers: [.contentType: "a/b"], body: Data([1, 255]))
            )
        ])
        let bytes = sample.data()
        var readable = 0
        for _ in 0..<Scale.fuzz(weight: 100) {
            var data = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<data.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: data[index] = UInt8.random(in: 0...255, using: &random)
                case 1: data.remove(at: index)
                default: data.insert(UInt8(ascii: "["), at: index)
                }
            }
            guard let archive = try? HTTPArchive(data: data) else { continue }
            readable += 1
            #expect(
                (try? HTTPArchive(data: archive.data()))?.exchanges.count == archive.exchanges.count,
                "seed \(seed)"
            )
        }
        // Neither nearly all nor nearly none: the damage is of the kind that the reader has to notice.
        #expect(readable > 0 && readable < Scale.fuzz(weight: 100), "seed \(seed)")
    }
}
