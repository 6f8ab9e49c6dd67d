// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// When a transfer is paused: while its operation is, and while too much content waits to be consumed.
@Suite(.bounded) struct TransferPausingTests {
    /// Consumes a stream once the test allows it.
    private struct Gated: StreamRequest {
        typealias Success = Data
        typealias Failure = RequestError

        let gate: Gate
        let bufferSize = 4
        var identifier: String { "gated" }

        func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
            completion(.success(URLRequest(url: url)))
        }

        func process(_ stream: ResponseStream) async throws -> Data {
            try await gate.wait()
            return try await stream.reduce(Data()) { $0 + $1 }
        }
    }

    private static let url = URL(string: "https://example.com/")!
    private let transport = ManualTransport([.concurrentDelivery, .pausing])

    /// Starts a stream, and returns it with its transfer.
    private func stream(bufferSize: Int) async throws -> (stream: ResponseStream, transfer: ManualTransfer) {
        let number = transport.transfers.count + 1
        let client = HTTPClient(transport: transport)
        async let stream = client.stream(HTTPRequest(url: Self.url), bufferSize: bufferSize)
        let transfer = try await transport.awaitTransfer(count: number)
        transfer.receive(.head(HTTPResponseHead(status: .ok)))
        return (try await stream, transfer)
    }

    @Test func fullBufferPausesTransferUntilHalfEmpty() async throws {
        let (stream, transfer) = try await stream(bufferSize: 4)
        var iterator = stream.makeAsyncIterator()

        transfer.receive(.data(Data("abc".utf8)))
        #expect(!transfer.isPaused)
        transfer.receive(.data(Data("de".utf8)))
        // Awaited, since the request may get its transfer after the test has it.
        try await transfer.awaitPause()
        transfer.receive(.data(Data("f".utf8)))
        #expect(transfer.isPaused)

        #expect(try await iterator.next() == Data("abc".utf8))
        #expect(transfer.isPaused)
        #expect(try await iterator.next() == Data("de".utf8))
        try await transfer.awaitPause(false)
        #expect(try await iterator.next() == Data("f".utf8))
        #expect(!transfer.isPaused)
        transfer.receive(.end(nil))
        #expect(try await iterator.next() == nil)
    }

    @Test func pauseReasonsAreIndependent() async throws {
        let gate = Gate()
        let operation = HTTPClient(transport: transport).addRequest(Gated(gate: gate))
        let transfer = try await transport.awaitTransfer()

        operation.pause()
        try await transfer.awaitPause()
        transfer.receive(.head(HTTPResponseHead(status: .ok)))
        transfer.receive(.data(Data("abcde".utf8)))
        operation.resume()
        #expect(transfer.isPaused)
        operation.resume()
        #expect(transfer.isPaused)
        operation.pause()
        gate.open()
        operation.resume()
        try await transfer.awaitPause(false)

        transfer.receive(.end(nil))
        #expect(try await operation.value() == Data("abcde".utf8))
    }

    @Test func pauseBeforeStartAppliesToTransfer() async throws {
        let client = HTTPClient(transport: transport)
        client.isSuspended = true
        let operation = client.addRequest(HTTPRequest(url: Self.url))

        operation.pause()
        client.isSuspended = false

        let transfer = try await transport.awaitTransfer()
        try await transfer.awaitPause()
        operation.resume()
        try await transfer.awaitPause(false)
        transfer.receive(.end(RequestError(.connectionLost, phase: .sending)))
        _ = try? await operation.value()
    }

    /// A pause that is decided first but applied last would stop the server forever, because no event would undo it.
    @Test func pauseRacesChunkConsumption() async throws {
        let (stream, transfer) = try await stream(bufferSize: 1)
        var iterator = stream.makeAsyncIterator()
        for _ in 0..<Scale.races {
            DispatchQueue.global().async { transfer.receive(.data(Data("ab".utf8))) }
            #expect(try await iterator.next() == Data("ab".utf8))
            try await transfer.awaitPause(false)
        }
        transfer.receive(.end(nil))
    }

    @Test func concurrentPausesAndResumesBalance() async throws {
        let operation = HTTPClient(transport: transport).addRequest(HTTPRequest(url: Self.url))
        let transfer = try await transport.awaitTransfer()
        operation.pause()
        try await transfer.awaitPause()
        operation.resume()
        for _ in 0..<Scale.races {
            DispatchQueue.concurrentPerform(iterations: 3) { _ in
                for _ in 0..<5 {
                    operation.pause()
                    operation.resume()
                }
            }
            try await transfer.awaitPause(false)
            operation.pause()
            try await transfer.awaitPause()
            operation.resume()
        }
        transfer.receive(.end(RequestError(.connectionLost, phase: .sending)))
        _ = try? await operation.value()
    }
}
