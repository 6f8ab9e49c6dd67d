// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTesting

/// A server in a separate process, whose processor time isn't counted for the client: nginx if it is installed, else a
/// mock server.
final class LoopbackServer {
    /// The protocol of a server; all but the first need nginx.
    enum Kind: Sendable, Equatable {
        /// HTTP/1.1 without TLS, by address.
        case plain
        /// HTTP/2 over TLS by address, with a certificate that openssl makes and nobody trusts.
        case untrusted
        /// HTTP/1.1 or HTTP/2 over TLS by the name `localhost`, with the certificate of ``PathCertificate``.
        case named(isMultiplexed: Bool)
        /// HTTP/1.1 over TLS by that name, with a new connection and a full handshake for each request.
        case closing
    }

    let url: URL
    private let end: () -> Void

    init(_ kind: Kind = .plain) throws {
        guard let nginx = ["/usr/sbin/nginx", "/usr/bin/nginx"].first(where: FileManager.default.isExecutableFile)
        else {
            guard kind == .plain else { throw CocoaError(.fileNoSuchFile) }
            let server = try ServerProcess("--serve")
            (url, end) = (server.url, server.stop)
            return
        }
        let port = try Self.freePort()
        let folder = FileManager.default.temporaryDirectory.appending(path: "requests-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let configuration = folder.appending(path: "nginx.conf").path
        if kind == .untrusted { try Self.makeCertificate(in: folder) }
        let text = try Self.configuration(kind, port: port, folder: folder)
        try Data(text.utf8).write(to: URL(filePath: configuration))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: nginx)
        process.arguments = ["-c", configuration, "-p", folder.path]
        try process.run()
        let origin =
            switch kind {
            case .plain: "http://127.0.0.1"
            case .untrusted: "https://127.0.0.1"
            case .named, .closing: "https://localhost"
            }
        url = URL(string: "\(origin):\(port)/todo") ?? folder
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

    private static func configuration(_ kind: Kind, port: Int, folder: URL) throws -> String {
        func files(in folder: URL) -> String {
            "ssl_certificate \(folder.path)/server.pem; ssl_certificate_key \(folder.path)/server.key;"
        }
        let named = kind == .plain || kind == .untrusted ? folder : try PathCertificate.folder
        let protocols =
            switch kind {
            case .plain: ";"
            case .untrusted: " ssl http2; \(files(in: folder))"
            case .named(let isMultiplexed): " ssl\(isMultiplexed ? " http2" : ""); \(files(in: named))"
            case .closing: " ssl; keepalive_timeout 0; ssl_session_tickets off; \(files(in: named))"
            }
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
                    listen 127.0.0.1:\(port)\(protocols)
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
