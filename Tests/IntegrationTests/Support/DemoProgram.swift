// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux) || os(macOS)
import Foundation

/// The demo, built beside the tests, as a separate process.
enum DemoProgram {
    static let url: URL? = {
        let places = [Bundle.main.bundleURL, Bundle.main.executableURL].compactMap { $0 }
        return (places + Bundle.allBundles.map(\.bundleURL))
            .flatMap { [$0, $0.deletingLastPathComponent()] }
            .map { $0.appendingPathComponent("requests-demo") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    /// Starts a download in the demo, with additional environment variables.
    static func download(_ url: URL, to file: URL, environment: [String: String] = [:]) throws -> Process {
        try run(["download", url.absoluteString, file.path], environment: environment)
    }

    /// Pages through a list in the demo, and returns its output.
    static func page(through url: URL, pages: Int) async throws -> (text: String, status: Int32) {
        let output = Pipe()
        let process = try run(["--url", url.absoluteString, "--pages", "\(pages)"], output: output)
        await process.end()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return (text, process.terminationStatus)
    }

    private static func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        output: Any = FileHandle.nullDevice
    ) throws -> Process {
        let process = Process()
        process.executableURL = Self.url
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }
}

extension Process {
    /// Waits for the process to end; kills it if the task is cancelled.
    func end() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    self.waitUntilExit()
                    continuation.resume()
                }
            }
        } onCancel: {
            stop()
        }
    }

    /// Kills the process, if it is running.
    func stop() {
        if isRunning { kill(processIdentifier, SIGKILL) }
    }
}
#endif
