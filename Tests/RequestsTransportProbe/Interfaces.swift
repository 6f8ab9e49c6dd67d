// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Prints the reported network while an interface is added and removed; for a separate network namespace with only a
/// loopback interface.
func followInterfaces() async throws {
    var updates = Connectivity.system.updates().makeAsyncIterator()
    func expect(_ isConnected: Bool) async {
        // An address and a link come one after the other, so there may be a state between them.
        while let status = await updates.next(), status.isConnected != isConnected {}
    }
    await expect(false)
    try change(["link add v0 type veth peer name v1", "addr add 192.0.2.1/24 dev v0"])
    try change(["link set v1 up", "link set v0 up"])
    await expect(true)
    guard await Connectivity.system.waitUntilConnected(timeout: .zero) else { exit(1) }
    try change(["link set v1 down"])
    await expect(false)
    async let isConnected = Connectivity.system.waitUntilConnected(timeout: .seconds(60))
    try change(["link set v1 up"])
    guard await isConnected else { exit(1) }
    exit(0)
}

private func change(_ commands: [String]) throws {
    for command in commands {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ip"] + command.split(separator: " ").map(String.init)
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 { exit(2) }
    }
}
