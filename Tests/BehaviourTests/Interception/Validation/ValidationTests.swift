// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ValidationTests {
    struct Refusal: Error, Decodable, Equatable {
        var message: String
    }

    private func run<R: NetworkRequest>(
        _ request: R,
        _ transport: InMemoryTransport,
        _ configure: (inout RequestEnvironment) -> Void
    ) async -> R.OperationType {
        let queue = TestQueue(transport, configure)
        let operation = queue.addRequest(request)
        await operation.end()
        return operation
    }

    private let user = Get<User>("users", "1").modified { $0.http = HTTPRequest(url: server) }

    @Test func firstRejectionEndsValidation() async {
        let asked = Recorder<Int>()
        func validator(_ number: Int, _ verdict: ValidationResult) -> ClosureValidator {
            .closure { _, _ in
                asked.record(number)
                return verdict
            }
        }
        let transport = InMemoryTransport { _ in .json(#"{"id": 1, "name": "Ada"}"#) }

        let operation = await run(user, transport) {
            $0.validators = [
                validator(1, .accept), validator(2, .fail(Refusal(message: "no"))), validator(3, .accept),
            ]
        }

        #expect(asked.elements == [1, 2])
        #expect(operation.result?.error?.code == .rejected)
        #expect(operation.result?.error?.failure(as: Refusal.self) == Refusal(message: "no"))
        #expect(operation.result?.error?.response?.status == .ok && operation.result?.error?.body.isEmpty == false)
    }

    @Test func laterValidatorsSeeReplacement() async {
        let replacement = HTTPResponse(
            head: HTTPResponseHead(status: .ok),
            body: Data(#"{"id": 2, "name": "Grace"}"#.utf8)
        )
        let seen = Recorder<String>()
        let transport = InMemoryTransport { _ in .status(.notFound) }

        let operation = await run(user, transport) {
            $0.validators = [
                .closure { _, _ in .accept(replacing: replacement) },
                .closure { response, _ in
                    seen.record(String(decoding: response.body, as: UTF8.self))
                    return .accept
                },
            ]
        }

        #expect(operation.result?.value == User(id: 2, name: "Grace"))
        #expect(seen.elements == [#"{"id": 2, "name": "Grace"}"#])
    }

    @Test func errorContainsReplacedContent() async {
        let transport = InMemoryTransport { _ in .status(.ok, body: Data("one".utf8)) }
        let interceptor = ClosureInterceptor(transform: { response, _ in response.body += Data(" two".utf8) })

        let error = await run(user, transport) {
            $0.interceptors = [interceptor]
            $0.validators = [
                .closure { response, _ in
                    .accept(replacing: HTTPResponse(head: HTTPResponseHead(status: .gone), body: response.body))
                }
            ]
        }.result?.error

        #expect(error?.body == Data("one two".utf8) && error?.response?.status == .gone)
    }

    @Test func decodingErrorContainsDecodedContent() async {
        let transport = InMemoryTransport { _ in .status(.ok, body: Data("one".utf8)) }
        let interceptor = ClosureInterceptor(transform: { response, _ in response.body = Data("two".utf8) })

        let error = await run(user, transport) { $0.interceptors = [interceptor] }.result?.error

        #expect(error?.code == .decoding && error?.body == Data("two".utf8))
    }

    // MARK: Downloads and streams

    private struct Paper: DownloadRequest {
        typealias Success = Download.File
        typealias Failure = RequestError

        var identifier = "paper"
        var destination = Download.Destination.temporary

        func makeURLRequest(completion: @escaping BuildCompletion) {
            var request = URLRequest(url: home)
            request.setValue("application/pdf", forHTTPHeaderField: "Accept")
            completion(.success(request))
        }
    }

    private static let portal = InMemoryTransport(recordsRequests: false) { _ in
        .status(.ok, headers: [.contentType: "text/html", "X-Portal": "1"], body: Data("log in".utf8))
    }

    static let keepers: [(any ResponseValidator, RequestError.Code)] = [
        (.contentType, .unacceptableContentType),
        (.head { head, _ in if head.headers.contains("X-Portal") { throw Refusal(message: "portal") } }, .rejected),
    ]

    @Test(arguments: keepers)
    func loginPageIsNotSavedAsDownload(validator: any ResponseValidator, code: RequestError.Code) async {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).pdf")
        defer { try? FileManager.default.removeItem(at: file) }
        let paper = Paper(destination: .file(file))

        let operation = await run(paper, Self.portal) { $0.validators = [validator] }

        #expect(operation.result?.error?.code == code)
        #expect(operation.result?.error?.body == Data("log in".utf8))
        #expect(!FileManager.default.fileExists(atPath: file.path) && operation.resumeToken == nil)
    }

    @Test func validatorCanRejectResponseHead() async {
        struct Hasty: ResponseValidator {
            func validate(_ response: HTTPResponse<Data>, context: ValidationContext) -> ValidationResult { .accept }
            func validate(head: HTTPResponseHead, context: ValidationContext) throws { throw SampleError() }
        }

        let plain = await run(Paper(), Self.portal) { $0.validators = [Hasty()] }
        let large = await run(Paper(), Self.portal) {
            $0.validators = [Hasty()]
            $0.maximumBodySize = 1
        }

        for operation in [plain, large] {
            if let file = operation.result?.value { try? FileManager.default.removeItem(at: file.url) }
            #expect(operation.result?.error?.code == .rejected)
            #expect(operation.result?.error?.underlying is SampleError)
        }
    }

    @Test func headRejectedByValidatorCanBeRetried() async throws {
        let transport = InMemoryTransport.answering([
            .status(.ok, headers: [.contentType: "text/html"], body: Data("wait".utf8)),
            .status(.ok, headers: [.contentType: "application/pdf"], body: Data("%PDF".utf8)),
        ])
        let operation = await run(Paper(), transport) {
            $0.validators = [
                .closure { response, _ in
                    response.head[.contentType] == "text/html" ? .retry(.immediate(limit: 1)) : .accept
                },
                .contentType,
            ]
        }

        let file = try #require(operation.result?.value)
        defer { try? FileManager.default.removeItem(at: file.url) }
        #expect(try Data(contentsOf: file.url) == Data("%PDF".utf8) && transport.requests.count == 2)
    }

    @Test func streamIsValidatedByHead() async {
        let queue = TestQueue(Self.portal) { $0.validators = [.contentType(.json)] }

        await #expect { try await queue.stream(HTTPRequest(url: home)) } throws: { error in
            (error as? RequestError)?.code == .unacceptableContentType
        }
    }

    /// JSON media types in a response, with the `Accept` field that the model implies or with another one.
    @Test(
        arguments: [
            ("application/vnd.api+json", nil, true), ("application/hal+json; charset=utf-8", nil, true),
            ("application/problem+json", nil, true), ("text/json", nil, true), ("Application/VND.API+JSON", nil, true),
            ("text/html", nil, false), ("application/xml", nil, false), ("application/jsonp", nil, false),
            ("application/hal+json", "application/json, application/hal+json;q=0", false),
            ("application/hal+json", "application/json;q=0, application/hal+json", true),
            ("application/hal+json", "application/json, application/*;q=0", true),
            ("application/json", "application/hal+json", true),
            ("application/json; charset=utf-8", "application/vnd.github+json", true),
            ("application/vnd.api+json", "application/hal+json", false),
            ("application/json", "application/hal+json, application/json;q=0", false),
        ] as [(String, String?, Bool)]
    )
    func recognizesJSONMediaTypes(type: String, accept: String?, isAccepted: Bool) async throws {
        let transport = InMemoryTransport { _ in
            .status(.ok, headers: [.contentType: type], body: Data(#"{"madeAt": 0}"#.utf8))
        }
        let client = HTTPClient(baseURL: home, transport: transport) { $0.validators = [.contentType] }
        let request = Get<Stamp>("stamp")

        do {
            _ = try await client.fetch(accept.map { request.header(.accept, $0) } ?? request)
            #expect(isAccepted)
        } catch {
            #expect(!isAccepted && error.code == .unacceptableContentType)
        }
    }

    // MARK: Replaced responses

    struct Stamp: Decodable, Equatable {
        var madeAt: Date
    }

    /// The code that replaces a response with a new one.
    enum Change: CaseIterable {
        case validator
        case interceptor
    }

    @Test(arguments: Change.allCases)
    func replacedResponseKeepsDecoderAndTransfers(change: Change) async throws {
        let transport = InMemoryTransport { _ in .json(#"{"madeAt": "1970-01-02T00:00:00Z"}"#) }
        let queue = TestQueue(transport) {
            $0.makeDecoder = {
                let decoder = JSONDecoder()
                decoder.dateDecodingStrategy = .iso8601
                return decoder
            }
            switch change {
            case .validator:
                $0.validators = [
                    .closure { response, _ in
                        .accept(replacing: HTTPResponse(head: response.head, body: response.body))
                    }
                ]
            case .interceptor:
                $0.interceptors = [
                    ClosureInterceptor(transform: { response, _ in
                        response = HTTPResponse(head: response.head, body: response.body)
                    })
                ]
            }
        }

        let response = try await queue.send(Get<Stamp>("stamp").modified { $0.http = HTTPRequest(url: server) })

        #expect(response.body == Stamp(madeAt: Date(timeIntervalSince1970: 86_400)))
        #expect(response.transfers.count == 1)
    }

    @Test(arguments: [
        (404, #"{"message": "gone"}"#, Refusal(message: "gone")), (404, "<html>", nil), (404, "", nil),
    ]) func errorResponseBodyIsDecoded(status: Int, body: String, refusal: Refusal?) async {
        let transport = InMemoryTransport { _ in .status(HTTPStatus(status), body: Data(body.utf8)) }

        let error = await run(user, transport) { $0.validators = [.errors(Refusal.self)] }.result?.error

        #expect(error?.code == .unacceptableStatus && error?.response?.status == .notFound)
        #expect(error?.failure(as: Refusal.self) == refusal)
        #expect(error?.body == Data(body.utf8))
    }

    @Test func successfulResponseIsNotDecodedAsError() async {
        let transport = InMemoryTransport { _ in .json(#"{"id": 1, "name": "Ada", "message": "hi"}"#) }

        #expect(await run(user, transport) { $0.validators = [.errors(Refusal.self)] }.result?.value == User())
    }

    @Test func requestCanProvideValidators() async {
        let transport = InMemoryTransport { _ in .json(#"{"id": 1, "name": "Ada"}"#) }
        let request = user.validating { if $0.headers[.eTag] == nil { throw Refusal(message: "no tag") } }

        let error = await run(request, transport) { _ in }.result?.error

        #expect(error?.failure(as: Refusal.self) == Refusal(message: "no tag"))
    }

    @Test func laterTransformSeesTransformedResponse() async {
        let transport = InMemoryTransport { _ in .status(.ok, body: Data(#")]}',{"id": 1, "name": "Ada"}"#.utf8)) }
        let stripping = ClosureInterceptor(transform: { response, _ in response.body.removeFirst(5) })
        let checking = ClosureInterceptor(transform: { response, _ in
            guard response.body.first == UInt8(ascii: "{") else { throw SampleError() }
        })

        let right = await run(user, transport) { $0.interceptors = [stripping, checking] }
        let wrong = await run(user, transport) { $0.interceptors = [checking, stripping] }

        #expect(right.result?.value == User())
        #expect(wrong.result?.error?.underlying as? SampleError == SampleError())
    }

    @Test func validatorCanTriggerRetry() async {
        let clock = TestClock()
        let transport = InMemoryTransport.answering([.status(.accepted), .json(#"{"id": 1, "name": "Ada"}"#)])
        let queue = TestQueue(transport) {
            $0.clock = clock
            $0.validators = [
                .closure { response, context in
                    response.status == .accepted && context.attempt < 3
                        ? .retry(.delayed(.seconds(5), limit: 2)) : .accept
                }
            ]
        }

        let operation = queue.addRequest(user.method(.post))
        #expect(await clock.sleeps.first(1) == [.seconds(5)])
        clock.advance(by: .seconds(5))
        await operation.end()

        #expect(operation.result?.value == User())
        #expect(operation.transfers.map(\.cause) == [.initial, .retry])
    }

    @Test(arguments: [(202, RequestError.Code.retryLimitReached), (429, .unacceptableStatus)])
    func exhaustedRetriesFail(status: Int, code: RequestError.Code) async {
        let transport = InMemoryTransport { _ in .status(HTTPStatus(status), body: Data("{}".utf8)) }

        let operation = await run(user, transport) {
            $0.validators = [.closure { _, _ in .retry(.immediate(limit: 3)) }]
        }

        #expect(operation.result?.error?.code == code)
        #expect(transport.requests.count == 4)
    }

    @Test func taskRunsBeforeNextAttempt() async {
        let order = Recorder<String>()
        let transport = InMemoryTransport { _ in
            order.record("sent")
            return order.count == 1 ? .status(.forbidden) : .json(#"{"id": 1, "name": "Ada"}"#)
        }

        let operation = await run(user, transport) {
            $0.validators = [
                .closure { response, _ in
                    guard response.status == .forbidden else { return .accept }
                    return .retry(.after({ _ in order.record("logged in") }))
                }
            ]
        }

        #expect(operation.result?.value == User())
        #expect(order.elements == ["sent", "logged in", "sent"])
    }

    @Test func taskErrorFailsRequest() async {
        let transport = InMemoryTransport { _ in .status(.forbidden) }

        let operation = await run(user, transport) {
            $0.validators = [.closure { _, _ in .retry(.after({ _ in throw SampleError() })) }]
        }

        #expect(operation.result?.error?.underlying as? SampleError == SampleError())
        #expect(transport.requests.count == 1)
    }
}
