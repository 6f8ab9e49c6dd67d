// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import NIOSSL

/// A self-signed certificate for localhost, newly made by OpenSSL.
struct ServerIdentity {
    let ofServer: TLSConfiguration
    let ofClient: TLSConfiguration

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (key, certificate) = (folder.appendingPathComponent("key.pem"), folder.appendingPathComponent("cert.pem"))
        let openssl = Process()
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        openssl.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", key.path, "-out", certificate.path, "-days", "2", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost",
        ]
        openssl.standardError = FileHandle.nullDevice
        try openssl.run()
        openssl.waitUntilExit()
        let chain = try NIOSSLCertificate.fromPEMFile(certificate.path)
        ofServer = .makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: key.path, format: .pem))
        )
        var client = TLSConfiguration.makeClientConfiguration()
        client.trustRoots = .certificates(chain)
        ofClient = client
    }
}
