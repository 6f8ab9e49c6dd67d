// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The certificate of `localhost`, and its authority, which `Scripts/bench path` makes and adds to the system's.
enum PathCertificate {
    /// The folder with `server.pem`, `server.key`, and folders of other sets of authorities.
    static var folder: URL {
        get throws {
            guard let path = ProcessInfo.processInfo.environment["REQUESTS_BENCH_PATH"] else {
                throw MissingAuthority()
            }
            return URL(filePath: path)
        }
    }

    /// The system's trust policy, with a pin of the server's key.
    static var pinned: TrustPolicy {
        get throws { try .system.pinning([TrustPolicy.PublicKeyPin(certificate)], forHosts: ["localhost"]) }
    }

    /// The system's trust policy, with another authority.
    static var adding: TrustPolicy {
        get throws { .system.adding([try certificate]) }
    }

    private static var certificate: TrustPolicy.Certificate {
        get throws { try TrustPolicy.Certificate(contentsOf: folder.appending(path: "server.pem")) }
    }

    struct MissingAuthority: Error, CustomStringConvertible {
        var description: String { "these measurements need the authority that Scripts/bench path installs" }
    }
}
