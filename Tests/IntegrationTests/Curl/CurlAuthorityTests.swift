// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// The system's authorities, of which there are well over a hundred.
    @Suite(.bounded, .enabled(if: CurlLibrary.usesOpenSSL, "only OpenSSL's are shared"))
    struct CurlAuthorityTests {
        @Test func newConnectionReusesLoadedSystemAuthorities() async throws {
            let server = try RawListener { _ = $0.skip(1) }
            let arguments = ["authorities", "\(server.port)", "16"]
            let (status, isSignal) = try await BuiltProgram.run("RequestsTransportProbe", arguments)
            #expect(status == 0 && !isSignal, "status \(status)")
        }
    }
}

/// The libcurl that the transport loads.
private enum CurlLibrary {
    static var usesOpenSSL: Bool {
        guard let library = dlopen("libcurl.so.4", RTLD_NOW), let symbol = dlsym(library, "curl_version") else {
            return false
        }
        typealias Version = @convention(c) () -> UnsafePointer<CChar>?
        let text = unsafeBitCast(symbol, to: Version.self)().map { String(cString: $0) } ?? ""
        return text.contains(" OpenSSL/")
    }
}
#endif
