// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux) || os(macOS)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

/// The program from a user's view: its arguments, its address, its end.
@Suite(.bounded) struct MockServerCommandTests {
    private static let command = BuiltProgram.url(named: "requests-mock-server")

    private struct NoAddress: Error {}

    /// The running program, with its address.
    private final class Running {
        let process = Process()
        let url: URL
        private let errors = Pipe()
        private let ended = Gate()

        init(_ arguments: String...) throws {
            let output = Pipe()
            process.executableURL = MockServerCommandTests.command
            process.arguments = arguments
            process.standardOutput = output
            process.standardError = errors
            process.terminationHandler = { [ended] _ in ended.open() }
            try process.run()
            do {
                url = try Running.address(from: output.fileHandleForReading)
            } catch {
                kill(process.processIdentifier, SIGKILL)
                throw error
            }
        }

        deinit {
            if !ended.isOpen { kill(process.processIdentifier, SIGKILL) }
        }

        /// Returns the address that the program prints first; a program that couldn't start prints none.
        private static func address(from output: FileHandle) throws -> URL {
            var line = Data()
            while line.last != 0x0A, let byte = try output.read(upToCount: 1), !byte.isEmpty { line += byte }
            let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)
            guard let url = URL(string: text) else { throw NoAddress() }
            return url
        }

        /// Ends the program with a signal; returns its output since then, and its exit code.
        func end(_ signal: Int32) async throws -> (code: Int32, errors: String) {
            kill(process.processIdentifier, signal)
            guard await ended.wait() else { throw CancellationError() }
            let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            return (process.terminationStatus, text)
        }
    }

    private func inFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func itServesAFolderUntilASignalEndsIt(signal: Int32) async throws {
        try await inFolder { folder in
            try Data("hello".utf8).write(to: folder.appending(path: "a.txt"))
            let server = try Running(folder.path)
            let client = try RawClient(port: try #require(server.url.port))

            client.get("/a.txt")
            client.get("/b.txt", fields: "Connection: close\r\n")
            let answer = client.readToEnd()
            let end = try await server.end(signal)

            #expect(answer.contains("\r\n\r\nhello") && answer.contains("HTTP/1.1 404 Not Found\r\n"))
            #expect(end.code == 0)
            #expect(end.errors == "requests: 2, connections: 1\n")
        }
    }

    @Test func itAnswersAsAScriptSaysOnAPortThatIsAskedFor() async throws {
        try await inFolder { folder in
            let script = folder.appending(path: "script.json")
            try Data(#"{"routes": [{"path": "/a", "answers": [{"text": "a"}]}]}"#.utf8).write(to: script)
            // A port that was free a moment ago may be taken by a server of another test.
            var started: (server: Running, port: Int)?
            for _ in 0..<5 where started == nil {
                let probe = try MockServer()
                let port = probe.port
                probe.stop()
                if let server = try? Running("--port", "\(port)", "--script", script.path) { started = (server, port) }
            }
            let (server, port) = try #require(started)
            let client = try RawClient(port: port)

            client.get("/a", fields: "Connection: close\r\n")

            #expect(server.url.absoluteString == "http://127.0.0.1:\(port)")
            #expect(client.readToEnd().hasSuffix("\r\n\r\na"))
            #expect(try await server.end(SIGINT).code == 0)
        }
    }

    static let faults: [([String], String)] = [
        ([], "a folder or a script is needed"),
        (["/nowhere/at/all"], "/nowhere/at/all isn't a folder that can be read"),
        (["--port", "x", "/"], "--port needs a port"),
        (["--port", "65536", "/"], "--port needs a port"),
        (["--port"], "--port needs a port"),
        (["--script"], "--script needs a file"),
        (["--script", "/nowhere"], "/nowhere can't be read"),
        (["--script", "/nowhere", "/"], "a folder and a script don't go together"),
        (["/", "/tmp"], "/tmp is a second folder"),
        (["--verbose"], "--verbose isn't an option"),
    ]

    @Test(arguments: faults)
    func faultIsPrintedAndTheExitCodeIsTwo(arguments: [String], message: String) async throws {
        let result = try await Tool(url: Self.command)(arguments: arguments)

        #expect(result.status == 2)
        #expect(result.output == "")
        #expect(result.errors.hasPrefix("requests-mock-server: \(message)"), "\(result.errors)")
    }

    @Test func aFaultOfAScriptNamesItsEntry() async throws {
        try await inFolder { folder in
            let script = folder.appending(path: "script.json")
            try Data(#"{"routes": [{"path": "/", "answers": [{"statsu": 503}]}]}"#.utf8).write(to: script)

            let result = try await Tool(url: Self.command)(arguments: ["--script", script.path])

            #expect(result.status == 2)
            let message = "requests-mock-server: script.json: routes[0].answers[0].statsu: isn't known here; there are"
            #expect(result.errors.hasPrefix(message), "\(result.errors)")
        }
    }

    @Test func takenPortIsReported() async throws {
        let other = try MockServer()

        let result = try await Tool(url: Self.command)(arguments: ["--port", "\(other.port)", "/"])

        #expect(result.status == 2)
        #expect(result.errors.hasPrefix("requests-mock-server: can't listen on port \(other.port): bind failed: "))
    }

    @Test func helpIsGiven() async throws {
        let result = try await Tool(url: Self.command)(arguments: ["--help"])

        #expect(result.status == 0)
        #expect(result.output.hasPrefix("usage: requests-mock-server [--port PORT] FOLDER\n"))
    }
}
#endif
