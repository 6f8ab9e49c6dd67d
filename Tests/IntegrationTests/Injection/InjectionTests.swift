// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// Any text in any place of a request is either an error, and nothing is sent, or the request on the wire differs
    /// from a harmless one in that place alone.
    @Suite(.bounded) struct InjectionTests {
        /// Once without a `URLSession`, and once with one.
        static let transports = TransportUnderTest.only(.standard, .injectedSession)

        /// Returns the texts for a place: the plainest and some others, which differ by transport; all of them in a
        /// full run.
        private static func texts(for place: Injection, over transport: TransportUnderTest) -> [String] {
            guard !Scale.isWhole else { return HostileText.all }
            let index = Injection.all.firstIndex { $0.testDescription == place.testDescription } ?? 0
            let number = 2 * index + (transport == .standard ? 0 : 1)
            return [HostileText.newField] + HostileText.all.sample(8, number: number)
        }

        @Test(arguments: transports, Injection.all)
        func hostileTextChangesOnlyItsOwnField(_ transport: TransportUnderTest, _ place: Injection) async throws {
            let server = try MockServer { _ in .noContent }
            let client = HTTPClient(
                baseURL: server.url("/base?key=1"),
                transport: transport.makeSession() ?? HTTPClient.defaultTransport
            )
            func arrived(_ text: String) async throws -> ReceivedRequest? {
                let count = server.requests.count
                do throws(RequestError) {
                    _ = try await client.fetch(try request(place, text))
                } catch {
                    try #require(error.isOfTheCaller, "\(text.debugDescription.prefix(60)): \(error)")
                    #expect(error.description.utf8.count < 1_000)
                    #expect(!error.description.utf8.contains { $0 < 0x20 || $0 == 0x7F })
                    #expect(server.requests.count == count)
                    return nil
                }
                #expect(server.requests.count == count + 1, "\(text.debugDescription.prefix(60))")
                return server.requests.last
            }

            let harmless = try Wire(try #require(try await arrived(place.harmless)))
            for text in Self.texts(for: place, over: transport) {
                guard let request = try await arrived(text) else { continue }
                let wire = try Wire(request)
                let isGood =
                    wire.isWhole && wire.host == "127.0.0.1:\(server.port)"
                    && wire.names(besides: text).isContained(in: harmless.names(besides: place.harmless))
                    && wire.staysBelow("/base")
                #expect(isGood, "\(text.debugDescription.prefix(60)) became \(wire.head.debugDescription.prefix(600))")
            }
        }

        /// Returns the request; if the text is an error in this place already, nothing is sent either.
        private func request(_ place: Injection, _ text: String) throws(RequestError) -> HTTPRequest {
            do {
                return try place.makeRequest(text)
            } catch {
                throw RequestError(.invalidRequest, phase: .building, reason: "\(type(of: error))")
            }
        }

        @Test(arguments: HostileText.all)
        func tagsAreNotSent(_ text: String) async throws {
            let server = try MockServer { _ in .noContent }
            let client = HTTPClient(baseURL: server.url, transport: HTTPClient.defaultTransport)
            var request = Get<Data>("a")
            let plain = request.identifier
            request.options.tag = text

            _ = try await client.fetch(request)

            #expect(server.requests.map(\.target) == ["/a"])
            #expect(request.identifier == plain)
            let sent = try #require(server.requests.first)
            #expect(!sent.headers.contains { $0.name.rawValue.lowercased().contains("evil") })
        }

        @Test(arguments: HostileText.all)
        func invalidHostIsRejected(_ text: String) {
            var request = HTTPRequest("http://localhost/a")

            request.host = text

            // RFC 3986, 3.2.2; letters of other scripts are a matter of IDNA.
            let allowed = Set("-._~!$&'()*+,;=".unicodeScalars)
            let isAddress = text == "[::1]"
            let isPlain =
                !text.isEmpty
                && text.unicodeScalars.allSatisfy { scalar in
                    !scalar.isASCII || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                        || allowed.contains(scalar)
                }
            let url = try? request.toURLRequest().url
            #expect(url == nil || isPlain || isAddress)
            #expect(url != nil || !isPlain || text.unicodeScalars.contains { !$0.isASCII })
            guard let url else { return }
            #expect(url.scheme == "http" && url.path == "/a" && url.query == nil && url.user == nil)
            #expect(url.absoluteString.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        }

        @Test(arguments: HostileText.all)
        func hostileTextAddsNoShellWords(_ text: String) async throws {
            func words(_ text: String) throws -> [String] {
                let request = HTTPRequest(
                    method: .post,
                    "/a",
                    query: [Query.Item(text, value: text)],
                    body: .text(text)
                )
                .settingHeader(HTTPField("X-A", text))
                let url = try #require(URL(string: "https://example.com"))
                let command = try request.cURL(baseURL: url, revealingSecrets: true)
                return try #require(command.shellWords, "\(command)")
                    .filter { $0 != "--path-as-is" && $0 != "--globoff" }
            }

            do {
                let hostile = try words(text)
                #expect(hostile.count == (try words("harmless")).count)
                #expect(hostile.contains(text))
            } catch {
                // No header field may have the text.
                #expect(text.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }, "\(error)")
            }
        }
    }
}

/// The head of a request as it was on the wire.
private struct Wire {
    let head: String
    private let lines: [String]
    private let isTerminated: Bool

    init(_ request: ReceivedRequest) throws {
        let bytes = request.rawBytes
        let end = try #require(bytes.firstRange(of: Data("\r\n\r\n".utf8)))
        head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        // Compared as bytes, since a Swift character may contain a line break.
        lines = Array(bytes[..<end.lowerBound]).split(separator: 0x0A, omittingEmptySubsequences: false)
            .map { String(decoding: $0.last == 0x0D ? $0.dropLast() : $0, as: UTF8.self) }
        let breaks = bytes[..<end.lowerBound].filter { $0 == 0x0A }.count
        let returns = bytes[..<end.lowerBound].filter { $0 == 0x0D }.count
        isTerminated = breaks == returns && breaks == lines.count - 1
    }

    /// Whether there is one request line of three words, and no control character except the line ends.
    var isWhole: Bool {
        let words = lines[0].utf8.split(separator: 0x20, omittingEmptySubsequences: false)
        return isTerminated && words.count == 3 && words[1].allSatisfy { $0 > 0x20 && $0 < 0x7F }
            && lines[0].hasSuffix(" HTTP/1.1")
            && lines.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } }
    }

    var host: String? {
        let hosts = lines.filter { $0.lowercased().hasPrefix("host:") }
        return hosts.count == 1 ? hosts[0].dropFirst(5).trimmingCharacters(in: .whitespaces) : nil
    }

    /// Returns the names of the fields, except for one that is named like the text itself, as intended.
    func names(besides text: String) -> [String] {
        lines.dropFirst().map { String($0.prefix { $0 != ":" }).lowercased() }
            .filter { $0 != text.lowercased() && $0 != "x-" + text.lowercased() }.sorted()
    }

    /// Whether the path is below another one, both for servers that decode it and for those that don't.
    func staysBelow(_ base: String) -> Bool {
        var path = lines[0].split(separator: " ").dropFirst().first.map { String($0.prefix { $0 != "?" }) } ?? ""
        guard path == base || path.hasPrefix(base + "/") else { return false }
        for _ in 0..<2 {
            if path.split(whereSeparator: { $0 == "/" || $0 == "\\" }).contains("..") { return false }
            path = path.removingPercentEncoding ?? path
        }
        return true
    }
}

