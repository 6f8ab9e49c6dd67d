// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The value of a response: by status, by content, by the kind of request.
@Suite(.bounded) struct ResponseTests {
    struct Deletion: NoContentRequest {
        typealias Failure = RequestError
        var identifier = "deletion"
        var shouldEnforceNoContent = true
        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
    }

    @Test(
        arguments: [
            (true, "", nil), (true, "x", RequestError.Code.unexpectedBody), (false, "", nil), (false, "x", nil),
        ] as [(Bool, String, RequestError.Code?)]
    )
    func noContentRequestFailsOnUnexpectedBody(enforces: Bool, body: String, code: RequestError.Code?) async throws {
        for status in [HTTPStatus.ok, .noContent] {
            let transport = ManualTransport()
            let queue = TestQueue(transport)
            let probe = Probe(Deletion(shouldEnforceNoContent: enforces), on: queue).run(on: queue)
            let transfer = try await transport.awaitTransfer()
            transfer.receive(.head(HTTPResponseHead(status: status)))
            if !body.isEmpty { transfer.receive(.data(Data(body.utf8))) }
            transfer.receive(.end(nil))

            let results = await probe.ended()

            #expect(results.count == 1)
            #expect(results.first?.error?.code == code)
        }
    }

    /// A client that didn't request a range would take the part for the complete content.
    @Test(
        arguments: [
            (.get, [], RequestError.Code.badResponse), (.get, [.range: "bytes=0-1"], nil), (.post, [], nil),
        ] as [(HTTPMethod, HTTPHeaders, RequestError.Code?)]
    )
    func unrequestedPartialContentIsRejected(
        _ method: HTTPMethod,
        _ headers: HTTPHeaders,
        _ code: RequestError.Code?
    ) async throws {
        let transport = InMemoryTransport { _ in
            .text("a part", status: .partialContent, headers: [.contentRange: "bytes 0-5/600"])
        }
        let client = HTTPClient(transport: transport)
        let request = HTTPRequest(url: home, method: method, headers: headers)

        do {
            let response = try await client.send(request)
            #expect(code == nil && response.status == .partialContent)
        } catch {
            #expect(error.code == code, "\(error)")
        }
    }

    struct Recipe: Decodable, Equatable, Sendable {
        let cookingTime: Double
        let madeOn: Date
        let picture: Data
    }

    struct RecipeRequest: DecodableRequest {
        typealias Success = Recipe
        typealias Failure = RequestError
        let identifier = "recipe"
        var keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy? { .convertFromSnakeCase }
        var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy? { .secondsSince1970 }
        var dataDecodingStrategy: JSONDecoder.DataDecodingStrategy? { .deferredToData }
        var nonConformingFloatDecodingStrategy: JSONDecoder.NonConformingFloatDecodingStrategy? {
            .convertFromString(positiveInfinity: "ever", negativeInfinity: "-", nan: "?")
        }
        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
    }

