// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

/// The resolved addresses of a host or proxy, with which libcurl can connect without a DNS lookup.
struct CurlAddresses: Sendable, Hashable {
    /// A host and a port; the host is spelled as libcurl looks it up.
    struct Endpoint: Sendable, Hashable {
        let host: String
        let port: Int
    }

    let endpoint: Endpoint
    /// The host name that was looked up; `nil` if the caller configured the addresses.
    let name: String?
    let addresses: [String]

    init(_ addresses: [String], of destination: CurlDestination, areFixed: Bool = false) {
        endpoint = Endpoint(host: destination.lookupHost, port: destination.port)
        (self.addresses, name) = (addresses, areFixed ? nil : destination.name)
    }

    /// The entry for `CURLOPT_RESOLVE`: `host:port:address,address`, with a leading `+` if the addresses expire after a
    /// minute.
    var resolveEntry: String {
        // Addresses that the caller configured never expire.
        let prefix = name != nil && CurlFeatures.loaded.supportsExpiringAddresses ? "+" : ""
        let texts = addresses.map { $0.contains(":") ? "[\($0)]" : $0 }
        return "\(prefix)\(endpoint.host):\(endpoint.port):\(texts.joined(separator: ","))"
    }
}
#endif
