// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

public import Foundation
import RequestsTesting

/// The programs that are built together with the tests.
public enum BuiltProgram {
    /// Returns the path of a program: beside the tests, where the build puts it.
    public static func url(named name: String) -> URL {
        let arguments = CommandLine.arguments
        let bundle = arguments.lazy.compactMap { argument in
            argument.range(of: ".xctest").map { String(argument[..<$0.upperBound]) }
        }
        return URL(fileURLWithPath: bundle.first ?? arguments[0]).deletingLastPathComponent().appending(path: name)
    }

    #if os(Linux) || os(macOS)
    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - name: The name of the program.
    ///   - arguments: The arguments of the program.
    ///   - prefix: A command that runs it, such as `unshare`; none by default.
    /// - Returns: The exit status, or the number of the signal that ended the program.
    public static func run(
        _ name: String,
        _ arguments: [String],
        by prefix: [String] = []
    ) async throws -> (status: Int32, isSignal: Bool) {
        let process = Process()
        let command = prefix + [url(named: name).path] + arguments
        process.executableURL = URL(fileURLWithPath: prefix.isEmpty ? command[0] : "/usr/bin/env")
        process.arguments = prefix.isEmpty ? arguments : command
        process.standardOutput = FileHandle.nullDevice
        let ended = Gate()
        process.terminationHandler = { _ in ended.open() }
        try process.run()
        let identifier = process.processIdentifier
        try await withTaskCancellationHandler {
            try await ended.wait(timeout: .seconds(Scale.timeLimit))
        } onCancel: {
            kill(identifier, SIGKILL)
        }
        return (process.terminationStatus, process.terminationReason == .uncaughtSignal)
    }
    #endif
}
