// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Stands in for Apple's module Foundation in Scripts/apple-check: the two modules of Linux, what Apple's re-exports,
// and the members that the sources use and Linux lacks. Nothing of it is ever run.
//
// It can't have Apple's name, which is that of one of the two modules: the script renames the imports.

@_exported import CoreFoundation
@_exported import Darwin
@_exported import Foundation
@_exported import FoundationNetworking
@_exported import ObjectiveC
import Security

// Linux has them too, but forbids their use.
public var NSURLAuthenticationMethodClientCertificate: String { fatalError() }
public var NSURLAuthenticationMethodServerTrust: String { fatalError() }

extension URLProtectionSpace {
    public var serverTrust: SecTrust? { nil }
}

extension URLCredential {
    public convenience init(trust: SecTrust) { fatalError() }

    public convenience init(identity: SecIdentity, certificates: [Any]?, persistence: URLCredential.Persistence) {
        fatalError()
    }
}

extension URLRequest {
    public var allowsExpensiveNetworkAccess: Bool { true }
    public var allowsConstrainedNetworkAccess: Bool { true }
}

extension URLSessionConfiguration {
    // Stands in for `background(withIdentifier:)`, which Foundation of Linux declares unavailable.
    public class func backgroundStub(withIdentifier identifier: String) -> URLSessionConfiguration { .default }

    public var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t {
        get { fatalError() }
        set {}
    }
}

extension NSData {
    public enum CompressionAlgorithm: Int, Sendable {
        case lzfse
        case lz4
        case lzma
        case zlib
    }

    public func compressed(using algorithm: CompressionAlgorithm) throws -> Self { self }
}

extension Stream {
    public class func getBoundStreams(
        withBufferSize bufferSize: Int,
        inputStream: UnsafeMutablePointer<InputStream?>?,
        outputStream: UnsafeMutablePointer<OutputStream?>?
    ) {}
}

extension NSObject {
    public func perform(_ selector: Selector, on thread: Thread, with argument: Any?, waitUntilDone wait: Bool) {}
}
