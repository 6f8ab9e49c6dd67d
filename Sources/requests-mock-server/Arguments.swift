// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTesting

/// The options of the command line.
struct Arguments {
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    private(set) var folder: URL?
    private(set) var script: URL?
    private(set) var port = 0
    private(set) var asksForHelp = false

    init(_ arguments: some Collection<String>) throws {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h":
                asksForHelp = true
            case "--port":
                guard let text = rest.popFirst(), let port = UInt16(text) else {
                    throw Self.fault("--port needs a port")
                }
                self.port = Int(port)
            case "--script":
                guard let path = rest.popFirst() else { throw Self.fault("--script needs a file") }
                script = URL(fileURLWithPath: path)
            case _ where argument.hasPrefix("-"):
                throw Self.fault("\(argument) isn't an option")
            default:
                guard folder == nil else { throw Self.fault("\(argument) is a second folder") }
                folder = URL(fileURLWithPath: argument, isDirectory: true)
            }
        }
        guard asksForHelp || (folder == nil) != (script == nil) else {
            throw Self.fault(
                folder == nil ? "a folder or a script is needed" : "a folder and a script don't go together"
            )
        }
    }

    /// Starts the server, which accepts connections as soon as this returns.
    func start() throws -> MockServer {
        if let script { return try start(script) }
        guard let folder, (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) != nil else {
            throw Fault(description: "\(folder?.path ?? "") isn't a folder that can be read")
        }
        return try start { try MockServer(configuration: adapted(.init()), MockServer.folder(folder)) }
    }

    private func start(_ file: URL) throws -> MockServer {
        guard let data = try? Data(contentsOf: file) else { throw Fault(description: "\(file.path) can't be read") }
        let script: ServerScript
        do {
            script = try ServerScript(data, folder: file.deletingLastPathComponent())
        } catch {
            throw Fault(description: "\(file.lastPathComponent): \(error)")
        }
        return try start { try script.start(adapted(script.configuration)) }
    }

    private func start(_ make: () throws -> MockServer) throws -> MockServer {
        do {
            return try make()
        } catch {
            throw Fault(description: "can't listen on port \(port): \(error)")
        }
    }

    /// Returns the configuration of a server that records no requests.
    private func adapted(_ configuration: MockServer.Configuration) -> MockServer.Configuration {
        var configuration = configuration
        configuration.port = port
        configuration.maximumRecordedRequests = 0
        return configuration
    }

    private static func fault(_ reason: String) -> Fault {
        Fault(description: "\(reason)\n\n\(usage)")
    }

    static let usage = """
        usage: requests-mock-server [--port PORT] FOLDER
               requests-mock-server [--port PORT] --script FILE

          FOLDER          serves the files of the folder
          --script FILE   answers as the file says
          --port PORT     listens on the port; without it, on one that is free
          --help          says this

        The server listens on 127.0.0.1 and prints its address on a line. SIGINT and SIGTERM end it.

        A script is JSON:

          {
            "routes": [
              {"path": "/recipes/{id}", "answers": [{"status": 503, "headers": {"Retry-After": "1"}},
                                                    {"json": {"name": "Pancakes"}}]},
              {"method": "POST", "path": "/photos", "answers": [{"status": 413, "early": true}]}
            ],
            "otherwise": {"status": 404, "text": "no such page"},
            "connections": {"requests": 10, "idle": 5}
          }

        Answers of a route are given in turn; the last one stays. An answer has, all of it optional,

          status                        from 200; 200 by default
          headers, trailers             names with a text or several: {"Set-Cookie": ["a=1", "b=2"]}
          text, json, base64, file      the content; a file is looked for beside the script
          type                          the Content-Type, where the content's own isn't meant
          chunks                        the size of a chunk, for a chunked answer
          delay                         seconds before the first byte
          bytesPerSecond                the speed
          drip                          {"bytes": 10, "every": 0.1}: pieces, and the seconds between them
          closeAfter, resetAfter, stallAfter   how many bytes of the content are sent before that happens
          instead                       close, reset or stall: what happens instead of the answer
          close                         true for Connection: close
          early                         true to answer before the content of the request has come

        "connections" has, for all of them: most (open at once), requests (for each), idle (seconds), head and body
        (bytes that a request may have).
        """
}
