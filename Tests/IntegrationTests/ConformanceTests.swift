// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsConformance
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// The transports of the library follow the rules that they document for others.
    @Suite(.bounded) struct ConformanceTests {
        private typealias Faults = [String: Comment]

        @Test(arguments: TransportUnderTest.all, TransportConformance.checks)
        func transportConforms(_ transport: TransportUnderTest, _ check: TransportConformance.Check) async throws {
            if transport != .standard, Self.faultsThatEndTheProcess[check.name] != nil { return }
            guard let fault = Self.faults(of: transport)[check.name] else {
                try await check.run(on: { transport.makeOwnTransport() })
                return
            }
            await withKnownIssue(fault) { _ = try await check.run(on: { transport.makeOwnTransport() }) }
        }

        @Test(arguments: TransportConformance.checks.filter { !$0.needsServer })
        func inMemoryTransportConforms(_ check: TransportConformance.Check) async throws {
            let skip = try await check.run(on: {
                InMemoryTransport { request in
                    request.url.path == "/stalled" ? .never : .status(.ok, body: Data("text".utf8))
                }
            })
            #expect(skip == nil)
        }

        @Test func declaredFaultsNameExistingChecks() {
            let names = Set(TransportConformance.checks.map(\.name))

            #expect(names.count == TransportConformance.checks.count)
            #expect(Set(Self.faultsOfURLSession.keys).subtracting(names) == [])
            #expect(Set(Self.faultsOfTheProcess.keys).subtracting(names) == [])
            #expect(Set(Self.faultsThatEndTheProcess.keys).subtracting(names) == [])
        }

        private static func faults(of transport: TransportUnderTest) -> Faults {
            #if os(Linux)
            if transport == .standard { return [:] }
            let sharesProcess = transport == .sharedSession
            #else
            let sharesProcess = transport == .sharedSession || transport == .standard
            #endif
            return sharesProcess ? faultsOfURLSession.merging(faultsOfTheProcess) { $1 } : faultsOfURLSession
        }

        /// The process shares cookies, credentials, connections and a cache, which on Linux caches nothing.
        private static let faultsOfTheProcess: Faults = {
            var faults: Faults = ["cookies aren't stored": "the cookies of the process are its own"]
            #if !os(Linux)
            faults["responses aren't cached"] = "the cache of the process is its own"
            #endif
            return faults
        }()

        /// The checks that aren't run, since they would end the process.
        private static let faultsThatEndTheProcess: Faults = {
            #if canImport(FoundationNetworking)
            [
                "trailers don't affect the content": "trailers are a fatalError of Foundation",
                "cancelling before the first event ends the transfer":
                    "a file that Foundation still reads for a cancelled transfer is a fatalError",
                "a connection closed in the head is an error": "it is a fatalError of Foundation",
            ]
            #else
            [:]
            #endif
        }()

        /// The faults that the documentation of `URLSessionTransport` lists as unfixable.
        private static let faultsOfURLSession: Faults = {
            #if canImport(FoundationNetworking)
            [
                "a hostile Location does no harm": "a field without a value is an error",
                "a redirect without a usable Location keeps its content": "its content is dropped",
                "a slow head doesn't time out while bytes arrive":
                    "a session tells nothing of a head before it is whole",
                "a response that isn't HTTP is an error":
                    "a status that isn't a number is taken for an address that isn't one",
            ]
            #else
            [
                "a slow head doesn't time out while bytes arrive":
                    "a session tells nothing of a head before it is whole",
                "failures aren't retried": "a session retries a request over a new connection",
                "a connection closed before the first byte is an error": "a session retries it over a new connection",
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
        return session ?? HTTPClient.defaultTransport
    }
}
