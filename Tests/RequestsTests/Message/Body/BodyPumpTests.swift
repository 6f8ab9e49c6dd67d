// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

/// Reading ahead: how much, and when.
@Suite(.bounded) struct BodyPumpTests {
    /// Elements of a size that count how many of them were requested.
    private struct Source: AsyncSequence, AsyncIteratorProtocol {
        let size: Int
        let asked: Locked<Int>

        func makeAsyncIterator() -> Source { self }

        mutating func next() async -> Data? {
            asked.withLock { $0 += 1 }
            return Data(count: size)
        }
    }

    @Test(arguments: [(1, 65_536), (16 * 1024, 4), (64 * 1024, 1), (1 << 20, 1)])
    func readsSequenceOnDemand(size: Int, most: Int) async throws {
        let asked = Locked(0)
        let pump = BodyPump(HTTPBody.Stream { Source(size: size, asked: asked) }) {}
        _ = pump.open()
        try await eventually { asked.withLock { $0 } == most }

        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        let taken = buffer.withUnsafeMutableBytes { pump.read(into: $0) }
        guard case .bytes(let count) = taken else { return _ = Issue.record("\(taken)") }
        #expect(count == 64 * 1024)
        // The rest of a large element is enough.
        let next = size > 64 * 1024 ? 1 : 2 * most
        try await eventually { asked.withLock { $0 } == next }
        pump.close()
        #expect(asked.withLock { $0 } == next)
    }

    @Test func closingPumpReleasesSequence() async throws {
        let released = Gate()
        let stream = HTTPBody.Stream(AsyncStream<Data> { $0.onTermination = { _ in released.open() } })
        let pump = BodyPump(stream) {}

        _ = pump.open()
        pump.close()

        try await released.wait()
    }
}
