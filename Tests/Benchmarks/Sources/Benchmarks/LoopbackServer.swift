// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTesting

/// A server in a separate process, whose processor time isn't counted for the client: nginx if it is installed, else a
/// mock server.
final class LoopbackServer {
    let url: URL
    private let end: () -> Void

    init() throws {
        guard let nginx = ["/usr/sbin/nginx", "/usr/bin/nginx"].first(where: FileManager.default.isExecutableFile)
        else {
            let server = try ServerProcess("--serve")
            (url, end) = (server.url, server.stop)
            return
        }
        let port = try Self.freePort()
        let folder = FileManager.default.temporaryDirectory.appending(path: "requests-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let configuration = folder.appending(path: "nginx.conf").path
        try Data(Self.configuration(port: port, folder: folder).utf8).write(to: URL(filePath: configuration))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: nginx)
        process.arguments = ["-c", configuration, "-p", folder.path]
        try process.run()
        try Self.awaitPort(port)
        url = URL(string: "http://127.0.0.1:\(port)/todo") ?? folder
        end = {
            process.terminate()
            process.waitUntilExit()
            try? FileManager.default.removeItem(at: folder)
        }
    }

    func stop() { end() }

    /// Serves one small JSON document until standard input ends; runs in the other process without nginx.
    static func serve() throws {
        let server = try MockServer()
        server.route(.get, "/todo", .json(Todo.json))
        ServerProcess.tell(server.url("/todo").absoluteString)
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

    /// Returns a port that was free a moment ago.
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
