// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// The transports of the library follow the rules that they document for others.
    @Suite(.bounded) struct ConformanceTests {
        private typealias Faults = [String: TransportConformance.KnownFault]

        @Test(arguments: TransportUnderTest.all, TransportConformance.checks)
        func transportConforms(_ transport: TransportUnderTest, _ check: TransportConformance.Check) async throws {
            try await check.run(
                on: { transport.makeOwnTransport() },
                knownFault: Self.faults(of: transport)[check.name]
            )
        }

        @Test(arguments: TransportConformance.checks.filter { !$0.needsServer })
        func inMemoryConforms(_ check: TransportConformance.Check) async throws {
            let outcome = try await check.run(on: {
                InMemoryTransport { request in
                    request.url.path == "/stalled" ? .never : .status(.ok, body: Data("text".utf8))
                }
            })
            guard case .passed = outcome else { return _ = Issue.record("\(outcome)") }
        }

        @Test func faultsThatAreDeclaredExist() {
            let names = Set(TransportConformance.checks.map(\.name))

            #expect(names.count == TransportConformance.checks.count)
            #expect(Set(Self.faultsOfURLSession.keys).subtracting(names) == [])
            #expect(Set(Self.faultsOfTheProcess.keys).subtracting(names) == [])
        }

        private static func faults(of transport: TransportUnderTest) -> Faults {
            #if os(Linux)
            transport == .standard ? [:] : faultsOfURLSession
            #else
            transport == .sharedSession || transport == .standard
                ? faultsOfURLSession.merging(faultsOfTheProcess) { $1 } : faultsOfURLSession
            #endif
        }

        /// The process shares cookies, credentials, connections and a cache.
        private static let faultsOfTheProcess: Faults = [
            "cookies aren't kept": .fails("the cookies of the process are its own"),
            "answers aren't cached": .fails("the cache of the process is its own"),
        ]

        /// The faults that the documentation of `URLSessionTransport` lists as unfixable.
        private static let faultsOfURLSession: Faults = {
            #if canImport(FoundationNetworking)
            [
                "trailers do no harm": .endsProcess("trailers are a fatalError of Foundation"),
                "an end anywhere in the head is an error": .endsProcess("it is a fatalError of Foundation"),
                "a hostile Location does no harm": .fails("a field without a value is an error"),
                "a redirect without a usable Location keeps its content": .fails("its content is dropped"),
                "a head that drips is no silence": .fails("a session tells nothing of a head before it is whole"),
                "garbage is an error": .fails("a status that isn't a number is taken for an address that isn't one"),
            ]
            #else
            [
                "a head that drips is no silence": .fails("a session tells nothing of a head before it is whole"),
                "failures aren't retried": .fails("a session retries a request over a new connection"),
                "an end before the first byte is an error": .fails("a session retries it over a new connection"),
            ]
            #endif
        }()
    }
}

extension TransportUnderTest {
    /// Returns a transport that shares nothing with another test, if the kind allows it, and keeps no cookies and no
    /// cache.
    fileprivate func makeOwnTransport() -> any HTTPTransport {
        #if os(Linux)
        if self == .standard { return CurlTransport() }
        #endif
        let session = makeSession { configuration in
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configuration.urlCache = nil
        }
        return session ?? DefaultTransport.shared
    }
}
