// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// Tests that need a separate process: its arguments select one, and a test checks its exit status.

import Foundation

switch CommandLine.arguments.dropFirst().first {
case "end":
    // The process may end at the end of this file.
    guard try await endDuringHandshakes(Array(CommandLine.arguments.dropFirst(2))) else { exit(64) }
case "descriptors":
    try await connectWithoutDescriptors(Array(CommandLine.arguments.dropFirst(2)))
case "names":
    try await askSilentNames(Array(CommandLine.arguments.dropFirst(2)))
case "authorities":
    try await connectWithSystemAuthorities(Array(CommandLine.arguments.dropFirst(2)))
case "outbox":
    try await writeUntilKilled(Array(CommandLine.arguments.dropFirst(2)))
case "interfaces":
    try await followInterfaces()
#if os(Linux)
case "threads":
    sendWithoutThreads(Array(CommandLine.arguments.dropFirst(2)))
case "fork":
    sendInAFork(Array(CommandLine.arguments.dropFirst(2)))
case "openssl":
    loadBesideOpenSSL()
case "environment":
    changeTheEnvironment(Array(CommandLine.arguments.dropFirst(2)))
#endif
default:
    let parts = "end|descriptors|names|authorities|outbox|interfaces|threads|fork|openssl|environment"
    print("usage: RequestsTransportProbe \(parts) …")
    exit(64)
}
