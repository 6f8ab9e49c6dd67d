// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// Concurrent actions leave one end for each transfer, in order, and a transport that works or is gone.
    @Suite(.bounded) struct RaceCurlTests {
        static let iterations = Scale.races

        struct Answer: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let response: StubResponse
        }

        static let answers: [Answer] = [
            Answer(testDescription: "content", response: .text("fast")),
            Answer(testDescription: "chunks", response: .chunked([Data("a".utf8), Data("b".utf8)])),
            Answer(testDescription: "close in the content", response: .partial(then: .close)),
            Answer(testDescription: "reset", response: .reset),
        ]

        /// Cancels or pauses a transfer while it runs, at a random moment.
        private func disturb(_ transfer: any TransferHandle, _ number: Int) {
            // By the number alone, whatever ran before.
            var random = Fuzz(seed: Fuzz.seed &+ UInt64(number))
            let delay = Int.random(in: 0...800, using: &random)
            DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(delay)) {
                switch number % 4 {
                case 0: transfer.cancel()
                case 1:
                    transfer.pause()
                    transfer.resume()
                case 2:
                    transfer.pause()
                    transfer.cancel()
                default:
                    transfer.pause()
                    DispatchQueue.global().async { transfer.resume() }
                    DispatchQueue.global().async { transfer.cancel() }
                }
            }
        }

        @Test(arguments: answers)
        func randomDisturbanceCompletesOnce(_ answer: Answer) async throws {
            let server = try MockServer { $0.path == "/alive" ? .text("alive") : answer.response }
            let transport = CurlTransport()
            var transcripts: [Transcript] = []

            for number in 0..<Self.iterations {
                let transcript = Transcript()
                transcripts.append(transcript)
                disturb(transport.send(server.url("/"), to: transcript), number)
                if number.isMultiple(of: 3) { try await transcript.ended.wait() }
            }
            for transcript in transcripts { try await transcript.ended.wait() }
            let alive = await transport.run(server.url("/alive"))
            transport.close()

            #expect(transcripts.flatMap(\.violations) == [], "seed \(Fuzz.seed)")
            #expect(alive.text == "alive")
        }

        @Test func cancelRacesUpload() async throws {
            let server = try MockServer { _ in .text("thanks") }
            let transport = CurlTransport()
            let data = Data(count: 100_000)
            let bodies: [HTTPBody] = [.data(data), .stream(HTTPBody.Stream { InputStream(data: data) })]
            var transcripts: [Transcript] = []

            for number in 0..<Self.iterations {
                let transcript = Transcript()
                transcripts.append(transcript)
                disturb(transport.send(server.url, method: .post, body: bodies[number % 2], to: transcript), number / 2)
                if !number.isMultiple(of: 8) { try await transcript.ended.wait() }
            }
            for transcript in transcripts { try await transcript.ended.wait() }
            transport.close()

            #expect(transcripts.flatMap(\.violations) == [], "seed \(Fuzz.seed)")
            let others = transcripts.enumerated().filter { !["success", "cancelled"].contains($0.element.result) }
            #expect(others.map { "\($0.offset): \($0.element.events)" } == [])
        }

        @Test func closeRacesRequests() async throws {
            let server = try MockServer { _ in .text("fast") }
            let results = Locked<[String: Int]>([:])

            for number in 0..<Self.iterations {
                let transport = CurlTransport()
                let transcripts = (0..<2).map { _ in Transcript() }
                let (first, second) = (transcripts[0], transcripts[1])
                DispatchQueue.global().async {
                    transport.send(server.url, to: first)
                    transport.send(server.url, to: second)
                }
                if number.isMultiple(of: 2) { try await first.ended.wait() }
                DispatchQueue.global().async { transport.close() }
                transport.close()
                for transcript in transcripts {
                    try await transcript.ended.wait()
                    #expect(transcript.violations == [], "seed \(Fuzz.seed)")
                    results.withLock { $0[transcript.result, default: 0] += 1 }
                }
            }

            #expect(Set(results.withLock { $0 }.keys).isSubset(of: ["success", "cancelled", "closed"]))
        }

        /// One worker reports content to a receiver, and another an end from this side.
        @Test func contentRacesLocalEnd() async throws {
            let server = try MockServer { _ in .chunked(Array(repeating: Data(count: 20_000), count: 20)) }
            let transport = CurlTransport()

            for number in 0..<Self.iterations {
                let transcript = Transcript(keepsContent: false) { event in
                    if case .data = event { sched_yield() }
                }
                let timeout: Duration = number.isMultiple(of: 3) ? .milliseconds(1) : .seconds(60)
                disturb(transport.send(server.url, timeout: timeout, to: transcript), number)
                try await transcript.ended.wait()

                #expect(transcript.violations == [], "seed \(Fuzz.seed)")
                #expect(["success", "cancelled", "timedOut"].contains(transcript.result))
            }
            transport.close()
        }

        @Test func nameLookupsRaceRequests() async throws {
            let server = try MockServer { _ in .text("fast") }
            let names = HostResolver(maximumAwaited: 2, maximumWorkers: 4) { name in
                name.hasPrefix("no-such") ? .failure(.init(reason: "Name not known")) : .success(["127.0.0.1"])
            }
            var transport = CurlTransport.configured { $0.names = names }

            for number in 0..<Self.iterations {
                let transcripts = (0..<4).map { _ in Transcript() }
                for (index, transcript) in transcripts.enumerated() {
                    let name = index == 3 ? "no-such-\(number).test" : "host-\(number)-\(index % 2).test"
                    let url = URL(string: "http://\(name):\(server.port)/")!
                    disturb(transport.send(url, to: transcript), number + index)
                }
                if number.isMultiple(of: 8) {
                    transport.close()
                    transport = CurlTransport.configured { $0.names = names }
                }
                for transcript in transcripts {
                    try await transcript.ended.wait()
                    #expect(transcript.violations == [], "seed \(Fuzz.seed)")
                    #expect(["success", "cancelled", "cannotConnect"].contains(transcript.result))
                }
            }
            transport.close()
        }

        /// The answer to a withdrawn question may come after another was asked.
        @Test func failedLookupRacesNewLookup() async throws {
            let server = try MockServer { _ in .text("hi") }
            let asked = Locked<[String: Gate]>([:])
            let names = HostResolver { name in
                let first = asked.withLock { $0.removeValue(forKey: name) }
                guard let first else { return .success(["127.0.0.1"]) }
                try? first.wait()
                return .failure(.init(reason: "Too late"))
            }
            let transport = CurlTransport.configured { $0.names = names }

            for round in 0..<Scale.races {
                let (gate, url) = (Gate(), URL(string: "http://host-\(round).test:\(server.port)/")!)
                asked.withLock { $0["host-\(round).test"] = gate }
                let (first, second) = (Transcript(), Transcript())
                let transfer = transport.send(url, to: first)
                // The failure, the cancel and the other request reach the transport at about the same time.
                DispatchQueue.global().async { gate.open() }
                transfer.cancel()
                transport.send(url, to: second)
                for transcript in [first, second] { try await transcript.ended.wait() }

                #expect(["cancelled", "cannotConnect"].contains(first.result))
                // It may have come in time for the same look-up.
                #expect(second.result == "cannotConnect" || second.text == "hi", "\(second.result)")
                let third = await transport.run(url)
                #expect(third.text == "hi", "\(third.result)")
            }
        }

        /// With each request, a kept connection turns out to be closed.
        @Test func cancelRacesResending() async throws {
            let server = try RawListener { connection in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
                _ = connection.readHead()
            }
            let url = URL(string: "http://127.0.0.1:\(server.port)/")!
            let transport = CurlTransport()

            for number in 0..<Self.iterations {
                let transcript = Transcript()
                disturb(transport.send(url, to: transcript), number)
                try await transcript.ended.wait()

                #expect(transcript.violations == [], "seed \(Fuzz.seed)")
                let error = transcript.error.map { "\($0)" } ?? ""
                #expect(["success", "cancelled"].contains(transcript.result), "\(error)")
            }
            #expect(await transport.run(url).text == "hi")
            transport.close()
        }

        @Test func transportReleaseRacesTransfers() async throws {
            let server = try MockServer { _ in .text("fast") }

            for number in 0..<Self.iterations {
                let transcript = Transcript()
                let transfer = CurlTransport().send(server.url, to: transcript)
                if number.isMultiple(of: 2) { transfer.cancel() }
                try await transcript.ended.wait()
                #expect(transcript.violations == [], "seed \(Fuzz.seed)")
                #expect(["success", "cancelled"].contains(transcript.result))
            }
        }
    }
}
#endif
