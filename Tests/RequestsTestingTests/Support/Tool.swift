// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTesting

/// A command of the system, if it is installed.
struct Tool {
    static let curl = Tool("curl")
    static let python = Tool("python3")

    struct Result {
        var status: Int32
        var output: String
        var errors: String
    }

    private let path: String?

    init(_ name: String) {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        path = folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    init(url: URL) {
        path = url.path
    }

    var exists: Bool { path != nil }

    /// Runs the tool to its end; the output goes to files, which can take any amount before they are read.
    func callAsFunction(_ arguments: String...) async throws -> Result {
        try await self(arguments: arguments)
    }

    /// Runs the tool to its end with a list of arguments.
    func callAsFunction(arguments: [String]) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["output", "errors"].map { folder.appendingPathComponent($0) }
        for file in files { try Data().write(to: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path ?? "")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        let ended = Gate()
        process.terminationHandler = { _ in ended.open() }
        try process.run()
        do {
            try await ended.wait()
        } catch {
            // The test was cancelled, and the process must not outlive it.
            kill(process.processIdentifier, SIGKILL)
            throw error
        }
        return Result(
            status: process.terminationStatus,
            output: try String(contentsOf: files[0], encoding: .utf8),
            errors: try String(contentsOf: files[1], encoding: .utf8)
        )
    }
}
