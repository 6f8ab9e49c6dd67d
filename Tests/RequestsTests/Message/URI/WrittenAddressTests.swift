// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// Addresses that somebody else has written are sent as they were meant.
@Suite(.bounded) struct WrittenAddressTests {
    /// Why the library sends something else than another program.
    struct Difference: Sendable {
        let programs: Set<String>
        let parts: Set<String>
        let reason: String
        /// Returns what the library sends instead of what the program sends.
        let correct: @Sendable (_ sent: String, _ character: Character, _ neighbour: String) -> String
    }

    private static let refused = "\"<>[\\]^`{|}"

    static let differences: [Difference] = [
        Difference(
            programs: ["node"],
            parts: ["path"],
            reason: "a backslash isn't a slash (RFC 3986): as one, it could lead to another resource"
        ) { sent, character, _ in character == "\\" ? "%5C" + sent.dropFirst() : sent },
        Difference(
            programs: ["node", "curl"],
            parts: ["path", "query", "fragment"],
            reason: "RFC 3986 doesn't allow the character: servers refuse it, or read it in several ways"
        ) { sent, character, _ in
            guard refused.contains(character), sent.first == character, let byte = character.asciiValue else {
                return sent
            }
            return "%" + String(byte, radix: 16, uppercase: true) + sent.dropFirst()
        },
        Difference(
            programs: ["node", "curl"],
            parts: ["path", "query", "fragment"],
            reason: "no URL of Foundation can hold a lone %, and servers refuse it"
        ) { sent, character, neighbour in
            var sent = sent
            if character == "%", sent.first == "%" { sent = "%25" + sent.dropFirst() }
            if neighbour == "%", sent.hasSuffix("%z") { sent = sent.dropLast(2) + "%25z" }
            return sent
        },
        Difference(
            programs: ["node"],
            parts: ["query"],
            reason: "RFC 3986 allows an apostrophe in a query, and a signature may cover it"
        ) { sent, character, _ in character == "'" ? "'" + sent.dropFirst(3) : sent },
        Difference(
            programs: ["curl"],
            parts: ["path", "query"],
            reason: "in a query, only a form reads a plus as a space"
        ) { sent, character, neighbour in
            var sent = sent
            if character == " ", sent.first == "+" { sent = "%20" + sent.dropFirst() }
            if neighbour == " ", sent.hasSuffix("+z") { sent = sent.dropLast(2) + "%20z" }
            return sent
        },
        Difference(
            programs: ["curl"],
            parts: ["path", "query"],
            reason: "escapes are written in upper case (RFC 3986, 6.2.2.1)"
        ) { sent, _, _ in sent.replacing("%c3%a9", with: "%C3%A9") },
        Difference(
            programs: ["curl"],
            parts: ["path", "query"],
            reason: "a space in a fragment, which is never sent, is no reason to refuse the address"
        ) { sent, character, _ in character == "#" && sent == "refused" ? "" : sent },
        Difference(
            programs: ["node"],
            parts: ["fragment"],
            reason: "a fragment can't contain a # (RFC 3986); it isn't sent"
        ) { sent, character, _ in character == "#" ? "%23" + sent.dropFirst() : sent },
    ]

    private static let beginnings = ["path": "/a", "query": "/?a", "fragment": "/#a"]

    @Test(arguments: AddressRecordings.rows)
    func escapingMatchesOtherClients(_ row: AddressRecordings.Row) throws {
        let beginning = try #require(Self.beginnings[row.part])
        let differences = Self.differences.filter { $0.programs.contains(row.program) && $0.parts.contains(row.part) }
        #expect(row.outcomes.count == 95)
        for (character, word) in row.outcomes {
            let text = "http://example.com\(beginning)\(character)\(row.neighbour)z"
            var target = try #require(URL(lenient: text), "\(text)").absoluteString
            target = String(target.dropFirst("http://example.com".count))
            if row.program == "curl" { target = String(target.prefix { $0 != "#" }) }
            let expected = differences.reduce(word) { $1.correct($0, character, row.neighbour) }

            #expect(target == beginning + expected, "\(text)")
        }
    }

    /// A tab or a line break stays, escaped: node removes it, and a filter that reads the text would see another
    /// address.
    @Test(arguments: AddressRecordings.rowsOfControls, ["path", "query", "fragment"])
    func innerControlCharacterIsEscaped(_ row: AddressRecordings.Row, _ part: String) throws {
        let beginning = try #require(Self.beginnings[part])
        #expect(row.outcomes.count == 33)
        for (character, word) in row.outcomes {
            let text = "http://example.com\(beginning)\(character)\(row.neighbour)z"
            let target = try #require(URL(lenient: text)).absoluteString.dropFirst("http://example.com".count)
            var expected = row.neighbour == "%" ? word.replacing("%z", with: "%25z") : word
            if let removed = ["\t": "%09", "\n": "%0A", "\r": "%0D"][character] { expected = removed + expected }

            #expect(target == beginning + expected)
        }
    }

    @Test(arguments: ["\n", " ", "\t\r\n", "\0"]) func surroundingWhitespaceIsTrimmed(_ blank: String) throws {
        #expect(URL(lenient: "\(blank)http://h/a?b#c\(blank)")?.absoluteString == "http://h/a?b#c")
        #expect(URL(lenient: "a\(blank)")?.relativeString == "a" && URL(base: "https://h/v1\(blank)").path == "/v1")
        #expect(try HTTPClient(baseURL: "https://h/v1\(blank)").baseURL?.absoluteString == "https://h/v1")
    }

    @Test(arguments: differences.indices) func listedDifferencesAreNeeded(_ index: Int) {
        let difference = Self.differences[index]
        let rows = AddressRecordings.rows.filter {
            difference.programs.contains($0.program) && difference.parts.contains($0.part)
        }

        #expect(
            rows.contains { row in
                row.outcomes.contains { difference.correct($1, $0, row.neighbour) != $1 }
            },
            "\(difference.reason)"
        )
    }

    /// An escape beside a character that an address doesn't allow, and what is sent.
    static let addresses = [
        ("http://h/t?a=%2Fx&b=c|d", "http://h/t?a=%2Fx&b=c%7Cd"),
        ("http://h/a%2Fb [c]/d?e=%26", "http://h/a%2Fb%20%5Bc%5D/d?e=%26"),
        ("http://h/%e2%82%ac€?q=%e2%82%ac€#%25|", "http://h/%e2%82%ac%E2%82%AC?q=%e2%82%ac%E2%82%AC#%25%7C"),
        ("http://ad%40a:p[w@h/%41|", "http://ad%40a:p%5Bw@h/%41%7C"),
        ("http://[::1]:80/%5B[", "http://[::1]:80/%5B%5B"),
        ("?a=%2F|", "?a=%2F%7C"), ("//h/%2F|", "//h/%2F%7C"), ("a/%2F|#x", "a/%2F%7C#x"), ("#%2F|", "#%2F%7C"),
        ("http://h?%2F|", "http://h?%2F%7C"), ("http://h#%2F|", "http://h#%2F%7C"), ("|", "%7C"),
    ]

    @Test(arguments: addresses) func escapesArePreserved(_ text: String, _ sent: String) throws {
        #expect(try #require(URL(lenient: text)).relativeString == sent)
    }
}
