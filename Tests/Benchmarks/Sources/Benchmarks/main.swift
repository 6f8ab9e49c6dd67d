// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

// Each measurement runs in a separate process, since memory that one leaves would distort the next. Compared
// measurements alternate, so that a slow phase of the machine affects both. This file is the parent: it runs itself
// with the name of a measurement, several times, and prints the medians side by side.

let arguments = CommandLine.arguments.dropFirst()

if arguments.first == "--measure", let name = arguments.dropFirst().first {
    guard let measurement = Measurement.all.first(where: { $0.name == name }) else {
        FileHandle.standardError.write(Data("no measurement is called \(name)\n".utf8))
        exit(2)
    }
    let usage = try measurement.run()
    print(String(decoding: try JSONEncoder().encode(usage), as: UTF8.self))
} else if arguments.first == "--serve" {
    try LoopbackServer.serve()
} else if arguments.first == "--bulk" {
    try BulkServer.serve()
} else if arguments.first == "--silent", let expected = arguments.dropFirst().first.flatMap({ Int($0) }) {
    try SilentServer.serve(telling: expected)
} else {
    let filter = arguments.first { !$0.hasPrefix("-") }
    let report = Report(rounds: arguments.contains("--quick") ? 1 : 5, filter: filter)
    if filter == "path" {
        try report.printPath()
        exit(0)
    }
    try report.print()
    try report.printVocabulary()
    try report.printClient()
    try report.printCounts()
    try report.printOutbox()
    try report.printTransfers()
    try report.printMultitude()
    try report.printMultiplexed()
}
