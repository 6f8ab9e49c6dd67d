// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import RequestsWebSockets
import Testing

extension OverLoopback {
    /// WebSockets to a server of another author: Python's websockets.
    @Suite(.bounded, .enabled(if: InteropServers.current?.has(.sockets) == true, "Scripts/interop starts the server"))
    struct InteropWebSocketTests {
        private let servers: InteropServers

        init() throws {
            servers = try #require(InteropServers.current)
        }

        private func client(_ server: InteropServers.Server = .sockets) throws -> HTTPClient {
            let trust = try servers.authority
            return HTTPClient(baseURL: try servers.url(server)) { $0.trust = trust }
        }

        @Test(arguments: [InteropServers.Server.sockets, .secureSockets])
        func messagesOfAllSizesAreEchoed(_ server: InteropServers.Server) async throws {
            let sizes = [0, 1, 125, 126, 127, 65_535, 65_536, 1 << 20, 10_000_000]
            let sent = sizes.flatMap { size -> [WebSocket.Message] in
                [
                    .data(Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) })),
                    .text(String(repeating: "ü", count: size / 2)),
                ]
            }

            let socket = try await client(server).webSocket("echo")
            let sending = Task { for message in sent { try await socket.send(message) } }
            var received: [WebSocket.Message] = []
            for try await message in socket.messages {
                received.append(message)
                if received.count == sent.count { break }
            }
            try await sending.value
            await socket.close()

            #expect(received == sent)
            #expect(socket.closeCode == .normalClosure)
        }

        @Test(arguments: [1000, 1001, 1008, 1011, 3000, 4999] as [UInt16])
        func serverCloseCodeIsReported(_ code: UInt16) async throws {
            let socket = try await client().webSocket("close/\(code)")
            for try await _ in socket.messages {}

            #expect(socket.closeCode?.rawValue == code)
            #expect(socket.closeReason == "as asked")
        }

        @Test func fragmentsAreCombinedIntoMessage() async throws {
            let socket = try await client().webSocket("fragments/1000")
            let messages = try await socket.messages.reduce(into: []) { $0.append($1) }

            #expect(messages == [.text((0..<1000).map { "part \($0) " }.joined()), .data(Data("end".utf8))])
        }

        @Test func pingIsAnswered() async throws {
            let socket = try await client().webSocket("ping")

            #expect(try await socket.messages.reduce(into: []) { $0.append($1) } == [.text("answered True")])
        }

        @Test func protocolIsNegotiated() async throws {
            let socket = try await client().webSocket("echo", protocols: ["chat.v1", "other"])

            #expect(socket.negotiatedProtocol == "chat.v1")
            await socket.close()
        }

        @Test func rejectedHandshakeProvidesResponse() async throws {
            let error = await #expect(throws: RequestError.self) { try await client().webSocket("refused") }

            #expect(error?.code == .unacceptableStatus)
            #expect(error?.response?.status == .forbidden)
            #expect(error?.body == Data("no room\n".utf8))
        }

        @Test(arguments: [InteropServers.Server.sockets, .secureSockets])
        func abortFailsAsConnectionLost(_ server: InteropServers.Server) async throws {
            let socket = try await client(server).webSocket("abort")
            let error = await #expect(throws: RequestError.self) { for try await _ in socket.messages {} }

            #expect(error?.code == .connectionLost)
            #expect(socket.closeCode == .abnormalClosure)
        }

        @Test func untrustedServerIsRejected() async throws {
            let client = HTTPClient(baseURL: try servers.url(.secureSockets))

            let error = await #expect(throws: RequestError.self) { try await client.webSocket("echo") }

            #expect(error?.code == .untrusted)
        }

        @Test(.tags(.alone)) func manySocketsEchoConcurrently() async throws {
            let (count, messages) = (Scale.pick(100, whole: 1000), 100)
            let client = try client()

            let echoes = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<count {
                    group.addTask {
                        let socket = try await client.webSocket("echo")
                        var received = 0
                        var iterator = socket.messages.makeAsyncIterator()
                        for index in 0..<messages {
                            let text = "\(number) \(index)"
                            try await socket.send(text)
                            if try await iterator.next() == .text(text) { received += 1 }
                        }
                        await socket.close()
                        return received
                    }
                }
                return try await group.reduce(0, +)
            }

            #expect(echoes == count * messages)
            try await eventually { client.operations.isEmpty }
        }
    }
}
#endif
