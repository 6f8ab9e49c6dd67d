// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// Connections that end while their content is read: which error, from where, and what it says.
    @Suite(.bounded) struct StreamCutTests {
        /// The end of a connection, after a part of a response.
        struct Cut: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let wire: String
            var isReset = false
            /// Whether the head is complete, and what of the content has arrived.
            var content: String?

            func response(when isRead: Gate) -> StubResponse {
                let sent: [StubResponse.Step] = wire.isEmpty ? [] : [.send(Data(wire.utf8))]
                // A reset discards bytes that the client hasn't read.
                let reset = content == nil ? [.reset] : [.waitFor(isRead), .reset] as [StubResponse.Step]
                return .script(sent + (isReset ? reset : [.close]), keepsAlive: false)
            }
        }

        private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
        private static let chunked = head + "Transfer-Encoding: chunked\r\n\r\n"

        static let cuts = [
            Cut(testDescription: "before the head", wire: ""),
            Cut(testDescription: "reset before the head", wire: "", isReset: true),
            Cut(testDescription: "in the head", wire: "HTTP/1.1 200 OK\r\nContent-Ty"),
            Cut(testDescription: "after the head", wire: head + "Content-Length: 100\r\n\r\n", content: ""),
            Cut(testDescription: "after the head, chunked", wire: chunked, content: ""),
            Cut(testDescription: "in a line", wire: head + "Content-Length: 100\r\n\r\n1\n2\n34", content: "1\n2\n34"),
            Cut(testDescription: "between chunks", wire: chunked + "4\r\n1\n2\n\r\n", content: "1\n2\n"),
            Cut(testDescription: "in a chunk", wire: chunked + "ff\r\n1\n2\n", content: "1\n2\n"),
            Cut(testDescription: "before the last chunk", wire: chunked + "7\r\ndata: 1\r\n", content: "data: 1"),
            Cut(testDescription: "reset after the head", wire: chunked, isReset: true, content: ""),
            Cut(testDescription: "reset in a line", wire: chunked + "4\r\n1\n23\r\n", isReset: true, content: "1\n23"),
        ]

        /// A loop over the content; returns nothing, and records what it reads.
        struct Loop: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let read: @Sendable (HTTPClient, HTTPRequest, Recorder<String>) async throws -> Void
        }

        static let loops = [
            Loop(testDescription: "chunks") { client, request, read in
                for try await chunk in try await client.stream(request) {
                    read.record(String(decoding: chunk, as: UTF8.self))
                }
            },
            Loop(testDescription: "lines") { client, request, read in
                for try await line in try await client.stream(request).lines { read.record(line + "\n") }
            },
            Loop(testDescription: "JSON lines") { client, request, read in
                for try await value in try await client.stream(request).jsonLines(Int.self) {
                    read.record("\(value)\n")
                }
            },
            Loop(testDescription: "events of a stream") { client, request, read in
                for try await event in try await client.stream(request).serverSentEvents { read.record(event.data) }
            },
            Loop(testDescription: "events of a client") { client, request, read in
                for try await event in client.serverSentEvents(request, reconnection: .never) {
                    read.record(event.data)
                }
            },
            Loop(testDescription: "pages") { client, request, read in
                for try await page in client.pages(Get<String>(request.url)) { read.record(page) }
            },
            Loop(testDescription: "events of a POST") { client, request, read in
                for try await event in client.serverSentEvents(request.method(.post)) { read.record(event.data) }
            },
        ]

        @Test(arguments: TransportUnderTest.all, cuts)
        func truncatedStreamFailsLikeFetch(_ transport: TransportUnderTest, _ cut: Cut) async throws {
            // Foundation ends the process when a connection ends in a head.
            if cut.testDescription == "in the head", transport.runsOverURLSessionOfLinux { return }
            for loop in Self.loops {
                let tap = Tap(transport)
                let isRead = cut.content == "" ? tap.head : tap.content
                let server = try MockServer { _ in cut.response(when: isRead) }
                let client = HTTPClient(baseURL: server.url, transport: tap)
                let read = Recorder<String>()

                let error = await #expect(throws: RequestError.self, "\(loop)") {
                    try await loop.read(client, HTTPRequest("feed"), read)
                }

                let place: Comment = "\(loop.testDescription), \(cut.testDescription): \(String(describing: error))"
                #expect(error?.code == .connectionLost, place)
                #expect(error?.request?.url.path == "/feed", place)
                #expect(error?.transfers.count == 1 && error?.transfers.first?.error != nil, place)
                #expect(error?.response?.status == (cut.content == nil ? nil : .ok), place)
                #expect(server.requests.count == 1, place)
                let lines = cut.content.map { $0.split(separator: "\n", omittingEmptySubsequences: false).dropLast() }
                switch loop.testDescription {
                case "chunks": #expect(read.elements.joined() == cut.content ?? "", place)
                case "lines", "JSON lines":
                    #expect(read.elements == lines?.map { $0 + "\n" } ?? [], place)
                default: #expect(read.elements.isEmpty, place)
                }
            }
        }
    }
}
