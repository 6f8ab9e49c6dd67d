// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// One thread serves all hosts: a server that sends without end, but nothing of a response, must not have it for
    /// itself.
    @Suite(
        .bounded,
        .enabled(if: InteropServers.current?.has(.floods) == true, "Scripts/interop starts the servers")
    )
    struct InteropFloodTests {
        private static let seconds = Scale.pick(2, whole: 12)
        private let servers: InteropServers

        init() throws {
            servers = try #require(InteropServers.current)
        }

        struct Flood: Sendable, CustomTestStringConvertible {
            var server = InteropServers.Server.floods
            let path: String
            var isUnverified = false

            var testDescription: String { path + (isUnverified ? " of any server" : "") }
        }

        static let floods: [Flood] =
            ["data", "padding", "window", "unknown", "acknowledgements", "priority"].map {
                Flood(path: "flood/\($0)/\(seconds)")
            }
            + [false, true].map {
                Flood(server: .updates, path: "updates/\(5_000 * seconds)", isUnverified: $0)
            }

        @Test(.tags(.alone), arguments: floods)
        func floodDoesNotDelayOtherRequests(_ flood: Flood) async throws {
            let (transport, flooded) = (CurlTransport(), Transcript())
            var request = TransportRequest(
                HTTPRequest(url: try servers.url(flood.server).appending(path: flood.path)),
                timeout: flood.server == .updates ? .seconds(20) : .seconds(1)
            )
            request.trust =
                flood.isUnverified
                ? try TrustPolicy.system.insecurelyAcceptingAnyCertificate(forHosts: ["localhost"])
                : try servers.authority
            let other = try servers.url(.plain)
            _ = transport.send(request) { flooded.receive($0) }
            try await flooded.content.wait()

            var durations: [Duration] = []
            var countInFlood = 0
            repeat {
                let transcript = await transport.run(other, timeout: .seconds(3))
                #expect(transcript.result == "success", "\(String(describing: transcript.error))")
                durations.append(transcript.duration)
                if !flooded.ended.isOpen { countInFlood = durations.count }
            } while durations.count < 20 || !flooded.ended.isOpen
            transport.close()

            durations.sort()
            #expect(durations[durations.count / 2] < .milliseconds(100), "\(durations)")
            #expect(durations[durations.count * 99 / 100] < .seconds(1), "\(durations.suffix(5))")
            #expect(flooded.contentSize == 5 && flooded.result != "success")
            // Records without content are read one at a time; the connection of endless frames is ended.
            if flood.server == .updates {
                #expect(countInFlood > 2)
            } else {
                #expect(flooded.duration < .seconds(Self.seconds), "\(flooded.duration)")
            }
        }

        /// What flow control lets through for other streams isn't a flood.
        @Test(.tags(.alone)) func fastStreamsAreNotTreatedAsFlood() async throws {
            let transport = CurlTransport()
            let silent = Transcript()
            var request = TransportRequest(HTTPRequest(url: try servers.url(.trusted).appending(path: "large")))
            request.trust = try servers.authority
            let paused = transport.send(request) { silent.receive($0) }
            paused.pause()
            let transcripts = (0..<Scale.pick(4, whole: 64)).map { _ in Transcript(keepsContent: false) }

            for transcript in transcripts { _ = transport.send(request) { transcript.receive($0) } }
            // 4 GiB take their time beside other work; silence would end a transfer after a minute.
            let limit = Duration.seconds(Scale.pick(30, whole: 600))
            for transcript in transcripts { try await transcript.ended.wait(timeout: limit) }
            paused.cancel()
            transport.close()

            #expect(transcripts.allSatisfy { $0.result == "success" && $0.contentSize == 64 << 20 })
        }
    }
}
#endif
