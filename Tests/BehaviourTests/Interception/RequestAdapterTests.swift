// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct RequestAdapterTests {
    @Test func adapterChangesRequest() async throws {
        let sent = try await TestQueue.sent(WireRequest()) {
            $0.interceptors = [.adapting { $0.headers["X-Request-ID"] = "1" }]
        }

        #expect(sent.headers["X-Request-ID"] == "1")
    }

    @Test func adapterReceivesContext() async throws {
        let sent = try await TestQueue.sent(WireRequest(identifier: "soup")) {
            $0.interceptors = [
                ClosureInterceptor { request, context in
                    request.headers["X-Trace"] = "\(context.identifier) \(context.attempt) \(context.baseURL == server)"
                }
            ]
        }

        #expect(sent.headers["X-Trace"] == "soup 1 true")
    }

    @Test(arguments: [("users", true), ("https://evil.com/", false)])
    func signsOnlyRequestsToBaseURLOrigin(address: String, isSigned: Bool) async throws {
        let sent = try await TestQueue.sent(WireRequest(http: HTTPRequest("\(raw: address)"))) {
            $0.interceptors = [.signing { $0.headers["X-Signature"] = "s of \($0.url.path)" }]
        }

        #expect(sent.headers["X-Signature"] == (isSigned ? "s of /v1/users" : nil))
    }

    @Test func signatureIsDroppedOnCrossOriginRedirect() async {
        let transport = InMemoryTransport { request in
            request.url == home ? .status(.found, headers: [.location: "https://evil.com/"]) : .status(.ok)
        }
        let queue = TestQueue(transport) {
            $0.interceptors = [.signing { $0.headers["X-Signature"] = "s" }, .adapting { $0.headers["X-ID"] = "1" }]
        }

        _ = await Probe(adding: WireRequest(), to: queue).ended()

        #expect(transport.requests.map { $0.headers.contains("X-Signature") } == [true, false])
        #expect(transport.requests.map { $0.headers["X-ID"] } == ["1", nil])
    }

    @Test func closureErrorFailsRequest() async {
        let queue = TestQueue { $0.interceptors = [.signing { _ in throw SampleError() }] }

        let error = await Probe(adding: WireRequest(), to: queue).ended().first?.error

        #expect(error?.underlying as? SampleError == SampleError())
    }
}