    @Test func requestDecodingStrategiesAreApplied() async throws {
        let json = #"{"cooking_time": "ever", "made_on": 60, "picture": [1, 2]}"#
        let transport = InMemoryTransport { _ in .json(json) }

        let recipe = try await OperationQueue().fetch(RecipeRequest(), session: transport)

        #expect(
            recipe == Recipe(cookingTime: .infinity, madeOn: Date(timeIntervalSince1970: 60), picture: Data([1, 2]))
        )
        #expect(transport.requests.first?.headers[.accept] == "application/json")
    }

    /// Some servers end every response with a line break.
    @Test(arguments: ["", " ", "\n", " \r\n\t"]) func blankContentIsTreatedAsEmpty(_ text: String) async throws {
        let client = HTTPClient(baseURL: home, transport: InMemoryTransport { _ in .json(text) })

        #expect(try await client.fetch(Get<[Int]?>("a")) == nil)
        let error = await #expect(throws: RequestError.self) { try await client.fetch(Get<[Int]>("a")) }
        #expect(error?.code == .emptyResponse)
    }

    @Test(arguments: [("{", RequestError.Code.decoding), ("[]", .decoding), ("", .emptyResponse)])
    func undecodableContentFails(text: String, code: RequestError.Code) async {
        let queue = TestQueue(InMemoryTransport { _ in .json(text) })

        let error = await Probe(RecipeRequest(), on: queue).run(on: queue).ended().first?.error

        #expect(error?.code == code)
        #expect(error?.phase == .decoding)
        #expect(error?.response?.status == .ok)
        #expect(error?.body == Data(text.utf8))
        #expect((error?.underlying is DecodingError) == (code == .decoding))
    }

    struct OptionalRequest: DecodableRequest {
        typealias Success = [Int]?
        let identifier = "optional"
        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
    }

    @Test(arguments: [("", nil), ("null", nil), ("[1]", [1])] as [(String, [Int]?)])
    func optionalSuccessIsNilWithoutContent(text: String, value: [Int]?) async throws {
        #expect(try await TestQueue(InMemoryTransport { _ in .json(text) }).fetch(OptionalRequest()) == value)
    }

    struct BrewingDecoderRequest: DecodableRequest {
        typealias Success = [String: Int]
        let identifier = "brewing"
        var decoder: JSONDecoder {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .custom { _ in SingleKey(stringValue: "tea") }
            return decoder
        }
        struct SingleKey: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
    }

    @Test func requestCanProvideItsOwnDecoder() async throws {
        _ = try await TestQueue(InMemoryTransport { _ in .json(#"{"coffee": 1}"#) }).fetch(BrewingDecoderRequest())
    }

    static let statuses: [(HTTPStatus, isAnswer: Bool)] = [
        (200, true), (204, true), (226, true), (299, true), (250, true), (300, false), (304, false), (400, false),
        (404, false), (418, false), (500, false), (599, false), (700, false), (0, false),
    ]

    @Test(arguments: statuses) func only2xxStatusesSucceed(status: HTTPStatus, isAnswer: Bool) async {
        let queue = TestQueue(InMemoryTransport { _ in .status(status, headers: ["X-A": "1"], body: Data("why".utf8)) })

        let result = await Probe(TextRequest(), on: queue).run(on: queue).ended().first

        let content = [204, 304].contains(status.code) ? "" : "why"
        #expect((result?.value == content) == isAnswer)
        #expect((result?.error == nil) == isAnswer)
        if !isAnswer {
            #expect(result?.error?.code == .unacceptableStatus)
            #expect(result?.error?.phase == .validating)
            #expect(result?.error?.response?.status == status)
            #expect(result?.error?.response?.headers["x-a"] == "1")
            #expect(result?.error?.body == Data(content.utf8))
            #expect(result?.error?.transfers.map(\.response?.status) == [status])
            #expect(result?.error?.request?.url == home)
        }
    }

    @Test func requestDefinesAcceptedStatuses() async {
        let queue = TestQueue(InMemoryTransport { _ in .status(404) })
        var unjudged = RequestOptions()
        unjudged.validatesStatus = false

        let good = await Probe(TextRequest(validHTTPStatusCodes: [404]), on: queue).run(on: queue).ended()
        let bad = await Probe(TextRequest(validHTTPStatusCodes: []), on: queue).run(on: queue).ended()
        let all = await Probe(TextRequest(options: unjudged, validHTTPStatusCodes: []), on: queue).run(on: queue)
            .ended()

        #expect(good.map(\.value) == [""])
        #expect(bad.map(\.error?.code) == [.unacceptableStatus])
        #expect(all.map(\.value) == [""])
    }

    @Test(arguments: [HTTPField.Name.ifNoneMatch, .ifModifiedSince]) func notModifiedSatisfiesConditionalRequest(
        _ name: HTTPField.Name
    ) async {
        let queue = TestQueue(InMemoryTransport { _ in .status(.notModified) })
        let request = WireRequest(http: HTTPRequest(url: home, headers: [name: "x"]))

        let probe = Probe(request, on: queue).run(on: queue)

        #expect(await probe.ended().map(\.value) == [""])
        #expect(probe.operation.response?.status == .notModified)
    }

    @Test func bodyAboveLimitFails() async {
        let queue = TestQueue(InMemoryTransport { _ in .chunked([Data("1234".utf8), Data("5678".utf8)]) }) {
            $0.maximumBodySize = 6
        }
        var options = RequestOptions()
        options.maximumBodySize = 8

        let error = await Probe(TextRequest(), on: queue).run(on: queue).ended().first?.error
        let value = await Probe(TextRequest(options: options), on: queue).run(on: queue).ended().first?.value

        #expect(error?.code == .bodyTooLarge)
        #expect(error?.phase == .receiving)
        #expect(value == "12345678")
    }

    @Test(arguments: [(3, "why"), (0, ""), (2, "wh"), (-1, "")]) func errorBodyIsTruncatedToLimit(
        limit: Int,
        body: String
    ) async {
        let queue = TestQueue(InMemoryTransport { _ in .status(500, body: Data("why".utf8)) }) {
            $0.maximumErrorBodySize = limit
        }

        let error = await Probe(TextRequest(), on: queue).run(on: queue).ended().first?.error

        #expect(error.map { String(decoding: $0.body, as: UTF8.self) } == body)
    }

    @Test func sendReturnsHeadAndBody() async throws {
        let queue = TestQueue(InMemoryTransport { _ in .status(.created, headers: [.eTag: "1"], body: Data("x".utf8)) })

        let response = try await queue.send(TextRequest())

        #expect(response.body == "x" && response.status == .created && response.headers[.eTag] == "1")
        #expect(response.url == home && response.transfers.count == 1)
    }

    @Test func mapErrorReceivesOriginalError() async {
        let throwing = TestQueue()
        let failing = TestQueue(InMemoryTransport { _ in .status(500) })
        let own = CustomFailureRequest(process: { _ in throw SampleError(name: "own") })
        let built = CustomFailureRequest(make: { $0(.failure(SampleError(name: "built"))) })

        #expect(await Probe(own, on: throwing).run(on: throwing).ended().map(\.error) == [.sample("own")])
        #expect(await Probe(built, on: throwing).run(on: throwing).ended().map(\.error) == [.sample("built")])
        #expect(
            await Probe(CustomFailureRequest(), on: failing).run(on: failing).ended().map(\.error)
                == [.library(.unacceptableStatus)]
        )
        let untyped = UntypedRequest(process: { _ in throw SampleError(name: "any") })
        let error = await Probe(untyped, on: throwing).run(on: throwing).ended().first?.error
        #expect(error as? SampleError == SampleError(name: "any"))
    }

    @Test func valueThrowsTypedRequestFailure() async {
        let queue = TestQueue(InMemoryTransport { _ in .status(500) })
        do throws(CustomFailureRequest.Failure) {
            _ = try await queue.addRequest(CustomFailureRequest()).value()
            Issue.record("no error")
        } catch {
            #expect(error == .library(.unacceptableStatus))
        }
    }
}
