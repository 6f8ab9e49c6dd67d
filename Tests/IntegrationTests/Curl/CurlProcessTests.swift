// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// What a transport does to its process, and the process to a transport.
    @Suite(.bounded) struct CurlProcessTests {
        /// It would hang, with its timeout.
        @Test func requestFailsWithoutAvailableThread() async throws {
            let server = try MockServer { _ in .text("hi") }

            let arguments = ["threads", "\(server.port)"]
            let (status, isSignal) = try await BuiltProgram.run("RequestsTransportProbe", arguments)

            #expect(status == 0 && !isSignal, "status \(status)")
            #expect(server.requests.count == 1, "when there are threads again")
        }

        /// A fork has no thread but its own: its requests would hang, and wake the thread of the other process.
        @Test func requestInForkedProcessFails() async throws {
            let server = try MockServer { _ in .text("hi") }

            let (status, isSignal) = try await BuiltProgram.run("RequestsTransportProbe", ["fork", "\(server.port)"])

            #expect(status == 0 && !isSignal, "status \(status)")
            #expect(server.requests.count == 1)
        }

        /// The caller may use OpenSSL itself, which has a state for each thread.
        @Test func openSSLStateOfLoadingThreadIsPreserved() async throws {
            let (status, isSignal) = try await BuiltProgram.run("RequestsTransportProbe", ["openssl"])

            #expect(status == 0 && !isSignal, "status \(status)")
        }
    }
}
#endif
