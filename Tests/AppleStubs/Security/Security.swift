// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Stands in for Apple's module Security in Scripts/apple-check: what the sources use of it, and no more.
// Nothing of it is ever run.

import CoreFoundation
import Foundation

public typealias OSStatus = Int32

public final class SecCertificate {}
public final class SecIdentity {}
public final class SecPolicy {}
public final class SecTrust {}

public func SecIdentityGetTypeID() -> CFTypeID { fatalError() }

public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? { fatalError() }
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { fatalError() }

public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy { fatalError() }

public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: CFTypeRef) -> OSStatus { fatalError() }
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchors: CFArray?) -> OSStatus { fatalError() }
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ only: Bool) -> OSStatus { fatalError() }
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { fatalError() }
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
    fatalError()
}

public func SecPKCS12Import(
    _ container: CFData,
    _ options: CFDictionary,
    _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    fatalError()
}

public var kSecImportExportPassphrase: CFString { fatalError() }
public var kSecImportToMemoryOnly: CFString { fatalError() }
public var kSecImportItemIdentity: CFString { fatalError() }
public var kSecImportItemCertChain: CFString { fatalError() }

public var errSecSuccess: OSStatus { 0 }
public var errSecCertificateExpired: OSStatus { -67818 }
public var errSecCertificateNotValidYet: OSStatus { -67819 }
public var errSecCertificateRevoked: OSStatus { -67820 }
public var errSecCreateChainFailed: OSStatus { -25318 }
public var errSecHostNameMismatch: OSStatus { -67602 }
public var errSecNotTrusted: OSStatus { -67843 }

@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    fatalError()
}
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    fatalError()
}
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { fatalError() }

@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributes: CFDictionary) -> OSStatus { fatalError() }

public var errSecItemNotFound: OSStatus { -25300 }
public var kSecAttrAccessible: CFString { fatalError() }
public var kSecAttrAccessibleAfterFirstUnlock: CFString { fatalError() }
public var kSecAttrService: CFString { fatalError() }
public var kSecClass: CFString { fatalError() }
public var kSecClassGenericPassword: CFString { fatalError() }
public var kSecReturnData: CFString { fatalError() }
public var kSecValueData: CFString { fatalError() }
