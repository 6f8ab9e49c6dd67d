// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// Progress, pauses and reconnection over a real connection.
    @Suite(.bounded) struct TransferLimitTests {
        private static let content = Data(count: 400_000)

        @Test(arguments: TransportUnderTest.all)
        func byteCountsAreExact(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .data(Self.content) }
            let queue = OperationQueue()
            queue.isSuspended = true
            let operation = queue.addRequest(
                Call(server.url("/"), method: .put, body: .data(Data(count: 300_000))),
                session: transport.makeSession()
            )
            let (sent, received) = (operation.progressUpdates(.upload), operation.progressUpdates())
            queue.isSuspended = false
            _ = try await operation.value()

            #expect(await received.reduce(nil) { $1 } == TransferProgress(completed: 400_000, total: 400_000))
            #expect(await sent.reduce(nil) { $1 } == TransferProgress(completed: 300_000, total: 300_000))
        }

        @Test(arguments: [TransportUnderTest.standard])
        func pausedUploadContinues(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .noContent }
            let content = Data.pattern(4_000_000)
            let operation = OperationQueue().makeOperation(
                for: Call(server.url("/"), method: .put, body: .data(content)),
                session: transport.makeSession()
            )
            operation.pause()
            OperationQueue().addOperation(operation)
            let sent = operation.progressUpdates(.upload)
            operation.resume()
            var isHeld = false
            for await progress in sent where progress.completed > 0 && !isHeld {
                isHeld = true
                operation.pause()
                operation.resume()
            }

            _ = try await operation.value()
            #expect(server.requests.map(\.body) == [content])
        }

        @Test func eventsContinueAfterConnectionLoss() async throws {
            let (clock, isRead) = (ManualClock(), Gate())
            let server = try MockServer { request in
                switch request.headers[.lastEventID] {
                case nil: .raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: 1\ndata: a\n\n")
                case "1":
                    .script([
                        .send(
                            Data(
                                """
                                HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 1000\r\n\r
                                retry: 10\nid: 2\ndata: b\n\ndata: lost
                                """.utf8
                            )
                        ), .waitFor(isRead), .close,
                    ])
                default: .noContent
                }
            }
            let client = HTTPClient { $0.clock = clock }
            let collector = Task {
                var events: [String] = []
                for try await event in client.serverSentEvents(HTTPRequest(url: server.url("/"))) {
                    events.append(event.data)
                    if event.data == "b" { isRead.open() }
                }
                return events
            }
            defer { collector.cancel() }
            for _ in 1...2 {
                try await clock.waitForSleepers()
                clock.advance(by: .seconds(3))
            }

            #expect(try await collector.value == ["a", "b"])
            #expect(server.requests.map { $0.headers[.lastEventID] } == [nil, "1", "2"])
        }

        @Test func serverSendingTinyPartsFails() async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Tiny.\(UUID())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let server = try MockServer { request in
                guard let range = request.headers[.range], let start = Int(range.dropFirst(6).dropLast()) else {
                    return .status(.ok, headers: [.eTag: "\"a\""], body: Data(count: 100_000)).truncated(after: 1000)
                }
                let headers: HTTPHeaders = [.eTag: "\"a\"", .contentRange: "bytes \(start)-\(start)/100000"]
                return .status(.partialContent, headers: headers, body: Data(count: 1))
            }
            var request = DownloadTests.Fetch(
                url: server.url("/"),
                destination: .file(folder.appendingPathComponent("film"))
            )
            request.options.retry = RetryPolicy(limit: 1, backoff: .none)

            let operation = OperationQueue().addRequest(request)

            await #expect { try await operation.value() } throws: { ($0 as? RequestError)?.code == .badResponse }
            #expect(server.requests.count < 30)
        }
    }
}
