// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import RequestsTesting
import RequestsTestSupport
import Testing

@testable import Requests

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

    @Test(.enabled(if: isPossible)) func changesOfInterfacesAreReported() async throws {
        let (status, isSignal) = try await BuiltProgram.run(
            "RequestsTransportProbe",
            ["interfaces"],
            by: Self.namespace
        )

        #expect(status == 0 && !isSignal)
    }

    // MARK: The tables of the kernel

    @Test func theBestDefaultRouteComesFirst() {
        let table = """
            Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT
            wlan0\t00000000\t0100A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0
            eth0\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
            eth0\t0000A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0
            """

        #expect(NetworkInterfaces.defaultRoutes(in: table) == ["eth0", "wlan0"])
        #expect(NetworkInterfaces.defaultRoutes(in: "") == [] && NetworkInterfaces.defaultRoutes(in: "a\nb c") == [])
    }

    @Test func theDefaultRouteOfIPv6IsTheOneOfNoLength() {
        let zeros = String(repeating: "0", count: 32)
        let table = """
            \(zeros) 00 \(zeros) 00 fe80 00000400 00000001 00000000 00000003 wlan0
            \(zeros) 40 \(zeros) 00 \(zeros) 00000100 00000001 00000000 00000003 eth0
            """

        #expect(NetworkInterfaces.defaultRoutesOfIPv6(in: table) == ["wlan0"])
    }

    @Test(arguments: [
        ("DEVTYPE=wlan\nINTERFACE=wlp3s0", "1", Connectivity.Interface.wifi), ("DEVTYPE=wwan", "1", .cellular),
        ("INTERFACE=eth0\nIFINDEX=2", "1", .wired), ("INTERFACE=tun0", "65534", .other),
        ("DEVTYPE=bridge", "1", .other),
        ("", "", .other),
    ])
    func theDeviceSaysWhatAnInterfaceIs(event: String, type: String, kind: Connectivity.Interface) {
        #expect(NetworkInterfaces.kind(ofEvent: event, type: type) == kind)
    }
}
#endif
