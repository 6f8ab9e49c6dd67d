// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// Requests that race with what a peer does to their connection.
    @Suite(.bounded, .enabled(if: InteropServers.current?.has(.peer) == true, "Scripts/interop starts the servers"))
    struct InteropRaceTests {
        let servers: InteropServers

        init() throws {
            servers = try #require(InteropServers.current)
        }

        /// An unprocessed request is sent again, unless it was cancelled.
        @Test func cancelRacesResending() async throws {
            let (transport, trust) = (CurlTransport(), try servers.authority)
            var random = Fuzz()
            for number in 0..<Scale.races {
                let path = number.isMultiple(of: 2) ? "refused/1" : "goaway/1"
                let request = HTTPRequest(url: try servers.url(.peer).appending(path: path), method: .post)
                let transcript = Transcript()
                let transfer = transport.send(TransportRequest(request, trust: trust)) { transcript.receive($0) }
                let delay = Int.random(in: 0...8_000, using: &random)
                DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(delay)) {
                    transfer.cancel()
                }
                try await transcript.ended.wait()

                let error = transcript.error.map { "\($0)" } ?? ""
                #expect(["success", "cancelled"].contains(transcript.result), "\(error)")
                #expect(transcript.violations == [], "seed \(Fuzz.seed)")
            }
        }

        /// The next request may be given the connection in the moment in which the response is complete.
        @Test func excessBytesRaceNextRequest() async throws {
            let transport = CurlTransport.configured { $0.usesHTTP2 = false }
            let trust = try servers.authority
            func call(_ path: String) throws -> Call {
                Call(try servers.url(.peer).appending(path: path)) { $0.trust = trust }
            }

            let texts = try await withThrowingTaskGroup(of: [String].self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var texts: [String] = []
                        for number in 0..<Scale.races / 2 {
                            let path = number.isMultiple(of: 2) ? "junk/one" : "kept"
                            texts.append(try await OperationQueue().send(call(path), session: transport).text)
                        }
                        return texts
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }

            #expect(!texts.contains("poison"))
        }
    }
}
#endif
