// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The suite of tests for HTTP caches at github.com/http-tests/cache-tests, as its own server exports it.
struct CacheSuite: Decodable, Sendable {
    let name: String
    let id: String
    let tests: [CacheTest]
}

/// One test of the suite: requests, one after the other, and the expectations of their responses.
struct CacheTest: Decodable, Sendable {
    enum Kind: String, Decodable, Sendable {
        /// A requirement of RFC 9111.
        case required
        /// An optional improvement of a cache.
        case optimal
        /// A question without a required answer.
        case check
    }

    let name: String
    let id: String
    let kind: Kind?
    let dependsOn: [String]?
    let cdnOnly: Bool?
    let browserSkip: Bool?
    let requests: [JSONValue]

    enum CodingKeys: String, CodingKey {
        case name, id, kind, requests
        case dependsOn = "depends_on"
        case cdnOnly = "cdn_only"
        case browserSkip = "browser_skip"
    }

    /// Whether the test is for the private caches of browsers.
    var isForBrowsers: Bool { cdnOnly != true && browserSkip != true }

    /// The steps, as far as the client uses them.
    var steps: [CacheStep] { requests.map(CacheStep.init) }
}

/// One request of a test.
struct CacheStep: Sendable {
    let json: JSONValue

    func text(_ name: String) -> String? { json[name]?.text }
    func isTrue(_ name: String) -> Bool { json[name] == .bool(true) }
    func list(_ name: String) -> [JSONValue]? { json[name]?.elements }

    /// Whether a failed expectation means that the test couldn't run, rather than that it failed.
    func isSetup(_ name: String) -> Bool {
        isTrue("setup") || (list("setup_tests") ?? []).contains(.string(name))
    }

    /// The policy that a browser would derive from the mode of the request.
    var cachePolicy: URLRequest.CachePolicy {
        switch text("cache") {
        case "no-cache": .reloadRevalidatingCacheData
        case "reload", "no-store": .reloadIgnoringLocalCacheData
        case "force-cache": .returnCacheDataElseLoad
        case "only-if-cached": .returnCacheDataDontLoad
        default: .useProtocolCachePolicy
        }
    }

    /// Returns the header fields to send; `now` is the time of the server's last response.
    func headers(now: Date?) -> HTTPHeaders {
        var headers: HTTPHeaders = []
        for field in list("request_headers") ?? [] {
            guard let name = field[0]?.text, let value = field[1] else { continue }
            var text = value.text ?? ""
            if case .integer(let seconds) = value, let now, isTrue("magic_ims") {
                text = HTTPDate(now.addingTimeInterval(TimeInterval(seconds))).description
            }
            headers.add(text, for: HTTPField.Name(name))
        }
        return headers
    }

    /// Returns a field as the server writes it: dates and addresses are relative in the suite.
    func written(_ field: JSONValue, as response: HTTPHeaders) -> (name: HTTPField.Name, value: String?) {
        let name = HTTPField.Name(field[0]?.text ?? "")
        switch field[1] {
        case .integer(let offset) where ["date", "expires", "last-modified"].contains(name.rawValue.lowercased()):
            let now = Date(timeIntervalSince1970: (Double(response["Server-Now"] ?? "") ?? 0) / 1000)
            return (name, HTTPDate(now.addingTimeInterval(TimeInterval(offset))).description)
        case let value?
        where isTrue("magic_locations")
            && ["location", "content-location"]
                .contains(name.rawValue.lowercased()):
            let base = response["Server-Base-Url"] ?? ""
            let path = value.text ?? ""
            return (name, path.isEmpty ? base : "\(base)/\(path)")
        case let value:
            return (name, value?.text)
        }
    }
}

extension JSONValue {
    /// The value as text, as JavaScript would write it in a field.
    var text: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .bool(let value): String(value)
        default: nil
        }
    }

    var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    var members: [String: JSONValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    var number: Int? {
        if case .integer(let number) = self { Int(number) } else { nil }
    }
}

/// The reason why a test didn't pass.
struct CacheFailure: Error, CustomStringConvertible {
    let isSetup: Bool
    let reason: String

    var description: String { (isSetup ? "setup: " : "") + reason }

    static func check(_ isMet: Bool, isSetup: Bool, _ reason: @autoclosure () -> String) throws {
        if !isMet { throw CacheFailure(isSetup: isSetup, reason: reason()) }
    }
}
