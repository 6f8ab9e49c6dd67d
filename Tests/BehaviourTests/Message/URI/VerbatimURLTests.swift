// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// A URL with percent escapes and an invalid character, in each way in which a request can receive it.
@Suite(.bounded) struct VerbatimURLTests {
    private static let written = "https://h.example/t%2Fu?a=%2Fx&b=c|d&sig=%2Bab%3D"
    private static let sent = "https://h.example/t%2Fu?a=%2Fx&b=c%7Cd&sig=%2Bab%3D"

    /// Runs a call whose first response contains the URL, and returns the URL of the last request.
    private func last(
        _ first: StubResponse? = nil,
        base: String? = nil,
        _ call: (HTTPClient) async throws -> Void
    ) async throws -> String? {
        let transport = InMemoryTransport { request in
            guard let first, request.url.path() == "/first" else { return .json(#"{"items": [], "next": null}"#) }
            return first
        }
        let client =
            if let base { try HTTPClient(baseURL: base, transport: transport) } else {
                HTTPClient(transport: transport)
            }
        try await call(client)
        return transport.requests.last?.url.absoluteString
    }

    private struct Page: Codable, Sendable {
        var items: [Int] = []
        var next: String?
    }

    private static let first = HTTPRequest("https://h.example/first")

    @Test func redirectLocationKeepsItsEscapes() async throws {
        for location in [
            Self.written, "/t%2Fu?a=%2Fx&b=c|d&sig=%2Bab%3D", "//h.example/t%2Fu?a=%2Fx&b=c|d&sig=%2Bab%3D",
        ] {
            #expect(try await last(.redirect(to: location)) { _ = try await $0.send(Self.first) } == Self.sent)
        }
    }

    @Test func nextPageLinkKeepsItsEscapes() async throws {
        let linked = StubResponse.status(.ok, headers: [.link: "<\(Self.written)>; rel=next"], body: Data("{}".utf8))
        let byField = try await last(linked) { client in
            for try await _ in client.pages(Get<Data>(URL(string: "https://h.example/first")!)) {}
        }
        #expect(byField == Self.sent)

        let inContent = StubResponse.json(Page(next: Self.written))
        let byMember = try await last(inContent) { client in
            let request = Get<Page>(URL(string: "https://h.example/first")!)
            for try await _ in client.pages(request, by: .following(\.body.next)) {}
        }
        #expect(byMember == Self.sent)
    }

    @Test func literalURLKeepsItsEscapes() async throws {
        let requests: [HTTPRequest] = [
            HTTPRequest("https://h.example/t%2Fu?a=%2Fx&b=c|d&sig=%2Bab%3D"), HTTPRequest("\(raw: Self.written)"),
            HTTPRequest("https://h.example/t%2Fu?a=\("/x")&b=c|d&sig=\("+ab=")"),
        ]
        for request in requests {
            #expect(try await last { _ = try await $0.send(request) } == Self.sent)
            #expect(request.url.absoluteString == Self.sent)
        }
    }

    @Test func valueNextToBracketsIsEscapedOnce() async throws {
        let template = HTTPRequest(URI: "https://h.example/t%2Fu?page[a]=1{&sig}", variables: ["sig": "+ab="])
        let expanded = try await last { _ = try await $0.send(template) }
        #expect(expanded == "https://h.example/t%2Fu?page%5Ba%5D=1&sig=%2Bab%3D")

        let id = "a/b|c"
        let sent = try await last {
            _ = try await $0.send(Get<Data>("https://h.example/t?page[number]=2&filter=\(id)"))
        }

        #expect(sent == "https://h.example/t?page%5Bnumber%5D=2&filter=a%2Fb%7Cc")
    }

    @Test func baseURLKeepsItsEscapes() async throws {
        let sent = try await last(base: "https://h.example/v%2F1 [x]?key=%2B|") {
            _ = try await $0.send(HTTPRequest("a"))
        }

        #expect(sent == "https://h.example/v%2F1%20%5Bx%5D/a?key=%2B%7C")
    }

    @Test func relativeURLRoundTrips() async throws {
        var request = HTTPRequest("t%2Fu?a=%2Fx&b=c|d")
        request.url = request.url
        let again = request
        let sent = try await last(base: "https://h.example") { _ = try await $0.send(again) }

        #expect(sent == "https://h.example/t%2Fu?a=%2Fx&b=c%7Cd")
    }
}
