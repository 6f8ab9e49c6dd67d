// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux) || os(macOS)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// A download can be resumed after its process was killed.
    @Suite(.bounded, .enabled(if: DemoProgram.url != nil)) struct KilledDownloadTests {
        @Test func newProcessResumesDownloadOfKilledProcess() async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Killed.\(UUID())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let content = DownloadTests.content
            let files = DownloadTests.FileServer(content)
            // The first response stalls after two thirds; later ones are complete.
            let server = try MockServer { request in
                let response = files.answer(request)
                return request.headers.contains(.range) ? response : response.stalled(after: 200_000)
            }
            let file = folder.appendingPathComponent("film")

            let first = try DemoProgram.download(server.url("/film"), to: file)
            defer { first.stop() }
            try await eventually { (try? partialLength(in: folder)) ?? 0 >= 190_000 || !first.isRunning }
            first.stop()
            await first.end()
            #expect(first.terminationReason == .uncaughtSignal && !FileManager.default.fileExists(atPath: file.path))
            let kept = try partialLength(in: folder)

            let second = try DemoProgram.download(server.url("/film"), to: file)
            defer { second.stop() }
            await second.end()

            #expect(second.terminationStatus == 0)
            #expect(try Data(contentsOf: file) == content)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["film"])
            #expect(server.requests.map { $0.headers[.range] } == [nil, "bytes=\(kept)-"] && kept >= 190_000)
        }

        /// Returns the byte count of the largest file.
        private func partialLength(in folder: URL) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: folder.path)
                .map { folder.appendingPathComponent($0).path }
                .map { (try FileManager.default.attributesOfItem(atPath: $0)[.size] as? NSNumber)?.intValue ?? 0 }
                .max() ?? 0
        }
    }
}
#endif
