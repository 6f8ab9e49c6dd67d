// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import AsyncHTTPClient
import Foundation
import NIOFoundationCompat
import Requests

// Many requests at a time that share one connection of HTTP/2, encrypted, to an nginx.
extension Measurement {
    static let multiplexed: [Measurement] = [8, 64].flatMap { width in
        [
            Measurement(name: "multiplexed-transport-\(width)") {
                let trust = try TrustPolicy.system.insecurelyAcceptingAnyCertificate(forHosts: ["127.0.0.1"])
                return try FetchLoad(width: width, count: 20_000).measure(.untrusted) { url in
                    let data = await withCheckedContinuation { continuation in
                        collect(url, trust: trust) { continuation.resume(returning: $0) }
                    }
                    _ = try JSONDecoder().decode(Todo.self, from: data)
                }
            },
            Measurement(name: "multiplexed-async-http-client-\(width)") {
                let client = AsyncHTTPClient.HTTPClient(
                    eventLoopGroupProvider: .singleton,
                    configuration: AsyncHTTPClient.HTTPClient.Configuration(certificateVerification: .none)
                )
                defer { try? client.syncShutdown() }
                return try FetchLoad(width: width, count: 20_000).measure(.untrusted) { url in
                    let request = HTTPClientRequest(url: url.absoluteString)
                    let response = try await client.execute(request, timeout: .seconds(30))
                    let body = try await response.body.collect(upTo: 1 << 20)
                    _ = try JSONDecoder().decode(Todo.self, from: body)
                }
            },
            Measurement(name: "multiplexed-curl-\(width)") {
                let server = try LoopbackServer(.untrusted)
                defer { server.stop() }
                let count = 20_000
                return try Usage.measure(count: count) {
                    let process = Process()
                    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
                    process.arguments =
                        ["curl", "-s", "-k", "-f", "--parallel", "--parallel-max", "\(width)", "-o", "/dev/null"]
                        + ["\(server.url.absoluteString)?[1-\(count)]"]
                    process.standardError = FileHandle.nullDevice
                    try process.run()
                    process.waitUntilExit()
                    guard process.terminationStatus == 0 else { throw URLError(.cannotLoadFromNetwork) }
                }
            },
        ]
    }
}
