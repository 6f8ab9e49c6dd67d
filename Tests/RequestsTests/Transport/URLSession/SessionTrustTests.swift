// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct SessionTrustTests {
    private func request(_ url: String, trust: TrustPolicy) throws -> TransportRequest {
        TransportRequest(HTTPRequest(url: try #require(URL(string: url))), trust: trust)
    }

    private func error(_ events: [TransferEvent]) -> RequestError? {
        guard case .end(let error) = events.last else { return nil }
        return error
    }

    @Test(arguments: [TrustFailure.wrongPin, .expired, .unknownAuthority, .clientCertificateRequired, .handshakeFailed])
    func trustFailureIsReportedAsReason(trustFailure: TrustFailure) {
        var state = SessionTransferState()

        let isStopped = state.stop(.untrusted(trustFailure))
        // A session reports a cancel in any case.
        let events = state.complete(URLError(.cancelled), head: nil)

        #expect(isStopped && events.count == 1)
        #expect(error(events)?.code == .untrusted)
        #expect(error(events)?.reason == trustFailure.reason)
        #expect((error(events)?.underlying as? URLError)?.code == trustFailure.urlCode)
    }

    @Test func untrustedResponseIsNotDelivered() throws {
        var state = SessionTransferState()
        let head = HTTPResponseHead(status: .ok, headers: [])

        _ = state.stop(.untrusted(.unchecked))
        let events = [state.receive(head), state.receive(Data([1]))]
        let end = state.complete(nil, head: head)

        #expect(events.allSatisfy { $0 == nil })
        #expect(error(end)?.code == .untrusted)
    }

    @Test func rulesApplyOnlyToTLS() throws {
        let policy = TrustPolicy.system.requiring(.tls13)

        #expect(try request("http://example.com", trust: policy).hostWithRules() == nil)
        #expect(try request("https://example.com", trust: .system).hostWithRules() == nil)
        #expect(try request("https://example.com", trust: policy).hostWithRules() == "example.com")
    }

    @Test func hostWithUnknownRulesIsRejected() throws {
        let request = try request("https://b%C3%BCcher.example/", trust: .system.requiring(.tls13))

        let error = #expect(throws: RequestError.self) { try request.hostWithRules() }
        #expect(error?.code == .unsupported)
    }

    @Test func identityIsNotSentAfterCrossOriginRedirect() throws {
        let identity = try TrustPolicy.ClientIdentity(pem: CertificateSample.ec.pem + CertificateSample.ecKey)
        var request = try request("https://example.com/", trust: .system.presenting(identity))

        #expect(request.hostTrust(for: "example.com")?.identity == identity)
        request.hasLeftOrigin = true
        #expect(request.hostTrust(for: "example.com")?.identity == nil)
    }
}
