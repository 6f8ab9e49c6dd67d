// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Another program can read content that the library compressed.
@Suite(.bounded, .enabled(if: Python.path != nil)) struct BodyCompressionOverTransportsTests {
    @Test(arguments: [100, 1_000_000]) func pythonDecompressesRequestBody(size: Int) async throws {
        let server = try MockServer { _ in .text("ok") }
        let client = HTTPClient(baseURL: server.url) { $0.interceptors.append(.compressingBodies(from: 1)) }
        let text = String(repeating: "stir until it is smooth; ", count: size / 25 + 1).prefix(size)

        try await client.fetch(Post<Void>("recipes").body(.text(String(text))))

        let request = try #require(server.requests.first)
        #expect(request.headers[.contentEncoding] == "gzip")
        #expect(try Self.unzip(request.body) == Data(text.utf8))
    }

    private static func unzip(_ data: Data) throws -> Data {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try data.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Python.path))
        let script = "import gzip, sys; sys.stdout.buffer.write(gzip.open(sys.argv[1]).read())"
        process.arguments = ["-c", script, file.path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let result = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return result
    }
}

/// Another program, if it is installed.
private enum Python {
    static let path = ProcessInfo.processInfo.environment["PATH"]?
        .split(separator: ":").map { "\($0)/python3" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }
}
