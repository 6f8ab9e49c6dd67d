// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// Faults of a peer: each is one typed error or one result, in bounded time and with one completion.
    ///
    /// Omitted are an end in the middle of a response's head, and trailers after a chunked body. Either ends the
    /// process inside Foundation on Linux, in every release up to 6.3.3. They are tested with another transport.
    @Suite(.bounded) struct FaultTests {
        struct Fault: Sendable, CustomTestStringConvertible {
            let testDescription: String
            /// The server's response; the gate opens when the client has read content.
            let response: @Sendable (_ isRead: Gate) -> StubResponse
            let code: RequestError.Code
            /// The status in the error; `nil` if no head came.
            var status: HTTPStatus?

            init(_ name: String, _ response: StubResponse, _ code: RequestError.Code, status: HTTPStatus? = nil) {
                self.init(name, code, status: status) { _ in response }
            }

            /// Makes a fault after the bytes that the client has read, since a reset discards unread bytes.
            init(
                _ name: String,
                _ code: RequestError.Code,
                status: HTTPStatus? = nil,
                _ response: @escaping @Sendable (_ isRead: Gate) -> StubResponse
            ) {
                (testDescription, self.response, self.code, self.status) = (name, response, code, status)
            }
        }

        static let faults: [Fault] = [
            Fault("close before the first byte", .closed, .connectionLost),
            Fault("reset before the first byte", .reset, .connectionLost),
            Fault("close in the content", .partial(then: .close), .connectionLost, status: .ok),
            Fault("close in the content, later", .connectionLost, status: .ok) {
                .partial(then: .waitFor($0), .close)
            },
            Fault("close between chunks", .connectionLost, status: .ok) {
                .partialChunks(then: .waitFor($0), .close)
            },
            Fault(
                "close in a chunk",
                .partialChunks(then: .send(Data("ff\r\n012".utf8)), .close),
                .connectionLost,
                status: .ok
            ),
            Fault("reset in the content", .connectionLost, status: .ok) {
                .partial(then: .waitFor($0), .reset)
            },
            Fault("reset between chunks", .connectionLost, status: .ok) {
                .partialChunks(then: .waitFor($0), .reset)
            },
            Fault(
                "a chunk without a size",
                .partialChunks(then: .send(Data("zz\r\n".utf8))),
                .badResponse,
                status: .ok
            ),
            Fault("garbage", .raw("GARBAGE\r\n\r\n"), .badResponse),
            Fault("garbage of many bytes", .raw(Data(repeating: 0xFF, count: 200_000)), .badResponse),
            Fault(
                "content that isn't compressed as it says",
                .text("plain", headers: [.contentEncoding: "gzip"]),
                .badResponse,
                status: .ok
            ),
            Fault("not found", .text("nothing here", status: .notFound), .unacceptableStatus, status: .notFound),
            Fault(
                "server error",
                .text("broken", status: .internalServerError).closing,
                .unacceptableStatus,
                status: .internalServerError
            ),
        ]

        @Test(arguments: TransportUnderTest.all, faults)
        func faultThrowsSingleTypedError(_ transport: TransportUnderTest, _ fault: Fault) async throws {
            let tap = Tap(transport)
            let server = try MockServer { _ in fault.response(tap.content) }

            let run = await transport.run(Call(server.url), over: tap)

            let error = try #require(run.error)
            #expect(error.code == fault.code, "\(error), \(String(describing: error.underlying))")
            #expect(error.response?.status == fault.status)
            #expect(error.request?.url == server.url)
            #expect(error.transfers.count == 1)
            #expect(run.durationOfTransfer < .seconds(30))
            #expect(server.requests.count == 1)
            let events = tap.events
            #expect(events.filter { $0.hasPrefix("end") }.count == 1, "\(events)")
            #expect(events.last?.hasPrefix("end") == true, "\(events)")
            #expect(events.filter { $0.hasPrefix("head") }.count <= 1, "\(events)")
            // All connections are closed, so nothing waits for more.
            if fault.code != .unacceptableStatus { try await server.awaitConnections(open: 0) }
        }

        @Test(arguments: TransportUnderTest.all)
        func closedPortFails(_ transport: TransportUnderTest) async throws {
            let port = try ClosedPort()

            let run = await transport.run(Call(port.url))

            #expect(run.error?.code == .cannotConnect)
            #expect(run.error?.phase == .sending)
            #expect(run.durationOfTransfer < .seconds(30))
        }

        @Test(arguments: TransportUnderTest.all, [HTTPStatus.notFound, .badRequest, .serviceUnavailable])
        func unacceptableStatusKeepsResponse(_ transport: TransportUnderTest, _ status: HTTPStatus) async throws {
            let server = try MockServer { _ in .text("why", status: status, headers: ["X-Why": "because"]) }

            let run = await transport.run(Call(server.url))

            #expect(run.error?.code == .unacceptableStatus)
            #expect(run.error?.response?.status == status)
            #expect(run.error?.response?["X-Why"] == "because")
            #expect(run.error?.body == Data("why".utf8))
            #expect(run.error?.phase == .validating)
        }

        @Test(arguments: TransportUnderTest.all)
        func excessContentIsIgnoredOrFails(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello") }

            let run = await transport.run(Call(server.url))

            switch run.outcome {
            case .success(let content): #expect(content == Data("he".utf8))
            case .failure(let error): #expect(error.code == .badResponse)
            case nil: Issue.record("\(run.outcomes.count) completions")
            }
            #expect(run.durationOfTransfer < .seconds(30))
        }

        @Test(arguments: TransportUnderTest.all)
        func bodyWithoutLengthEndsWithConnection(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .raw("HTTP/1.1 200 OK\r\n\r\nhello") }

            let run = await transport.run(Call(server.url))

            #expect(run.value == Data("hello".utf8))
        }

        @Test(arguments: TransportUnderTest.all)
        func rejectionDuringUploadIsReturned(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .text("too much", status: .contentTooLarge).closing }
            let body = HTTPBody.data(Data(repeating: 0, count: 1 << 20))

            let run = await transport.run(Call(server.url, method: .post, body: body))

            #expect(run.error?.code == .unacceptableStatus)
            #expect(run.error?.body == Data("too much".utf8))
        }
    }
}