extension [String] {
    /// Whether another list contains all elements, at least as often. Foundation drops empty fields and fields with a
    /// line break, so there may be fewer.
    fileprivate func isContained(in other: [String]) -> Bool {
        var rest = other
        return allSatisfy { name in rest.firstIndex(of: name).map { rest.remove(at: $0) } != nil }
    }
}

extension RequestError {
    /// Whether the request couldn't be made.
    fileprivate var isOfTheCaller: Bool { code == .invalidRequest || code == .encoding }
}

extension String {
    /// The words that a shell reads from text in single quotes; `nil` if the shell would expand it, or if a quote isn't
    /// closed.
    fileprivate var shellWords: [String]? {
        var words: [String] = []
        var word: [UInt8]?
        var bytes = Array(utf8)[...]
        while let byte = bytes.popFirst() {
            switch byte {
            case UInt8(ascii: "'"):
                guard let end = bytes.firstIndex(of: UInt8(ascii: "'")) else { return nil }
                word = (word ?? []) + bytes[..<end]
                bytes = bytes[(end + 1)...]
            case UInt8(ascii: "\\"):
                guard let next = bytes.popFirst() else { return nil }
                if next != 0x0A { word = (word ?? []) + [next] }
            case 0x20, 0x0A:
                if let word { words.append(String(decoding: word, as: UTF8.self)) }
                word = nil
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"),
                UInt8(ascii: ":"), UInt8(ascii: "="), UInt8(ascii: "%"), UInt8(ascii: "_"), UInt8(ascii: "|"),
                UInt8(ascii: "@"):
                word = (word ?? []) + [byte]
            default: return nil
            }
        }
        if let word { words.append(String(decoding: word, as: UTF8.self)) }
        return words
    }
}
