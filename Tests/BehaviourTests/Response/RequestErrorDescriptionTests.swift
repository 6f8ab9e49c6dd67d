// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The output of `print(error)` for failures of operations.
@Suite(.bounded) struct RequestErrorDescriptionTests {
    private struct Todo: Decodable, Sendable {
        struct Owner: Decodable, Sendable {
            let id: Int
        }
        let title: String
        let owners: [Owner]
    }

    private func description(
        of request: some NetworkRequest,
        over response: StubResponse,
        _ configure: (inout RequestEnvironment) -> Void = { _ in }
    ) async -> String {
        let queue = TestQueue(InMemoryTransport { _ in response }, configure)
        return await Probe(request, on: queue).run(on: queue).ended().first?.error.map { "\($0)" } ?? "no error"
    }

    private let todo = HTTPRequest(url: home).decoding(.json(Todo.self))

    @Test(arguments: [
        (#"{"title": 1, "owners": []}"#, "expected String at “title”, found a number"),
        (#"{"title": {"a": "s3cret"}, "owners": []}"#, "expected String at “title”, found an object"),
        (#"{"title": "a", "owners": true}"#, "expected Array<Any> at “owners”, found a Boolean value"),
        (#"{"title": null, "owners": []}"#, "expected String at “title”, found null"),
        (#"{"owners": []}"#, "the key “title” is missing"),
        (#"{"title": "a", "owners": [{"id": 1}, {"id": "x"}]}"#, "expected Int at “owners[1].id”, found a string"),
        (#"{"title": "a", "owners": [{}]}"#, "the key “id” is missing at “owners[0]”"),
        ("<html>", "the content is malformed"),
    ]) func decodingErrorNamesPathTypeAndContentType(json: String, reason: String) async {
        let response = StubResponse.status(.ok, headers: [.contentType: "text/html"], body: Data(json.utf8))

        #expect(
            await description(of: todo, over: response)
                == "decoding (200 OK) for GET https://example.com/recipes/1: "
                + "can't decode Todo; \(reason); content type text/html"
        )
    }

    @Test(arguments: [
        ([201], "the request accepts only 201"), ([301, 302, 303, 304, 307, 308], "only 301, 302, 303, 304, 307, …"),
    ]) func unacceptableSuccessStatusNamesReason(accepted: [Int], reason: String) async {
        let text = await description(of: TextRequest(validHTTPStatusCodes: accepted), over: .json("{}"))

        #expect(text.hasPrefix("unacceptableStatus (200 OK) while validating for GET "))
        #expect(text.hasSuffix(reason))
    }

    @Test func timeoutErrorNamesLimit() async {
        let timeout = StubResponse.failure(RequestError(.timedOut, phase: .sending))

        #expect(
            await description(of: todo.timeout(.seconds(3)), over: timeout)
                == "timedOut while sending for GET https://example.com/recipes/1: no data for 3.0 seconds"
        )
        #expect(await description(of: todo, over: timeout) { $0.timeout = .seconds(5) }.hasSuffix("for 5.0 seconds"))
        #expect(await description(of: todo, over: timeout).hasSuffix("timeout (60 seconds by default)"))
    }

    @Test func deadlineErrorNamesLimit() async {
        let client = HTTPClient(transport: InMemoryTransport { _ in .never })

        let error = await Probe(adding: todo.deadline(.milliseconds(1)), to: client).ended().first?.error

        #expect(error?.description.contains("the deadline of 0.001 seconds has passed") == true)
    }

    /// Errors of the library, which include their reason in every context.
    private static let own: [any Error & CustomStringConvertible] = [
        InvalidValue(.pin, "isn't in Base64", excerpt: "x"), InvalidValue(.url, "is missing"),
        FileError(.damaged, URL(filePath: "/a/jar"), "it has no beginning"),
        InvalidValue(.cookie, "is too long", excerpt: "a"),
        FileError(.diskFull, URL(filePath: "/a/film"), "No space left"),
    ]

    @Test func libraryErrorIsQuotedWithReason() throws {
        let directory = #expect(throws: FileError.self) {
            try ResponseCache(directory: URL(string: "https://example.com/")!)
        }

        for error in Self.own + [try #require(directory)] {
            let outer = RequestError(.conditionFailed, phase: .building, underlying: error)

            #expect("\(outer)".hasSuffix(": \(error)") && error.localizedDescription == "\(error)")
        }
    }

    @Test func missingStubErrorNamesRequest() async {
        let client = HTTPClient(transport: HTTPStubber())

        let error = await Probe(adding: todo, to: client).ended().first?.error

        #expect(error?.description.contains("no stub matches GET https://example.com/recipes/1") == true)
    }

    private enum Refusal: Error {
        case notYet, tooLate
        case spent(String)
    }
    private struct Spill: Error { let secret = "s3cret" }
    private enum Chatty: Error, CustomStringConvertible {
        case one

        var description: String { "s3cret" }
    }

    private enum Payment: Error, CustomNSError { case due, refused }
    private enum Fault: Error, CustomNSError, CustomStringConvertible {
        case first, second

        var description: String { "s3cret" }
    }
    private enum Reply: Int, CustomNSError {
        case missing = 404

        static var errorDomain: String { "Kitchen" }
    }
    private enum Answer: CustomNSError {
        case server(Int)

        var errorCode: Int {
            switch self {
            case .server(let code): code
            }
        }
    }
    private struct Plain: CustomNSError {}
    private struct Coded: CustomNSError {
        var errorCode = 1
    }
    private struct Foreign: CustomNSError {
        static let errorDomain = "Kitchen"
    }

    /// An error that doesn't define a domain and a code has its type as the domain, and a meaningless code.
    @Test(
        arguments: [
            (Payment.refused, "Payment.refused"), (Fault.first, "Fault 0"), (Reply.missing, "Reply.missing 404"),
            (Answer.server(500), "Answer.server 500"), (Plain(), "Plain"), (Coded(errorCode: 7), "Coded 7"),
            (Foreign(), "Foreign 1"),
            (NSError(domain: "Recipes.APIError", code: 1), "Recipes.APIError"),
            (NSError(domain: "Recipes.APIError", code: 2), "Recipes.APIError 2"),
            (NSError(domain: "com.example.Kitchen", code: 1), "com.example.Kitchen 1"),
            (NSError(domain: "Kitchen", code: 1), "Kitchen 1"),
        ] as [(any Error, String)]
    ) func meaningfulErrorCodeIsIncluded(error: any Error, text: String) {
        #expect("\(RequestError(error))".hasSuffix(": \(text)"))
    }

    @Test func foreignErrorIsNamedByTypeAndCase() async {
        let refusing = todo.validating { _ in throw Refusal.tooLate }

        #expect(
            await description(of: refusing, over: .json("{}"))
                == "rejected (200 OK) while validating for GET https://example.com/recipes/1: Refusal.tooLate"
        )
        #expect("\(RequestError(Refusal.spent("s3cret")))".hasSuffix(": Refusal.spent"))
        #expect("\(RequestError(Spill()))".hasSuffix(": Spill") && "\(RequestError(Chatty.one))".hasSuffix(": Chatty"))
        #expect("\(RequestError(URLError(.badServerResponse)))".hasSuffix(": URLError -1011"))
        #expect("\(RequestError(NSError(domain: "Kitchen", code: 7)))".hasSuffix(": Kitchen 7"))
    }

    @Test func underlyingErrorIsDescribed() {
        let refresh = RequestError(
            .unacceptableStatus,
            phase: .validating,
            request: HTTPRequest(url: server),
            response: HTTPResponseHead(status: .badRequest)
        )

        #expect(
            "\(RequestError(.authenticationFailed, phase: .building, underlying: refresh))"
                == "authenticationFailed while building: caused by unacceptableStatus (400 Bad Request) while validating "
                + "for GET https://api.example.com/v1"
        )
    }

    @Test func fileErrorNamesFile() {
        let error = FileError(.cannotWriteFile, URL(filePath: "/home/ada/film.mov"), "Permission denied")

        #expect(
            "\(RequestError(error))"
                == "cannotWriteFile while receiving: the file “film.mov” can't be written: Permission denied"
        )
    }

    @Test func conditionErrorFailsRequest() async {
        let offline = todo.condition(.condition { _ in throw RequestError(.offline, phase: .building) })
        let refused = todo.condition(.condition { _ in throw Refusal.notYet })

        #expect(await description(of: offline, over: .json("{}")) == "offline while building")
        #expect(await description(of: refused, over: .json("{}")) == "conditionFailed while building: Refusal.notYet")
    }

    @Test func failedRequestInConditionIsCause() async {
        let login = todo.condition(.condition { try await _ = $0.send(HTTPRequest(url: server)) })

        let text = await description(of: login, over: .status(.forbidden))

        #expect(text.hasPrefix("conditionFailed while building: caused by unacceptableStatus (403 Forbidden)"))
    }

    @Test func dumpOmitsContent() {
        let underlying = URLError(.timedOut, userInfo: ["NSErrorFailingURLStringKey": "https://a/?token=s3cret"])
        let error = RequestError(
            .decoding,
            phase: .decoding,
            body: Data("s3cret".utf8),
            underlying: underlying
        )
        var text = ""
        dump(error, to: &text)

        #expect(!text.contains("s3cret") && !text.contains("115"))
        #expect(text.contains("decoding"))
    }
}
