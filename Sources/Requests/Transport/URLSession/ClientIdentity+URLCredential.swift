// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if canImport(Security)
import Foundation
import Security

extension ClientIdentity {
    /// Makes what a session shows a server.
    ///
    /// - Throws: A ``RequestError`` of code `unsupported` where the system has no way that leaves the keychain alone, and
    ///   of code `untrusted` where the container doesn't open.
    func makeCredential() throws(RequestError) -> URLCredential {
        guard case .pkcs12(let container) = content else {
            throw Self.unsupported("a URLSession takes a client certificate as PKCS#12 only")
        }
        var options: [String: Any] = [kSecImportExportPassphrase as String: password ?? ""]
        #if os(macOS)
        // Without this option, the key would be put into the user's keychain, and stay there.
        guard #available(macOS 15, *) else {
            throw Self.unsupported("a client certificate that leaves the keychain alone needs macOS 15")
        }
        options[kSecImportToMemoryOnly as String] = true
        #endif
        var imported: CFArray?
        guard SecPKCS12Import(container as CFData, options as CFDictionary, &imported) == errSecSuccess,
            let items = imported as? [[String: Any]],
            let item = items.first(where: { $0[kSecImportItemIdentity as String] != nil }),
            let identity = Self.identity(item[kSecImportItemIdentity as String])
        else { throw RequestError(.ownCertificateUnusable, phase: .sending) }
        let chain = item[kSecImportItemCertChain as String] as? [SecCertificate] ?? []
        return URLCredential(identity: identity, certificates: Array(chain.dropFirst()), persistence: .forSession)
    }

    /// A value as what it has to be; Swift's own casts to types of Core Foundation look at nothing.
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
