// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct RetryPolicyTests {
    private func failure(
        _ code: RequestError.Code = .unacceptableStatus,
        status: HTTPStatus? = nil,
        headers: HTTPHeaders = [],
        method: HTTPMethod = .get,
        body: HTTPBody = .none
    ) -> RequestError {
        RequestError(
            code,
            phase: .validating,
            request: HTTPRequest(url: server, method: method, body: body),
            response: status.map { HTTPResponseHead(status: $0, headers: headers) }
        )
    }

    private func delay(_ error: RequestError, by policy: RetryPolicy = .default, attempt: Int = 1) -> Duration? {
        let now = Date(timeIntervalSince1970: 784_111_777)
        guard case .retry(let wait) = policy.decision(about: error, attempt: attempt, now: now, random: .init { 0 })
        else { return nil }
        return wait
    }

    @Test(arguments: [
        (408, true), (425, true), (429, true), (500, true), (502, true), (503, true), (504, true), (400, false),
        (401, false), (403, false), (404, false), (407, false), (409, false), (412, false), (423, false), (501, false),
        (505, false), (599, false), (301, false), (200, false),
    ]) func retriesOnlyTransientStatuses(status: Int, isRetried: Bool) {
        #expect((delay(failure(status: HTTPStatus(status))) != nil) == isRetried)
    }

    @Test(
        arguments: [
            (.timedOut, true), (.cannotConnect, true), (.connectionLost, true), (.offline, true), (.cancelled, false),
            (.deadlineExceeded, false), (.untrusted, false), (.badResponse, false), (.bodyTooLarge, false),
            (.decoding, false), (.tooManyRedirects, false), (.badRedirect, false), (.redirectRefused, false),
            (.invalidRequest, false), (.encoding, false), (.unsupported, false), (.bodyNotReplayable, false),
            (.dependencyFailed, false), (.emptyResponse, false), (.unexpectedBody, false), (.notModified, false),
            (.unacceptableContentType, false), (.rejected, false), (.closed, false), (.conditionFailed, false),
            (.retryLimitReached, false), (.dependencyCycle, false), (.other, false),
        ] as [(RequestError.Code, Bool)]
    ) func retriesOnlyNetworkErrors(code: RequestError.Code, isRetried: Bool) {
        #expect((delay(failure(code)) != nil) == isRetried)
    }

    @Test(arguments: RetryPolicy.transientErrors)
    func transientErrorsAreConnectivityErrors(code: RequestError.Code) {
        #expect(RequestError(code, phase: .receiving).isConnectivityError)
    }

    @Test(arguments: [
        (HTTPMethod.get, true), (.head, true), (.put, true), (.delete, true), (.options, true), (.trace, true),
        (.post, false), (.patch, false), (.connect, false), ("PURGE", false),
    ]) func retriesOnlyIdempotentMethodsByDefault(method: HTTPMethod, isRetried: Bool) {
        let error = failure(status: 503, method: method)

        #expect((delay(error) != nil) == isRetried)
        #expect(delay(error, by: RetryPolicy(methods: nil)) != nil)
    }

    @Test func retriesAnyMethodWithIdempotencyKey() {
        var request = HTTPRequest(url: home)
        request.method = .post
        request.headers.set(.idempotencyKey("one"))
        let error = RequestError(.connectionLost, phase: .sending, request: request)

        #expect(delay(error) != nil)
        request.body = .stream(HTTPBody.Stream(InputStream(data: Data("once".utf8))), type: nil)
        #expect(delay(RequestError(.connectionLost, phase: .sending, request: request)) == nil)
    }

    @Test func nonreplayableBodyIsNotRetried() {
        let stream = HTTPBody.stream(HTTPBody.Stream(InputStream(data: Data("once".utf8))), type: nil)

        #expect(delay(failure(status: 503, method: .put, body: stream)) == nil)
        #expect(delay(failure(status: 503, method: .put, body: .text("again"))) != nil)
    }

    @Test func limitCountsRetries() {
        let policy = RetryPolicy(limit: 2)

        #expect(delay(failure(status: 503), by: policy, attempt: 2) != nil)
        #expect(delay(failure(status: 503), by: policy, attempt: 3) == nil)
        #expect(delay(failure(status: 503), by: .never) == nil)
        #expect(RetryPolicy(limit: -3).limit == 0)
        #expect(Get<Data>("a").retry(limit: -1).options.retry == RetryPolicy(limit: 0))
    }

    @Test(
        arguments: [
            ("7", .seconds(7)), ("0", .zero), ("60", .seconds(60)), ("61", nil), ("99999999999999999999", nil),
            ("Sun, 06 Nov 1994 08:49:38 GMT", .seconds(1)), ("Sun, 06 Nov 1994 08:49:00 GMT", .zero),
            ("Sun, 06 Nov 1994 09:49:38 GMT", nil), ("soon", .zero), ("-1", .zero),
        ] as [(String, Duration?)]
    ) func delayRespectsRetryAfter(value: String, expected: Duration?) {
        for status: HTTPStatus in [429, 503] {
            #expect(delay(failure(status: status, headers: [.retryAfter: value])) == expected)
        }
    }

    @Test func longerOfBackoffAndRetryAfterWins() {
        let policy = RetryPolicy(backoff: .constant(.seconds(9)).jitter(.none))

        #expect(delay(failure(status: 429, headers: [.retryAfter: "7"]), by: policy) == .seconds(9))
        #expect(delay(failure(status: 429, headers: [.retryAfter: "12"]), by: policy) == .seconds(12))
    }
}
