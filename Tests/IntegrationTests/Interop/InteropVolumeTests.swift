// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting
import TestSupport
import Testing

/// A folder with 64 KiB of room, which `Scripts/interop` makes where it may.
private let smallVolume = ProcessInfo.processInfo.environment["REQUESTS_INTEROP_VOLUME"]

extension OverLoopback {
    @Suite(
        .bounded,
        .tags(.behaviour),
        .enabled(if: smallVolume != nil, "REQUESTS_INTEROP_VOLUME names no folder with 64 KiB of room"),
        // Two at a time would have half of the room each, or one of them none.
        .serialized
    )
    struct InteropVolumeTests {
        @Test(arguments: [true, false])
        func fullDiskIsAnErrorAndLeavesNothing(isKept: Bool) async throws {
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

                #expect(error?.code == .diskFull && error?.underlying is DownloadError)
                guard isKept else { return }
                // What found room can be gone on with, once there is more.
                let token = try #require(operation.resumeToken)
                #expect(token.receivedLength > 0)
                token.discard()
            }
            try await eventually { try FileManager.default.contentsOfDirectory(atPath: volume.path).isEmpty }
        }
    }
}
