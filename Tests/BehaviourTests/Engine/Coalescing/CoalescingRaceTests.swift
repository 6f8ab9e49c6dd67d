// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Operations that join, leave and end a shared transfer concurrently.
@Suite(.bounded) struct CoalescingRaceTests {
    @Test func cancellationRacesJoin() async throws {
        let census = Census()
        for _ in 0..<Scale.races {
            let gate = Gate()
            let queue = TestQueue(InMemoryTransport { _ in .status(.ok, body: Data("shared".utf8)).held(by: gate) })
            let first = Probe(adding: TextRequest(life: census.life()), to: queue, coalescing: true)
            let request = TextRequest(life: census.life())
            let second = Recorder<Probe<TextRequest>>()

            simultaneously {
                first.operation.cancel()
            } and: {
                second.record(Probe(adding: request, to: queue, coalescing: true))
            }
            gate.open()

            #expect(await first.ended().map(\.error?.code) == [.cancelled])
            let joined = try #require(second.elements.first)
            #expect(await joined.ended().map(\.value) == ["shared"])
        }
        await census.extinction()
    }

    @Test func participantCancellationsRaceEachOther() async {
        let census = Census()
        for _ in 0..<Scale.races {
            let queue = TestQueue(InMemoryTransport { _ in .never })
            let probes = (0..<2).map { _ in
                Probe(adding: TextRequest(life: census.life()), to: queue, coalescing: true)
            }

            simultaneously {
                probes[0].operation.cancel()
            } and: {
                probes[1].operation.cancel()
            }

            for probe in probes { #expect(await probe.ended().map(\.error?.code) == [.cancelled]) }
        }
        await census.extinction()
    }

    @Test func transferCompletionRacesJoin() async throws {
        let census = Census()
        for _ in 0..<Scale.races {
            let gate = Gate()
            let transport = InMemoryTransport { _ in .status(.ok, body: Data("shared".utf8)).held(by: gate) }
            let queue = TestQueue(transport)
            let first = Probe(adding: TextRequest(life: census.life()), to: queue, coalescing: true)
            let request = TextRequest(life: census.life())
            let second = Recorder<Probe<TextRequest>>()

            simultaneously {
                gate.open()
            } and: {
                second.record(Probe(adding: request, to: queue, coalescing: true))
            }

            #expect(await first.ended().map(\.value) == ["shared"])
            let joined = try #require(second.elements.first)
            #expect(await joined.ended().map(\.value) == ["shared"])
            #expect((1...2).contains(transport.requests.count))
        }
        await census.extinction()
    }

    @Test func transferCompletionRacesCancellation() async throws {
        let census = Census()
        for _ in 0..<Scale.races {
            let transport = ManualTransport()
            let queue = TestQueue(transport)
            let probes = (0..<3).map { _ in
                Probe(adding: TextRequest(life: census.life()), to: queue, coalescing: true)
            }
            let transfer = try await transport.awaitTransfer()
            transfer.receive(.head(HTTPResponseHead(status: .ok)))

            simultaneously {
                transfer.receive(.end(nil))
            } and: {
                for probe in probes { probe.operation.cancel() }
            }

            for probe in probes { #expect(await probe.ended().count == 1) }
            #expect(transport.transfers.count == 1)
        }
        await census.extinction()
    }

    @Test func clientIsReleasedWhileParticipantsWait() async {
        let census = Census()
        for round in 0..<Scale.races {
            let gate = Gate()
            let transport = InMemoryTransport { _ in .status(.ok, body: Data("shared".utf8)).held(by: gate) }
            var client: HTTPClient? = HTTPClient(maxConcurrentRequests: 1, transport: transport)
            client?.isSuspended = round.isMultiple(of: 2)
            let probes = (0..<3).compactMap { _ in
                client.map { Probe(adding: TextRequest(life: census.life()), to: $0, coalescing: true) }
            }

            client = nil
            gate.open()

            let expected: RequestError.Code? = round.isMultiple(of: 2) ? .cancelled : nil
            for probe in probes { #expect(await probe.ended().map(\.error?.code) == [expected]) }
        }
        await census.extinction()
    }

    @Test func cancellationRacesParticipantStart() async {
        for _ in 0..<Scale.races {
            let transport = InMemoryTransport { _ in .status(.ok, body: Data("shared".utf8)) }
            let queue = TestQueue(transport, isSuspended: true)
            let first = Probe(adding: TextRequest(), to: queue, coalescing: true)
            let second = Probe(adding: TextRequest(), to: queue, coalescing: true)

            simultaneously {
                queue.base.isSuspended = false
            } and: {
                first.operation.cancel()
            }

            #expect(await first.ended().count == 1)
            #expect(await second.ended().map(\.value) == ["shared"])
        }
    }
}

/// Two users in one process, with one transport: no user gets the other's response, whatever is shared.
@Suite(.bounded) struct TwoUserSoakTests {
    @Test func responsesAreNeverSharedBetweenUsers() async {
        // Returns the user of the request, and rejects every tenth token.
        let transport = InMemoryTransport { request in
            let token = request.headers[.authorization] ?? ""
            let name = token.split(separator: " ").last.map { $0.prefix { $0.isLetter } } ?? ""
            guard !name.isEmpty, !token.hasSuffix("0") else { return .status(.unauthorized) }
            return .status(.ok, headers: [.cacheControl: "max-age=1", .vary: "Authorization"], body: Data(name.utf8))
        }
        let cache = ResponseCache()
        let users = ["ada", "bob"]
        let clients = users.map { user in
            let number = Locked(0)
            let authenticator = TokenAuthenticator { _ in
                let next = number.withLock { number in
                    number += 1
                    return number
                }
                return "\(user)\(next)"
            }
            return HTTPClient(baseURL: server, maxConcurrentRequests: 4, transport: transport) {
                $0.interceptors = [
                    AuthenticationInterceptor(
                        authenticator,
                        credential: "\(user)10",
                        origins: sampleOrigins,
                        window: nil
                    )
                ]
                $0.cache = cache
            }
        }
        var random = Fuzz()
        let count = Scale.pick(1_000, whole: 10_000)
        var probes: [(user: Int, probe: Probe<WireRequest>)] = []
        for number in 0..<count {
            let user = Int.random(in: 0..<2, using: &random)
            var request = WireRequest(identifier: "recipe", http: HTTPRequest("recipes/\(number / 7 % 50)"))
            if number % 3 == 0 { request.http.cachePolicy = .reloadIgnoringLocalCacheData }
            probes.append((user, Probe(adding: request, to: clients[user], coalescing: number % 5 != 0)))
            if number % 11 == 0, let old = probes.randomElement(using: &random) { old.probe.operation.cancel() }
        }

        for (user, probe) in probes {
            let end = await probe.ended()
            #expect(end.count == 1 && (end[0].value == users[user] || end[0].error?.code == .cancelled))
        }
    }
}
