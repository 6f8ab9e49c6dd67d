// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// However often and however a download is interrupted, no byte is lost or fetched twice.
    @Suite(.bounded) struct ResumeTortureTests {
        typealias Fetch = DownloadTests.Fetch

        /// A server of one file that ends each response at the next of some positions, and records the parts that it
        /// sent.
        private final class CuttingServer: Sendable {
            let content: Data
            private let cuts: Locked<[Int]>
            private let log = Locked<[Range<Int>]>([])

            init(_ content: Data, cuts: [Int]) {
                self.content = content
                self.cuts = Locked(cuts)
            }

            /// The parts of the file that were sent, in their order.
            var given: [Range<Int>] { log.withLock { $0 } }

            func answer(_ request: ReceivedRequest) -> StubResponse {
                let start = request.headers[.range].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
                let end = cuts.withLock { cuts in
                    while let cut = cuts.first, cut <= start { cuts.removeFirst() }
                    return cuts.isEmpty ? content.count : cuts.removeFirst()
                }
                log.withLock { $0.append(start..<end) }
                let head =
                    start == 0
                    ? "HTTP/1.1 200 OK\r\n"
                    : "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes \(start)-\(content.count - 1)/\(content.count)\r\n"
                let fields = "ETag: \"v1\"\r\nContent-Length: \(content.count - start)\r\n\r\n"
                return .script(
                    [.send(Data((head + fields).utf8) + content[start..<end])] + (end < content.count ? [.close] : [])
                )
            }
        }

        @Test(arguments: Scale.pick([1], whole: [1, 2, 3] as [UInt64]))
        func fileCutTwoHundredTimesIsTransferredOnce(seed: UInt64) async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Torture.\(UUID())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            var random = SplitMix(state: seed)
            var places = Set<Int>()
            while places.count < 200 { places.insert(.random(in: 1..<DownloadTests.content.count, using: &random)) }
            let files = CuttingServer(DownloadTests.content, cuts: places.sorted())
            let server = try MockServer { files.answer($0) }
            var request = Fetch(url: server.url("/"), destination: .file(folder.appendingPathComponent("film")))
            request.options.retry = RetryPolicy(limit: 300, backoff: .none)

            let operation = OperationQueue().addRequest(request)
            let told = Locked<[TransferProgress]>([])
            operation.onProgress { progress in told.withLock { $0.append(progress) } }
            let file = try await operation.value()

            #expect(try Data(contentsOf: file.url) == DownloadTests.content)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["film"])
            // Each part begins where the one before was interrupted.
            let given = files.given
            #expect(given.count == 201 && given.first?.lowerBound == 0 && given.last?.upperBound == file.length.asInt)
            #expect(zip(given, given.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
            let progress = told.withLock { $0 }
            #expect(zip(progress, progress.dropFirst()).allSatisfy { $0.completed <= $1.completed })
        }
    }

    @Suite(.bounded) struct DownloadSoakTests {
        @Test(.tags(.alone)) func manySmallDownloadsLeakNothing() async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Small.\(UUID())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let server = try MockServer { _ in .status(.ok, headers: [.eTag: "\"a\""], body: Data(count: 3000)) }
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 8
            func round(_ numbers: Range<Int>) async -> Int {
                let done = Locked(0)
                for number in numbers {
                    let file = folder.appendingPathComponent("\(number)")
                    let operation = queue.addRequest(
                        DownloadTests.Fetch(url: server.url("/"), destination: .file(file))
                    )
                    operation.addCompletion(on: .global()) { result in
                        if case .success = result { done.withLock { $0 += 1 } }
                    }
                    if number.isMultiple(of: 3) { DispatchQueue.global().async { operation.cancel() } }
                    if queue.operationCount > 100 { await queue.drain() }
                }
                await queue.drain()
                return done.withLock { $0 }
            }
            let count = Scale.pick(300, whole: 10_000)
            _ = await round(0..<20)
            let before = Descriptors.open

            _ = await round(20..<count)

            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(names.allSatisfy { Int($0) != nil }, "\(names.filter { Int($0) == nil }.prefix(5))")
            #expect(names.count >= (count - 20) * 2 / 3)
            // Both ends of each kept connection are here, and replace those that cancelled downloads have closed.
            server.stop()
            #expect(try await Descriptors.left(since: before, atMost: 8).count <= 8)
        }
    }
}

extension Int64 {
    fileprivate var asInt: Int { Int(self) }
}

/// Random numbers that are the same in every run.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
