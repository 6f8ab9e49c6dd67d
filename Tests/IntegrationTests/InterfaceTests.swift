// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import RequestsTesting
import RequestsTestSupport
import Testing

/// The network interfaces that the kernel reports, in a network namespace where they can be added and removed.
@Suite(.bounded) struct InterfaceTests {
    // With an active loopback interface: without one, Foundation starts no process.
    private static let namespace = [
        "unshare", "--map-root-user", "--net", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh",
    ]

    /// Whether this user may make a network namespace, and an interface in it.
    private static let isPossible: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = namespace + ["ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1"]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    @Test(.enabled(if: isPossible)) func interfaceChangesAreReported() async throws {
        let (status, isSignal) = try await BuiltProgram.run(
            "RequestsTransportProbe",
            ["interfaces"],
            by: Self.namespace
        )

        #expect(status == 0 && !isSignal)
    }
}
#endif
