// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if canImport(Security)
import Foundation
import Security

/// Handles a session's challenges that concern the server's certificate or the client's certificate.
final class SessionTrust: Sendable {
    /// The response to a challenge.
    enum Disposition: Sendable {
        /// Perform the default handling of the system.
        case system
        /// Continue with this credential.
        case use(URLCredential)
        /// Close the connection.
        case refuse(TrustFailure)
    }

    private let rules: HostTrust
    private let credential: URLCredential?
    private let isServerAccepted = Locked(false)

    /// - Throws: A ``RequestError`` if the client's certificate can't be used.
    init(_ rules: HostTrust) throws(RequestError) {
        guard !rules.requiresStaple else {
            let reason = "URLSession can't request a stapled OCSP response"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
        self.rules = rules
        credential = try rules.identity?.makeCredential()
    }

    /// Whether a server was accepted in this session; until then, no response can be trusted.
    var hasAcceptedServer: Bool { isServerAccepted.withLock { $0 } }

    func disposition(to challenge: URLAuthenticationChallenge) -> Disposition {
        let space = challenge.protectionSpace
        guard !space.isProxy() else { return .system }
        switch space.authenticationMethod {
        case NSURLAuthenticationMethodServerTrust:
            return space.serverTrust.map { disposition(to: $0, of: space.host) } ?? .refuse(.badCertificate)
        case NSURLAuthenticationMethodClientCertificate:
            guard let credential else { return .system }
            return challenge.previousFailureCount == 0 ? .use(credential) : .refuse(.clientCertificateRejected)
        default:
            return .system
        }
    }

    private func disposition(to trust: SecTrust, of host: String) -> Disposition {
        let decision = trust.decision(of: rules, for: host)
        if case .refuse(let trustFailure) = decision { return .refuse(trustFailure) }
        isServerAccepted.withLock { $0 = true }
        return decision == .accept ? .use(URLCredential(trust: trust)) : .system
    }
}

// MARK: - Host trust

extension SecTrust {
    /// Decides whether to trust the certificates of a server.
    func decision(of rules: HostTrust, for host: String) -> HostTrust.Decision {
        rules.decision(on: host, chain: { chain }, problem: { problem(for: host, by: rules) })
    }

    /// The DER-encoded certificate chain, beginning with the server's own certificate; after an evaluation, this is the
    /// verified chain.
    private var chain: [Data] {
        let chain = SecTrustCopyCertificateChain(self) as? [SecCertificate] ?? []
        return chain.map { SecCertificateCopyData($0) as Data }
    }

    /// Returns the reason why the system doesn't trust the server; `nil` if it does.
    ///
    /// If the rules use the system's trust, the session's own policies are evaluated. Otherwise, the host name and the
    /// authorities of the rules are checked, whatever the session would check.
    private func problem(for host: String, by rules: HostTrust) -> TrustFailure? {
        if !rules.usesSystemTrust {
            guard SecTrustSetPolicies(self, SecPolicyCreateSSL(true, host as CFString)) == errSecSuccess else {
                return .badCertificate
            }
            let given = rules.authorities.certificates
            let anchors = given.compactMap { SecCertificateCreateWithData(nil, $0.der as CFData) }
            guard anchors.count == given.count,
                SecTrustSetAnchorCertificates(self, anchors as CFArray) == errSecSuccess,
                SecTrustSetAnchorCertificatesOnly(self, !rules.authorities.includesSystem) == errSecSuccess
            else { return .noAuthorities }
        }
        var error: CFError?
        guard !SecTrustEvaluateWithError(self, &error) else { return nil }
        return error.map { TrustFailure(status: OSStatus(truncatingIfNeeded: CFErrorGetCode($0))) } ?? .badCertificate
    }
}

extension TrustFailure {
    /// Creates a failure from a status code of the Security framework.
    fileprivate init(status: OSStatus) {
        switch status {
        case errSecHostNameMismatch: self = .wrongHost
        case errSecCertificateExpired: self = .expired
        case errSecCertificateNotValidYet: self = .notYetValid
        case errSecCertificateRevoked: self = .revoked
        // The code for an untrusted root, including a self-signed server certificate.
        case errSecNotTrusted, errSecCreateChainFailed: self = .unknownAuthority
        default: self = .badCertificate
        }
    }
}

// MARK: - URLCredential

extension TrustPolicy.ClientIdentity {
    /// Creates the credential that a session presents to a server.
    ///
    /// - Throws: A ``RequestError`` with the code `unsupported` if the system can't create the credential without the
    ///   keychain, or with the code `untrusted` if the container can't be opened.
    func makeCredential() throws(RequestError) -> URLCredential {
        guard case .pkcs12(let container) = content else {
            throw Self.unsupported("URLSession accepts a client certificate only as PKCS#12")
        }
        var options: [String: Any] = [kSecImportExportPassphrase as String: password ?? ""]
        #if os(macOS)
        // Without this option, the key would be stored permanently in the user's keychain.
        guard #available(macOS 15, *) else {
            throw Self.unsupported("using a client certificate without storing it in the keychain requires macOS 15")
        }
        options[kSecImportToMemoryOnly as String] = true
        #endif
        var imported: CFArray?
        guard SecPKCS12Import(container as CFData, options as CFDictionary, &imported) == errSecSuccess,
            let items = imported as? [[String: Any]],
            let item = items.first(where: { $0[kSecImportItemIdentity as String] != nil }),
            let identity = Self.identity(item[kSecImportItemIdentity as String])
        else { throw RequestError(.clientCertificateUnusable, phase: .sending) }
        let chain = item[kSecImportItemCertChain as String] as? [SecCertificate] ?? []
        return URLCredential(identity: identity, certificates: Array(chain.dropFirst()), persistence: .forSession)
    }

    /// Casts a value to an identity after checking its type, because Swift's casts to Core Foundation types check
    /// nothing.
    private static func identity(_ value: Any?) -> SecIdentity? {
        let object = value as AnyObject
        guard CFGetTypeID(object) == SecIdentityGetTypeID() else { return nil }
        return unsafeDowncast(object, to: SecIdentity.self)
    }

    private static func unsupported(_ reason: String) -> RequestError {
        RequestError(.unsupported, phase: .sending, reason: reason)
    }
}
#endif
