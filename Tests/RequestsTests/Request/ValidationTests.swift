// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTesting
import Testing

@testable import Requests

@Suite(.timeLimit(.minutes(1))) struct ValidationTests {
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

    @Test func theFirstThatDoesNotAcceptEndsTheChain() async {
        let asked = Recorder<Int>()
        func validator(_ number: Int, _ verdict: Verdict) -> ClosureValidator {
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

    @Test func aReplacementGoesThroughTheRestOfTheChain() async {
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

    @Test func anErrorHasTheContentThatWasPutInThePlaceOfTheOther() async {
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

    @Test func anErrorOfADecoderHasTheContentThatItDecoded() async {
        let transport = InMemoryTransport { _ in .status(.ok, body: Data("one".utf8)) }
        let interceptor = ClosureInterceptor(transform: { response, _ in response.body = Data("two".utf8) })

        let error = await run(user, transport) { $0.interceptors = [interceptor] }.result?.error

        #expect(error?.code == .decoding && error?.body == Data("two".utf8))
    }

    struct Stamp: Decodable, Equatable {
        var madeAt: Date
    }

    /// What changes a response into another one, made by hand.
    enum Change: CaseIterable {
        case validator
        case interceptor
    }

    @Test(arguments: Change.allCases)
    func aResponseMadeByHandHasTheDecoderOfTheEnvironmentAndItsAttempts(change: Change) async throws {
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
        #expect(response.attempts.count == 1)
    }

    @Test(arguments: [
        (404, #"{"message": "gone"}"#, Refusal(message: "gone")), (404, "<html>", nil), (404, "", nil),
    ]) func theContentOfARefusalBecomesAnError(status: Int, body: String, refusal: Refusal?) async {
        let transport = InMemoryTransport { _ in .status(HTTPStatus(status), body: Data(body.utf8)) }

        let error = await run(user, transport) { $0.validators = [.errors(Refusal.self)] }.result?.error

        #expect(error?.code == .unacceptableStatus && error?.response?.status == .notFound)
        #expect(error?.failure(as: Refusal.self) == refusal)
        #expect(error?.body == Data(body.utf8))
    }

    @Test func anAnswerIsNoRefusal() async {
        let transport = InMemoryTransport { _ in .json(#"{"id": 1, "name": "Ada", "message": "hi"}"#) }

        #expect(await run(user, transport) { $0.validators = [.errors(Refusal.self)] }.result?.value == User())
    }

    @Test func aRequestBringsValidatorsOfItsOwn() async {
        let transport = InMemoryTransport { _ in .json(#"{"id": 1, "name": "Ada"}"#) }
        let request = user.validating { if $0.headers[.eTag] == nil { throw Refusal(message: "no tag") } }

        let error = await run(request, transport) { _ in }.result?.error

        #expect(error?.failure(as: Refusal.self) == Refusal(message: "no tag"))
    }

    @Test func aTransformedResponseIsWhatIsJudged() async {
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

    @Test func aValidatorHasARequestTriedAgain() async {
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
        #expect(operation.attempts.map(\.cause) == [.initial, .retry])
    }

    @Test(arguments: [(202, RequestError.Code.retryLimitReached), (429, .unacceptableStatus)])
    func anEndOfRetriesIsNoSuccess(status: Int, code: RequestError.Code) async {
        let transport = InMemoryTransport { _ in .status(HTTPStatus(status), body: Data("{}".utf8)) }

        let operation = await run(user, transport) {
            $0.validators = [.closure { _, _ in .retry(.immediate(limit: 3)) }]
        }

        #expect(operation.result?.error?.code == code)
        #expect(transport.requests.count == 4)
    }

    @Test func aTaskRunsBeforeTheNextTry() async {
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

    @Test func whatTheTaskThrowsIsTheFailure() async {
        let transport = InMemoryTransport { _ in .status(.forbidden) }

        let operation = await run(user, transport) {
            $0.validators = [.closure { _, _ in .retry(.after({ _ in throw SampleError() })) }]
        }

        #expect(operation.result?.error?.underlying as? SampleError == SampleError())
        #expect(transport.requests.count == 1)
    }
}
