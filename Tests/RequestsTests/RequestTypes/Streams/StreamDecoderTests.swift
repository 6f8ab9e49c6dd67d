// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct StreamDecoderTests {
    @Test func eventUsesDecoderOfItsStream() async throws {
        struct Reading: Decodable, Equatable {
            var roomTemperature: Int
        }
        let decode: @Sendable () -> JSONDecoder = {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return decoder
        }
        let content = Data("data: {\"room_temperature\": 21}\n\ndata: x\n\n".utf8)
        let head = HTTPResponseHead(status: .ok)
        let stream = ResponseStream(head, StreamCore(of: [content], in: ReceivingContext(head, makeDecoder: decode)))
        var events: [ServerSentEvent] = []
        for try await event in stream.serverSentEvents { events.append(event) }

        #expect(try events[0].decode(Reading.self) == Reading(roomTemperature: 21))
        let reading: Reading? = try? events[0].decode(using: JSONDecoder())
        #expect(reading == nil)
        let error = #expect(throws: RequestError.self) { try events[1].decode(Reading.self) }
        #expect(error?.code == .decoding && error?.underlying is DecodingError)
        // The decoder is no part of the event.
        #expect(events[1] == ServerSentEvent(data: "x") && Set(events).contains(ServerSentEvent(data: "x")))
    }
}
