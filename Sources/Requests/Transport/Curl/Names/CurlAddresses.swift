// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

/// The addresses of a host or a proxy, for libcurl to connect to without a look-up.
struct CurlAddresses: Sendable, Hashable {
    /// A host and a port, as libcurl looks them up.
    struct Endpoint: Sendable, Hashable {
        let host: String
        let port: Int
    }

    let endpoint: Endpoint
    /// The name that they were looked up by; `nil` if they are the caller's.
    let name: String?
    let addresses: [String]

    init(_ addresses: [String], of destination: CurlDestination, areFixed: Bool = false) {
        endpoint = Endpoint(host: destination.lookupHost, port: destination.port)
        (self.addresses, name) = (addresses, areFixed ? nil : destination.name)
    }

    /// The line that libcurl takes: `host:port:address,address`, after a plus if they expire in a minute.
    var resolveEntry: String {
        // The caller's never expire.
        let prefix = name != nil && CurlFeatures.loaded.supportsExpiringAddresses ? "+" : ""
        let texts = addresses.map { $0.contains(":") ? "[\($0)]" : $0 }
        return "\(prefix)\(endpoint.host):\(endpoint.port):\(texts.joined(separator: ","))"
    }
}
#endif
