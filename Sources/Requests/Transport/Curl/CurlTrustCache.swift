// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import Foundation

/// The options that policies come to, kept: a policy goes with every request, and the system's authorities alone are a
/// few hundred thousand bytes.
final class CurlTrustCache: Sendable {
    private struct Key: Sendable, Hashable {
        let policy: TrustPolicy
        let host: String
        let showsIdentity: Bool
    }

    private struct State: Sendable {
        var trusts: [Key: CurlTrust] = [:]
        var authorities: [HostTrust.Authorities: CurlAuthorities] = [:]
    }

    /// The one of the process.
    static let shared = CurlTrustCache(version: ccurl_version())
    private static let most = 256

    private let version: UInt32
    private let state = Locked(State())

    /// - Parameter version: That of libcurl.
    init(version: UInt32) {
        self.version = version
    }

    /// What the connection of a request is asked for; nil for what is asked by default.
    ///
    /// - Throws: A ``RequestError`` where libcurl can't ask that.
    func trust(for request: TransportRequest) throws(RequestError) -> CurlTrust? {
        guard let host = try request.hostWithRules() else { return nil }
        let key = Key(policy: request.trust, host: host, showsIdentity: !request.hasLeftOrigin)
        if let trust = state.withLock({ $0.trusts[key] }) { return trust }
        guard let trust = request.hostTrust(for: host) else { return nil }
        let made = try CurlTrust(trust, authorities: authorities(of: trust), version: version)
        state.withLock { state in
            if state.trusts.count >= Self.most { state = State() }
            state.trusts[key] = made
        }
        return made
    }

    private func authorities(of trust: HostTrust) throws(RequestError) -> CurlAuthorities? {
        let authorities = trust.authorities
        // Where every certificate will do, nobody's word is asked for; where only the system's, libcurl knows them.
        guard !trust.acceptsAnyCertificate, authorities != HostTrust.Authorities() else { return nil }
        if let made = state.withLock({ $0.authorities[authorities] }) { return made }
        let made = try CurlAuthorities(authorities, version: version)
        state.withLock { $0.authorities[authorities] = made }
        return made
    }
}
#endif
