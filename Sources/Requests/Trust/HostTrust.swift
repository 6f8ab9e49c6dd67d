// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// What is asked of a connection to one host: a ``TrustPolicy`` with its rules applied.
struct HostTrust: Sendable, Hashable {
    /// The authorities whose word is good.
    struct Authorities: Sendable, Hashable {
        var includesSystem = true
        var certificates: [Certificate] = []
    }

    /// Whose word about the host's key is good.
    let authorities: Authorities
    /// The pins that one of has to be that of the host's key; nil where every key will do.
    let pins: Set<PublicKeyPin>?
    /// What the host is told about the client, if it asks.
    var identity: ClientIdentity?
    let minimumVersion: TLSVersion
    /// Whether neither authorities nor names count.
    let acceptsAnyCertificate: Bool
}

extension TrustPolicy {
    /// What is asked of a connection to a host; nil for what is asked by default.
    func trust(for host: String) -> HostTrust? {
        guard let rules else { return nil }
        return HostTrust(
            authorities: rules.authorities,
            pins: rules.pins.value(for: host),
            identity: rules.identities.value(for: host),
            minimumVersion: rules.minimumVersion,
            acceptsAnyCertificate: rules.insecureHosts.value(for: host) == true
        )
    }
}
