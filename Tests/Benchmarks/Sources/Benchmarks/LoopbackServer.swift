// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTesting

/// A server in a separate process, whose processor time isn't counted for the client: nginx if it is installed, else a
/// mock server.
final class LoopbackServer {
    let url: URL
    private let end: () -> Void

    /// - Parameter isSecure: Whether it speaks HTTP/2, over TLS; that takes nginx, and openssl for a certificate.
    init(isSecure: Bool = false) throws {
        guard let nginx = ["/usr/sbin/nginx", "/usr/bin/nginx"].first(where: FileManager.default.isExecutableFile)
        else {
            guard !isSecure else { throw CocoaError(.fileNoSuchFile) }
            let server = try ServerProcess("--serve")
            (url, end) = (server.url, server.stop)
            return
        }
        let port = try Self.freePort()
        let folder = FileManager.default.temporaryDirectory.appending(path: "requests-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let configuration = folder.appending(path: "nginx.conf").path
        if isSecure { try Self.makeCertificate(in: folder) }
        let text = Self.configuration(port: port, folder: folder, isSecure: isSecure)
        try Data(text.utf8).write(to: URL(filePath: configuration))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: nginx)
        process.arguments = ["-c", configuration, "-p", folder.path]
        try process.run()
        url = URL(string: "\(isSecure ? "https" : "http")://127.0.0.1:\(port)/todo") ?? folder
        try Self.awaitAnswer(url)
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

    private static func configuration(port: Int, folder: URL, isSecure: Bool) -> String {
        let files = "ssl_certificate \(folder.path)/server.pem; ssl_certificate_key \(folder.path)/server.key;"
        return """
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
                    listen 127.0.0.1:\(port)\(isSecure ? " ssl http2; \(files)" : ";")
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

    private static func awaitAnswer(_ url: URL) throws {
        try run(
            ["curl", "-s", "-k", "-o", "/dev/null", "--retry", "50", "--retry-connrefused", "--retry-delay", "0"]
                + ["--retry-max-time", "10", url.absoluteString]
        )
    }

    private static func makeCertificate(in folder: URL) throws {
        try run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
                + ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
                + ["-keyout", folder.appending(path: "server.key").path]
                + ["-out", folder.appending(path: "server.pem").path]
        )
    }

    private static func run(_ command: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
    }
}
