// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

#if os(Linux)
import Glibc

/// Ten thousand transfers at a server that never responds, or as many as the descriptors allow: their cost for
/// transfers that are answered, and the time to cancel all of them.
extension Measurement {
    static let multitude: [Measurement] = [
        Measurement(name: "multitude-none") { try besides(hanging: 0).others },
        Measurement(name: "multitude-others") { try besides(hanging: mostHanging).others },
        Measurement(name: "multitude-cancel") { try besides(hanging: mostHanging).cancelling },
    ]

    static var mostHanging: Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return min(10_000, Int(clamping: limit.rlim_cur) - 200)
    }

    private static func besides(hanging count: Int) throws -> (others: Usage, cancelling: Usage) {
        let silence = try ServerProcess("--silent", "\(count)")
        defer { silence.stop() }
        var configuration = CurlTransport.Configuration()
        configuration.maximumConnectionsPerHost = nil
        let transport = CurlTransport(configuration: configuration)
        defer { transport.close() }
        var request = TransportRequest(HTTPRequest(url: silence.url))
        request.timeout = .seconds(600)
        let ended = DispatchGroup()
        let transfers = (0..<count).map { _ in
            ended.enter()
            return transport.send(request) { if case .end = $0 { ended.leave() } }
        }
        if count > 0 { _ = silence.line() }
        let others = try Load(width: 8, count: 20_000).measure { url, done in
            collect(url, from: transport) { done(!$0.isEmpty) }
        }
        let cancelling = Usage.measure(count: max(1, count)) {
            for transfer in transfers { transfer.cancel() }
            ended.wait()
        }
        return (others, cancelling)
    }
}
#else
extension Measurement {
    static let multitude: [Measurement] = []
}
#endif
