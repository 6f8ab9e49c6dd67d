// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct ValidatorTests {
    private func response(
        _ status: HTTPStatus = .ok,
        _ body: String = "{}",
        type: String? = "application/json"
    ) -> HTTPResponse<Data> {
        let headers: HTTPHeaders = type.map { [.contentType: $0] } ?? []
        return HTTPResponse(head: HTTPResponseHead(status: status, headers: headers), body: Data(body.utf8))
    }

    private func context(_ method: HTTPMethod = .get, accept: String? = nil) -> ValidationContext {
        let headers: HTTPHeaders = accept.map { [.accept: $0] } ?? []
        return ValidationContext(request: HTTPRequest(url: server, method: method, headers: headers))
    }

    private func code(_ verdict: ValidationResult) -> RequestError.Code? {
        if case .fail(let error as RequestError) = verdict { error.code } else { nil }
    }

    @Test(arguments: [
        ("application/json", "application/json", true), ("application/json", "application/json; charset=utf-8", true),
        ("application/json", "Application/JSON", true), ("application/json", "text/html", false),
        ("text/*", "text/html", true), ("text/*", "image/png", false), ("*/*", "image/png", true),
        ("text/html, application/json;q=0.9", "application/json", true), ("text/html,*/*;q=0.1", "x/y", true),
        ("application/json", nil, false), ("*/*", nil, true), (nil, "image/png", true), (nil, nil, true),
        ("application/json", "rubbish", false), ("rubbish", "image/png", true),
        ("application/json; charset=utf-8", "application/json", true),
        ("application/json; charset=utf-8", "application/json; charset=UTF-8", true),
        ("application/json; charset=utf-8", "application/json; charset=latin1", false),
        ("text/html;q=0, */*", "text/html", false), ("text/html;q=0, */*", "image/png", true),
        ("text/*;q=0, text/html", "text/html", true), ("*/*;q=0", "text/html", false),
        ("text/html; level=1;q=0, text/html", "text/html; level=2", true),
        ("text/html;q=0.0", "text/html", false),
        (#"application/ld+json;profile="a, b""#, "text/html", false),
        (#"application/ld+json;profile="a, b""#, "application/ld+json", true),
    ]) func contentTypeMustBeAcceptable(accept: String?, type: String?, isAccepted: Bool) {
        let verdict = ContentTypeValidator().validate(response(type: type), context: context(accept: accept))

        #expect((code(verdict) == .unacceptableContentType) == !isAccepted)
    }

    @Test func emptyTypeListAcceptsNothing() {
        let verdict = ContentTypeValidator([]).validate(response(), context: context())

        #expect(code(verdict) == .unacceptableContentType)
    }

    @Test func emptyAndErrorResponsesNeedNoContentType() {
        let context = context(accept: "application/json")

        for response in [response(.noContent, "", type: nil), response(.notFound, "<html>", type: "text/html")] {
            guard case .accept = ContentTypeValidator().validate(response, context: context) else {
                Issue.record("\(response) isn't accepted")
                continue
            }
        }
        #expect(code(ContentTypeValidator([.png]).validate(response(), context: context)) == .unacceptableContentType)
    }

    @Test(arguments: [
        (200, HTTPMethod.get, false), (204, .get, true), (205, .get, true), (304, .get, true), (200, .head, true),
        (202, .post, true), (201, .post, false), (500, .get, true),
    ]) func contentIsRequiredUnlessStatusAllowsNone(status: Int, method: HTTPMethod, isAccepted: Bool) throws {
        let validator = ClosureValidator.content(allowingNoneWith: [.accepted])
        let verdict = try validator.validate(response(HTTPStatus(status), ""), context: context(method))

        #expect((code(verdict) == .emptyResponse) == !isAccepted)
        guard case .accept = try validator.validate(response(), context: context()) else {
            Issue.record("content isn't accepted")
            return
        }
    }

    @Test func requestDefinesValidStatuses() {
        let conditional = ValidationContext(request: HTTPRequest(url: server, headers: [.ifNoneMatch: "\"a\""]))

        func refuses(_ status: HTTPStatus, _ context: ValidationContext) -> Bool {
            let validator = ClosureValidator.statusCodes
            do { _ = try validator.validate(response(status), context: context) } catch {
                return (error as? RequestError)?.code == .unacceptableStatus
            }
            return false
        }

        #expect(refuses(.notFound, context()) && refuses(.notModified, context()))
        #expect(!refuses(.notModified, conditional) && !refuses(299, context()))
        let any = ValidationContext(request: HTTPRequest(url: server), validStatusCodes: nil)
        #expect(!refuses(500, any))
    }
}
