// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// What can only be tried in a process of its own: its arguments say what, and a test looks at what it ends with.

import Foundation

switch CommandLine.arguments.dropFirst().first {
case "end":
    // Its end may be that of this file.
    guard try await endDuringHandshakes(Array(CommandLine.arguments.dropFirst(2))) else { exit(64) }
case "descriptors":
    try await connectWithoutDescriptors(Array(CommandLine.arguments.dropFirst(2)))
case "names":
    try await askSilentNames(Array(CommandLine.arguments.dropFirst(2)))
case "interfaces":
    try await followInterfaces()
default:
    print("usage: TransportProbe end|descriptors|names|interfaces …")
    exit(64)
}
