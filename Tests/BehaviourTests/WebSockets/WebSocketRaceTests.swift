// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import RequestsWebSockets
import Testing

@Suite(.bounded) struct WebSocketRaceTests {
    /// Whichever side is first, the socket ends once, and nothing hangs.
    @Test func cancellationRacesClose() async throws {
        let server = try MockServer { _ in .webSocket { try $0.echo() } }
        let client = HTTPClient(baseURL: server.url)
        for round in 0..<Scale.races {
            let socket = try await client.webSocket("")
            let operation = try #require(client.requestOperations.first)
            let reading = Task { for try await _ in socket.messages {} }
            let sending = Task { try await socket.send("hello") }
            async let closing: Void = socket.close()
            switch round % 4 {
            case 0: operation.cancel()
            case 1: reading.cancel()
            case 2: sending.cancel()
            default: break
            }
            await closing
            _ = await reading.result
            _ = await sending.result
            #expect(socket.closeCode != nil)
            try await eventually { operation.isFinished }
        }
        try await eventually { client.operations.isEmpty }
        try await server.awaitConnections(open: 0)
    }

    @Test func cancellationRacesHandshake() async throws {
        let server = try MockServer { _ in .webSocket { try $0.echo() } }
        let client = HTTPClient(baseURL: server.url)
        for round in 0..<Scale.races {
            let opening = Task { try await client.webSocket("") }
            for _ in 0..<round % 16 { await Task.yield() }
            opening.cancel()
            if case .success(let socket) = await opening.result { await socket.close() }
        }
        try await eventually { client.operations.isEmpty }
        try await eventually { server.openConnections == 0 }
    }

    @Test func concurrentSendersDoNotInterleaveMessages() async throws {
        let (senders, count) = (8, Scale.pick(50, whole: 500))
        let server = try MockServer { _ in .webSocket { try $0.echo() } }
        let socket = try await HTTPClient(baseURL: server.url).webSocket("")

        let received = try await withThrowingTaskGroup(of: Void.self) { group in
            for sender in 0..<senders {
                group.addTask {
                    for number in 0..<count {
                        let text = "\(sender) \(number) " + String(repeating: "x", count: number * 40)
                        try await socket.send(text)
                    }
                }
            }
            let received = try await socket.next(senders * count)
            try await group.waitForAll()
            return received
        }
        await socket.close()

        for sender in 0..<senders {
            let own = received.compactMap(\.text).filter { $0.hasPrefix("\(sender) ") }
            #expect(own.map { $0.split(separator: " ")[1] } == (0..<count).map { "\($0)" })
            #expect(own.enumerated().allSatisfy { $1.count { $0 == "x" } == $0 * 40 })
        }
    }
}
