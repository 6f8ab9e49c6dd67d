// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension TransportRequest {
    /// The host whose rules the connection has to keep to; nil where it has to keep to none but the system's.
    ///
    /// - Throws: A ``RequestError`` for a name beyond ASCII. Foundation and libcurl make another name of it, and the
    ///   rules for that one wouldn't be found.
    func hostWithRules() throws(RequestError) -> String? {
        guard trust != .system, url.scheme?.lowercased() == "https" else { return nil }
        let host = url.host(percentEncoded: false) ?? ""
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else {
            let reason = "a host that rules of trust are to be found for has to be in ASCII"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
        return host
    }

    /// What is asked of a connection to a host; nil for what is asked by default.
    func hostTrust(for host: String) -> HostTrust? {
        var rules = trust.trust(for: host)
        if hasLeftOrigin { rules?.identity = nil }
        return rules
    }
}
