// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// A folder with 64 KiB of space, which `Scripts/interop` creates if it is allowed to.
private let smallVolume = ProcessInfo.processInfo.environment["REQUESTS_INTEROP_VOLUME"]

extension OverLoopback {
    @Suite(
        .bounded,
        .enabled(if: smallVolume != nil, "REQUESTS_INTEROP_VOLUME names no folder with 64 KiB of room"),
        // Two tests at a time would share the space.
        .serialized
    )
    struct InteropVolumeTests {
        @Test(arguments: [true, false])
        func fullDiskFailsAndLeavesNoFile(isKept: Bool) async throws {
            let volume = URL(fileURLWithPath: try #require(smallVolume), isDirectory: true)
            let server = try MockServer { _ in
                .status(.ok, headers: [.eTag: "\"v1\""], body: DownloadTests.content)
            }
            do {
                let operation = OperationQueue().addRequest(
                    DownloadTests.Fetch(
                        url: server.url("/"),
                        destination: .file(volume.appendingPathComponent("film"))
                    )
                )

                let error = await #expect(throws: RequestError.self) { try await operation.value() }

                #expect(error?.code == .diskFull && error?.underlying is FileError)
                guard isKept else { return }
                // The part that fitted can be resumed when there is more space.
                let token = try #require(operation.resumeToken)
                #expect(token.receivedLength > 0)
                token.discard()
            }
            try await eventually { try FileManager.default.contentsOfDirectory(atPath: volume.path).isEmpty }
        }
    }
}
