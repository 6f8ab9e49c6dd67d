// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// After redirects, whether to retry is decided for the request that would be resent.
@Suite(.bounded) struct RetryAfterRedirectTests {
    enum Failure: CaseIterable, Sendable {
        case busy
        case lost
    }

    /// Returns a server that redirects `/pay`, and fails once or always at `/receipt`, the target of all redirects.
    private func server(_ status: HTTPStatus, _ failure: Failure, _ sent: Recorder<String>) -> InMemoryTransport {
        InMemoryTransport { request in
            sent.record("\(request.method) \(request.url.path)")
            guard request.url.path == "/receipt" else {
                return .status(status, headers: [.location: "/receipt"])
            }
            switch failure {
            case .busy: return .status(.serviceUnavailable)
            case .lost: return .failure(RequestError(.connectionLost, phase: .receiving))
            }
        }
    }

    private func queue(_ transport: InMemoryTransport) -> TestQueue {
        TestQueue(transport) { $0.retry = RetryPolicy(limit: 1, backoff: .none) }
    }

    private func request(_ method: HTTPMethod, _ body: HTTPBody = .text("100 €")) -> HTTPRequest {
        HTTPRequest(url: home.deletingLastPathComponent().appending(path: "/pay"), method: method, body: body)
    }

    private let atPay = URL(string: "https://example.com/pay")!

    @Test(arguments: [HTTPMethod.post, .patch], [HTTPStatus.movedPermanently, .found, .seeOther])
    func unsafeRequestIsNotRepeatedAfterRedirect(method: HTTPMethod, status: HTTPStatus) async {
        for failure in Failure.allCases {
            let sent = Recorder<String>()
            let operation = queue(server(status, failure, sent))
                .addRequest(HTTPRequest(url: atPay, method: method, body: .text("100 €")))
            await operation.end()

            #expect(sent.elements.filter { $0 == "\(method) /pay" }.count == 1, "\(failure)")
            let error = operation.result?.error as? RequestError
            #expect(error?.code == (failure == .busy ? .unacceptableStatus : .connectionLost))
            #expect(error?.request?.url.path == "/receipt")
        }
    }

    @Test(arguments: Failure.allCases) func idempotencyKeyAllowsRetryAfterRedirect(failure: Failure) async {
        let sent = Recorder<String>()
        let request = HTTPRequest(
            url: atPay,
            method: .post,
            headers: [.idempotencyKey: "1"],
            body: .text("100 €")
        )
        await queue(server(.seeOther, failure, sent)).addRequest(request).end()

        #expect(sent.elements == ["POST /pay", "GET /receipt", "POST /pay", "GET /receipt"])
    }

    @Test(arguments: [HTTPStatus.temporaryRedirect, .permanentRedirect])
    func retryAfter307Or308DependsOnMethod(status: HTTPStatus) async {
        for (method, isRetried) in [(HTTPMethod.put, true), (.post, false)] {
            let sent = Recorder<String>()
            await queue(server(status, .busy, sent))
                .addRequest(HTTPRequest(url: atPay, method: method, body: .text("100 €"))).end()

            let once = ["\(method) /pay", "\(method) /receipt"]
            #expect(sent.elements == (isRetried ? once + once : once))
        }
    }

    @Test func oneShotStreamKeepsOriginalFailure() async {
        let sent = Recorder<String>()
        let stream = HTTPBody.Stream(InputStream(data: Data("once".utf8)))
        let operation = queue(server(.seeOther, .busy, sent))
            .addRequest(HTTPRequest(url: atPay, method: .put, body: .stream(stream)))
        await operation.end()

        let error = operation.result?.error as? RequestError
        #expect(error?.code == .unacceptableStatus && error?.response?.status == .serviceUnavailable)
        #expect((error?.underlying as? RequestError)?.code == .bodyNotReplayable)
        #expect(sent.elements.filter { $0.hasSuffix("/pay") }.count == 1)
    }

    /// A scoped interceptor handles the challenge too.
    @Test(arguments: [false, true])
    func refreshResendsOnlyRedirectTarget(isLimited: Bool) async {
        let (sent, refreshes) = (Recorder<String>(), Recorder<String?>())
        let transport = InMemoryTransport { request in
            let token = request.headers[.authorization] ?? "none"
            sent.record("\(request.method) \(request.url.path) \(token)")
            if request.url.path == "/pay" { return .status(.seeOther, headers: [.location: "/receipt"]) }
            return token == "Bearer new" ? .status(.ok, body: Data("paid".utf8)) : .status(.unauthorized)
        }
        let authenticator = TokenAuthenticator { token in
            refreshes.record(token)
            return "new"
        }
        let interceptor = AuthenticationInterceptor(authenticator, credential: "old", origins: sampleOrigins)
        let queue = TestQueue(transport) {
            $0.baseURL = URL(string: "https://example.com")
            $0.interceptors = isLimited ? [interceptor.scoped { _ in true }] : [interceptor]
        }
        let operation = queue.addRequest(HTTPRequest("pay").method(.post).body(.text("100 €")))
        await operation.end()

        #expect(
            sent.elements == ["POST /pay Bearer old", "GET /receipt Bearer old", "GET /receipt Bearer new"]
        )
        #expect(refreshes.elements == ["old"])
        #expect((try? operation.result?.get()) != nil)
    }

    @Test func failedChallengeRetryDoesNotRepeatPost() async {
        let sent = Recorder<String>()
        let transport = InMemoryTransport { request in
            sent.record("\(request.method) \(request.url.path)")
            if request.url.path == "/pay" { return .status(.seeOther, headers: [.location: "/receipt"]) }
            return request.headers[.authorization] == "Bearer new"
                ? .failure(RequestError(.cannotConnect, phase: .sending)) : .status(.unauthorized)
        }
        let queue = TestQueue(transport) {
            $0.baseURL = URL(string: "https://example.com")
            $0.interceptors = [
                AuthenticationInterceptor(TokenAuthenticator { _ in "new" }, credential: "old", origins: sampleOrigins)
            ]
            $0.retry = RetryPolicy(limit: 3, backoff: .none)
        }
        await queue.addRequest(HTTPRequest("pay").method(.post).body(.text("100 €"))).end()

        #expect(sent.elements == ["POST /pay", "GET /receipt", "GET /receipt"])
    }

    @Test func unconnectedPostIsRetried() async {
        let sent = Recorder<String>()
        let transport = InMemoryTransport { request in
            sent.record(request.method.rawValue)
            return sent.count == 1
                ? .failure(RequestError(.cannotConnect, phase: .sending)) : .status(.ok)
        }
        await queue(transport).addRequest(HTTPRequest(url: atPay, method: .post)).end()

        #expect(sent.elements == ["POST", "POST"])
    }
}
