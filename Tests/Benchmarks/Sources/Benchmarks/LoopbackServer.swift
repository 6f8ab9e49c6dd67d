// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTesting

/// A server in a process of its own, so that its processor time isn't the client's: nginx where it is installed, else a
/// mock server.
///
/// It ends with its standard input, so that it is never left behind.
final class LoopbackServer {
    let url: URL
    private let process: Process
    private let input: Pipe
    private let folder: URL?

    init() throws {
        input = Pipe()
        process = Process()
        process.standardInput = input
        if let nginx = ["/usr/sbin/nginx", "/usr/bin/nginx"].first(where: FileManager.default.isExecutableFile) {
            let port = try Self.freePort()
            let folder = FileManager.default.temporaryDirectory.appending(path: "requests-bench-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(Self.configuration(port: port, folder: folder).utf8).write(
                to: folder.appending(path: "nginx.conf")
            )
            self.folder = folder
            url = URL(string: "http://127.0.0.1:\(port)/todo") ?? folder
            process.executableURL = URL(fileURLWithPath: nginx)
            process.arguments = ["-c", folder.appending(path: "nginx.conf").path, "-p", folder.path]
            try process.run()
            try Self.awaitPort(port)
        } else {
            folder = nil
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
            process.arguments = ["--serve"]
            process.standardOutput = output
            try process.run()
            let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            guard let url = URL(string: line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
                throw URLError(.badURL)
            }
            self.url = url
        }
    }

    func stop() {
        try? input.fileHandleForWriting.close()
        if folder != nil { process.terminate() }
        process.waitUntilExit()
        if let folder { try? FileManager.default.removeItem(at: folder) }
    }

    /// Serves one small JSON document until standard input ends; what the other process does where there is no nginx.
    static func serve() throws {
        let server = try MockServer()
        server.route(.get, "/todo", .json(Todo.json))
        print(server.url("/todo").absoluteString)
        fflush(nil)
        _ = FileHandle.standardInput.readDataToEndOfFile()
        server.stop()
    }

    private static func configuration(port: Int, folder: URL) -> String {
        """
        daemon off;
        worker_processes 1;
        pid \(folder.path)/nginx.pid;
        error_log /dev/null crit;
        events { worker_connections 4096; }
        http {
            access_log off;
            keepalive_requests 1000000000;
            client_body_temp_path \(folder.path)/body;
            proxy_temp_path \(folder.path)/proxy;
            fastcgi_temp_path \(folder.path)/fastcgi;
            uwsgi_temp_path \(folder.path)/uwsgi;
            scgi_temp_path \(folder.path)/scgi;
            server {
                listen 127.0.0.1:\(port);
                location /todo { default_type application/json; return 200 '\(Todo.json)'; }
            }
        }
        """
    }

    /// A port that was free a moment ago.
    private static func freePort() throws -> Int {
        let server = try MockServer()
        defer { server.stop() }
        return Int(server.port)
    }

    private static func awaitPort(_ port: Int) throws {
        let curl = Process()
        curl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        curl.arguments =
            ["curl", "-s", "-o", "/dev/null", "--retry", "50", "--retry-connrefused", "--retry-delay", "0"]
            + ["--retry-max-time", "10", "http://127.0.0.1:\(port)/todo"]
        try curl.run()
        curl.waitUntilExit()
    }
}
