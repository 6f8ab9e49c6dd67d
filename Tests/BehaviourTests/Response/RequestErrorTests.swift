// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

/// An error of another library whose description contains a secret.
private struct HushedError: LocalizedError, CustomStringConvertible {
    var description: String { "hush" }
    var errorDescription: String? { "hush" }
}

@Suite(.bounded) struct RequestErrorTests {
    @Test func descriptionIsOneLineSummary() {
        let error = RequestError(
            .unacceptableStatus,
            phase: .validating,
            request: HTTPRequest(url: home),
            response: HTTPResponseHead(status: .notFound)
        )

        #expect(
            error.description
                == "unacceptableStatus (404 Not Found) while validating for GET https://example.com/recipes/1"
        )
        #expect(error.shortDescription == "unacceptableStatus")
        #expect(error.localizedDescription == error.description)
    }

    @Test func descriptionsRedactSecrets() throws {
        let url = try #require(URL(string: "https://user:hush@example.com/a?token=hush#hush"))
        let request = HTTPRequest(
            url: url,
            headers: [.authorization: "hush", .cookie: "hush"],
            body: .data(Data("hush".utf8))
        )
        let head = HTTPResponseHead(status: .unauthorized, headers: [.setCookie: "hush"], url: url)
        let cause = RequestError(.decoding, phase: .decoding, request: request, underlying: HushedError())
        let error = RequestError(
            .dependencyFailed,
            phase: .sending,
            request: request,
            response: head,
            body: Data("hush".utf8),
            transfers: [TransferRecord(cause: .initial, request: request, response: head)],
            underlying: cause
        )

        let texts = [
            error.description, error.shortDescription, error.localizedDescription, "\(error)", "\(request)",
            String(reflecting: error), "\(Result<Int, RequestError>.failure(error))", "\(request.headers)",
        ]
        for text in texts { #expect(!text.contains("hush")) }
    }

    @Test func knownErrorsMapToCodes() {
        let errors: [(any Error, RequestError.Code)] = [
            (RequestError(.offline, phase: .sending), .offline), (URLError(.timedOut), .timedOut),
            (InvalidValue(.url, "is missing"), .invalidRequest),
            (DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "")), .decoding),
            (CancellationError(), .cancelled), (SampleError(), .other),
        ]
        for (error, code) in errors { #expect(RequestError(error).code == code) }
    }

    @Test(arguments: [
        (URLError.Code.cancelled, RequestError.Code.cancelled), (.notConnectedToInternet, .offline),
        (.cannotFindHost, .cannotConnect), (.cannotConnectToHost, .cannotConnect), (.dnsLookupFailed, .cannotConnect),
        (.networkConnectionLost, .connectionLost), (.cannotParseResponse, .badResponse),
        (.serverCertificateUntrusted, .untrusted), (.badURL, .invalidRequest),
    ]) func urlErrorCodesAreMapped(foundation: URLError.Code, code: RequestError.Code) {
        #expect(RequestError(URLError(foundation)).code == code)
        #expect(RequestError(URLError(foundation)).underlying is URLError)
    }

    static let kinds: [(RequestError, connectivity: Bool, authorization: Bool)] = {
        func error(
            _ code: RequestError.Code,
            _ status: HTTPStatus? = nil,
            _ cause: RequestError? = nil
        ) -> RequestError {
            let response = status.map { HTTPResponseHead(status: $0) }
            return RequestError(code, phase: .validating, response: response, underlying: cause)
        }
        return [
            (error(.offline), true, false), (error(.cannotConnect), true, false), (error(.timedOut), true, false),
            (error(.connectionLost), true, false), (error(.untrusted), false, false),
            (error(.badResponse), false, false), (error(.cancelled), false, false),
            (error(.conditionFailed, nil, error(.offline)), true, false), (error(.conditionFailed), false, false),
            (error(.unacceptableStatus, .unauthorized), false, true),
            (error(.unacceptableStatus, .forbidden), false, false), (error(.rejected, .unauthorized), false, true),
            (error(.authenticationFailed), false, true),
            (error(.authenticationFailed, .unauthorized, error(.connectionLost)), true, false),
            (error(.authenticationFailed, nil, error(.unacceptableStatus, .unauthorized)), false, true),
            (error(.authenticationFailed, nil, error(.unacceptableStatus, .forbidden)), false, false),
            (error(.authenticationFailed, nil, error(.unacceptableStatus, .serviceUnavailable)), false, false),
            (error(.authenticationFailed, nil, error(.unacceptableStatus, .tooManyRequests)), false, false),
            (error(.authenticationFailed, nil, error(.decoding, .ok)), false, false),
            (error(.dependencyFailed, nil, error(.authenticationFailed)), false, true),
            (error(.dependencyFailed, nil, error(.timedOut)), true, false),
        ]
    }()

    @Test(arguments: kinds) func connectivityAndAuthorizationErrorsAreFlagged(
        error: RequestError,
        isConnectivityError: Bool,
        isNotAuthorized: Bool
    ) {
        #expect(error.isConnectivityError == isConnectivityError)
        #expect(error.isNotAuthorized == isNotAuthorized)
    }
}
