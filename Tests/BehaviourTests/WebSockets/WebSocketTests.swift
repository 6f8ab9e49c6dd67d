// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct WebSocketTests {
    @Test func messagesGoBothWays() async throws {
        let server = try MockServer { _ in .webSocket { try $0.echo() } }
        let client = HTTPClient(baseURL: server.url)

        let socket = try await client.webSocket("echo")
        try await socket.send("hello")
        try await socket.send(Data([1, 2, 3]))
        var messages = socket.messages.makeAsyncIterator()
        let echoes = [try await messages.next(), try await messages.next()]
        #expect(echoes == [.text("hello"), .data(Data([1, 2, 3]))])
        await socket.close()

        #expect(socket.closeCode == .normalClosure)
    }
}
