// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The snippets of *StreamingFromALanguageModel*.
@Suite(.bounded) struct StreamingFromALanguageModelTests {
    struct Prompt: Encodable {
        struct Message: Encodable {
            var role = "user"
            var content: String
        }
        var model = "small", stream = true
        var messages: [Message]
    }

    struct Delta: Decodable { var text: String }

    struct ModelError: Error, Decodable { var message: String }

    /// The type that an application would have.
    private struct Model {
        let client: HTTPClient

        init(at api: URL) {
            let client = HTTPClient(baseURL: api) { $0.validators = [.errors(ModelError.self)] }
            self.client = client
        }

        init(_ transport: any HTTPTransport) {
            client = HTTPClient(baseURL: URL(string: "https://llm.example.com/v1"), transport: transport)
        }

        func ask(_ question: String, show: (String) -> Void) async throws {
            let prompt = Prompt(messages: [Prompt.Message(content: question)])
            for try await event in client.serverSentEvents(Post<Data>("chat").body(.json(prompt))) {
                switch event.event {
                case "error": throw try event.decode(ModelError.self)
                case _ where event.data == "[DONE]": continue
                default: show(try event.decode(Delta.self).text)
                }
            }
        }

        /// Returns what a user reads at the end.
        func answer() async throws -> String {
            var text = ""
            do {
                try await ask("Why is the sky blue?") { text += $0 }
            } catch let error as ModelError {  // an event of the stream
                text += " (\(error.message))"
            } catch let error as RequestError {
                let reason = error.failure(as: ModelError.self)?.message  // a response with an error status
                text += " (\(reason ?? String(decoding: error.body, as: UTF8.self)))"
            }
            return text
        }
    }

    private static func events(_ text: String) -> StubResponse {
        .data(Data(text.utf8), type: "text/event-stream")
    }

    @Test(
        arguments: [
            (events("data: {\"text\": \"Be\"}\n\ndata: {\"text\": \"cause\"}\n\n"), "Because"),
            (events("data: {\"text\": \"Because\"}\n\ndata: [DONE]\n\n"), "Because"),
            (
                events("data: {\"text\": \"Be\"}\n\nevent: error\ndata: {\"message\": \"too long\"}\n\n"),
                "Be (too long)"
            ),
            (.json(#"{"message": "no credit"}"#, status: .paymentRequired), " (no credit)"),
            (.json(#"{"message": "no credit"}"#), #" ({"message": "no credit"})"#),
            (.status(.noContent), ""),
        ]
    )
    func replyIsReadAndBilledOnce(_ response: StubResponse, text: String) async throws {
        let server = try MockServer { _ in response }

        #expect(try await Model(at: server.url).answer() == text)

        #expect(server.requests.count == 1)
        #expect(
            server.requests[0].text == #"{"messages":[{"content":"Why is the sky blue?","role":"user"}],"#
                + #""model":"small","stream":true}"#
        )
    }

    @Test func truncatedReplyFailsAfterReceivedText() async throws {
        let half = "data: {\"text\": \"Be\"}\n\ndata: {\"text\": \"cau"
        let response = StubResponse.text(half, type: "text/event-stream").truncated(after: 30)
        let transport = InMemoryTransport { _ in response }

        var text = ""
        let error = await #expect(throws: RequestError.self) {
            try await Model(transport).ask("Why?") { text += $0 }
        }

        #expect(text == "Be" && error?.code == .connectionLost && transport.requests.count == 1)
    }

    @Test func busyModelIsRetried() async throws {
        let clock = ManualClock()
        let transport = InMemoryTransport.answering([
            .status(.tooManyRequests, headers: [.retryAfter: "20"]), Self.events("data: {}\n\n"),
        ])
        let client = HTTPClient(baseURL: URL(string: "https://llm.example.com"), transport: transport) {
            $0.clock = clock
        }

        let request = Post<Data>("chat").retry(.rateLimited)

        async let events = client.serverSentEvents(request).reduce(0) { count, _ in count + 1 }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(20))

        #expect(try await events == 1 && transport.requests.count == 2)
    }

    @Test func cancelledReplyStops() async throws {
        let gate = Gate()
        let response = Self.events("data: {\"text\": \"Once\"}\n\ndata: {\"text\": \"upon\"}\n\n").held(
            by: gate,
            after: 25
        )
        let model = Model(InMemoryTransport { _ in response })
        let shown = Recorder<String>()
        func ask(_ question: String, show: (String) -> Void) async throws { try await model.ask(question, show: show) }
        func show(_ text: String) { shown.record(text) }

        let answer = Task { try await ask("Tell me everything.") { show($0) } }
        // …
        await shown.first(1)
        answer.cancel()

        let error = await #expect(throws: RequestError.self) { try await answer.value }
        #expect(error?.code == .cancelled && shown.elements == ["Once"])
        gate.open()
    }
}
